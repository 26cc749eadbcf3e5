import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from probes.corpora.conllu import CorpusError, read_conllu
from probes.corpora.corpus import NAMED, PUT, Corpus, corpus_path
from probes.corpora.readers import read_documents
from probes.corpora.windows import Cut
from probes.records import Document, Mention, Sentence

SMAPS = Path("/proc/self/smaps")

CONLLU = """\
# newdoc id = harbour
# global.Entity = GRP-etype
# sent_id = harbour-1
1\tAda\tAda\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tEntity=(1-person)
2\tsank\tsink\tVERB\tVBD\t_\t0\troot\t_\t_

# sent_id = harbour-2
1\tHer\ther\tPRON\tPRP$\t_\t2\tnmod:poss\t_\tEntity=(2-object(1-person)
2\tship\tship\tNOUN\tNN\tNumber=Sing\t0\troot\t_\tEntity=2)

# newdoc id = port
# sent_id = port-1
1\tShips\tship\tNOUN\tNNS\tNumber=Plur\t0\troot\t_\t_

"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder that is in use."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a CoNLL-U file of two documents, three sentences, five words and three mentions."""
    path = tmp_path / "ships.conllu"
    path.write_text(CONLLU, "utf-8")
    return path


def told(document: Document) -> object:
    """Everything that a document says."""
    sentences = [
        (s.id, s.words, s.heads.tolist(), s.deprels, s.upos, s.feats, s.mentions, s.kind, s.language)
        for s in document.sentences
    ]
    written = [(s.space_after, s.remarks) for s in document.sentences]
    return document.id, sentences, written


def everything(documents: list[Document]) -> list[object]:
    return [told(document) for document in documents]


def test_a_file_gives_the_texts_that_its_reader_gives(path: Path, cache: Path) -> None:
    corpus = Corpus.read(path)
    documents = list(read_conllu(path))
    alone = [one for document in documents for one in document.split_sentences()]
    assert corpus.name == "ships"
    for texts in (corpus.sentences(), corpus.sentences()):  # written, then found in the cache
        assert len(texts) == 3
        assert everything(texts.take([0, 1, 2])) == everything(alone)
    assert len(list(cache.rglob("*.arrow"))) == 1
    assert everything(corpus.windows(100).take([0, 1])) == everything(documents)
    assert len(list(cache.rglob("*.arrow"))) == 2
    assert [p for p in cache.rglob("*") if p.is_file() and p.suffix != ".arrow"] == []


def test_blanks_are_those_of_the_file_where_it_is_asked_for_and_else_counted(path: Path, cache: Path) -> None:
    path.write_text(CONLLU.replace("root\t_\tEntity=2)", "root\t_\tSpaceAfter=No|Entity=2)"), "utf-8")
    path.write_text(
        path.read_text("utf-8").replace("(2-object(1-person)", "(2-object(1-person)|SpaceAfter=No"), "utf-8"
    )
    words, raw = Corpus.read(path), Corpus.read(path, raw=True)
    assert words.fingerprint != raw.fingerprint
    assert [(text.space_after, text.sentences[0].remarks) for text in words.sentences().take([0, 1, 2])] == [
        ((), ()),
        ((), (PUT,)),  # the blank after the last word is none that was put
        ((), ()),
    ]
    assert [*words.sentences().remarks()] == [("harbour-2", PUT)]
    assert [text.space_after for text in raw.sentences().take([0, 1, 2])] == [(), (False, False), ()]
    assert raw.windows(100).take([0])[0].space_after == (True, True, False, False)
    assert [text.space_after for text in raw.windows(3).take([0, 1])] == [(True, True, False), (False,)]
    assert [*raw.sentences().remarks()] == []


def test_texts_kept_on_disk_equal_those_in_memory(random_documents: Callable[..., list[Document]], cache: Path) -> None:
    spoken = [
        replace(document, sentences=tuple(replace(one, language=code) for one in document.sentences))
        for document, code in zip(random_documents(7), ("de", "", "en", "zh", "tr", "de", "fr"), strict=True)
    ]
    memory = Corpus.of(spoken)
    disk = Corpus("disk", memory.stream, "0" * 64, stored=True)
    for ours, theirs in ((disk.sentences(), memory.sentences()), (disk.windows(7), memory.windows(7))):
        assert len(ours) == len(theirs) > 7
        assert everything(ours.take(range(len(ours)))) == everything(theirs.take(range(len(theirs))))
        assert ours.size() == theirs.size()
        assert ours.lost == theirs.lost
        assert [len(chunk) for chunk in ours.chunks(5)] == [len(chunk) for chunk in theirs.chunks(5)]
        assert everything(pickle.loads(pickle.dumps(ours)).take([1])) == everything(theirs.take([1]))
    text = disk.sentences().take([0])[0]
    assert text.heads.dtype == np.int64
    assert not text.heads.flags.writeable


@pytest.mark.skipif(not SMAPS.is_file(), reason="the system does not say what of a file is in memory")
def test_texts_on_disk_are_no_memory_of_the_process_once_they_are_read(tmp_path: Path, cache: Path) -> None:
    sentences = [CONLLU.replace("harbour", f"harbour-{n}").replace("port", f"port-{n}") for n in range(500)]
    (tmp_path / "many.conllu").write_text("\n".join(sentences), "utf-8")
    texts = Corpus.read(tmp_path / "many.conllu").sentences()
    (file,) = cache.rglob("*.arrow")
    assert file.stat().st_size > 200_000
    assert len(texts.take(range(1500))) == 1500
    mapped = SMAPS.read_text("utf-8").partition(str(file))[2]
    assert mapped.splitlines()[4].split() == ["Rss:", "0", "kB"]


def test_windows_keep_to_their_number_of_words_and_losses_at_borders_are_counted(path: Path, cache: Path) -> None:
    corpus = Corpus.read(path)
    windows = corpus.windows(3).take([0, 1, 2])
    assert [(window.id, len(window)) for window in windows] == [("harbour", 3), ("harbour", 1), ("port", 1)]
    for held in (corpus, Corpus.of(corpus.stream())):
        assert held.windows(3).lost == Cut(mentions=1, anaphors=0)  # the mention of both words
        assert held.windows(2).lost == Cut(mentions=0, anaphors=1)  # Her: Ada is in the window before
        assert held.windows(100).lost == held.sentences().lost == Cut()


def test_another_content_or_part_of_a_file_has_another_fingerprint(path: Path, cache: Path) -> None:
    whole, part = Corpus.read(path), Corpus.read(path, first=2)
    assert whole.fingerprint == Corpus.read(path, name="other").fingerprint
    path.write_text(CONLLU.replace("harbour-2", "harbour-3"), "utf-8")
    assert len({whole.fingerprint, part.fingerprint, Corpus.read(path).fingerprint}) == 3
    assert Corpus.read(path).sentences().take([1])[0].sentences[0].id == "harbour-3"


def document_of(**changes: object) -> Document:
    columns = {"words": ("Ada", "sank"), "heads": np.array([1, -1]), "deprels": ("nsubj", "root"), "upos": ("", "")}
    columns |= {"id": "s", "feats": ("", ""), "mentions": (Mention((0,), 0, "a"),), **changes}
    return Document("d", (Sentence(**columns),))


def test_whatever_changes_in_a_document_changes_the_fingerprint() -> None:
    one, other = (Sentence(str(i), (word,), np.array([-1]), ("",)) for i, word in enumerate(("Ada", "sank")))
    together = Sentence("0", ("Ada", "sank"), np.array([-1, -1]), ("", ""))
    corpora = [
        [document_of()],
        [document_of()] * 2,
        [document_of(id="t")],
        [document_of(words=("Bo", "sank"))],
        [document_of(heads=np.array([-1, 0]))],
        [document_of(deprels=("obj", "root"))],
        [document_of(upos=("PROPN", ""))],
        [document_of(feats=("Number=Sing", ""))],
        [document_of(mentions=())],
        [document_of(kind="storm")],
        [document_of(space_after=(False, True))],
        [Document("d", (one, other))],
        [Document("d", (together,))],
        [Document("e", (together,))],
    ]
    prints = [Corpus.of(documents).fingerprint for documents in corpora]
    assert len(set(prints)) == len(prints)
    assert Corpus.of([document_of()]).fingerprint == prints[0]


def test_halves_share_no_document_and_do_not_depend_on_the_order(random_documents: Callable[..., list]) -> None:
    documents = random_documents(20)
    one, other = (half.size()["documents"] for half in Corpus.of(documents).halves())
    assert one + other == 20
    assert min(one, other) > 4
    for half, again in zip(Corpus.of(documents).halves(), Corpus.of(documents[::-1]).halves(), strict=True):
        assert [d.id for d in half.stream()] == [d.id for d in again.stream()][::-1]
    assert [half.name for half in Corpus.of(documents, "sea").halves()] == ["sea", "sea"]
    first, second = Corpus.of(documents).halves()
    assert first.fingerprint != second.fingerprint


def test_a_broken_file_leaves_nothing_in_the_cache(path: Path, cache: Path) -> None:
    last = "# newdoc id = sea\n1\tShips\t_\tNOUN\t_\t_\t9\troot\t_\t_\n\n"
    path.write_text(CONLLU + last, "utf-8")
    corpus = Corpus.read(path)
    with pytest.raises(CorpusError, match=r"ships.conllu:16: head 9 is outside the sentence \(1 words\)"):
        corpus.sentences()
    assert list(cache.rglob("*.arrow*")) == []


def test_a_file_whose_name_is_the_kind_of_its_sentences_is_read_anew_under_another_name(tmp_path: Path) -> None:
    kinds = []
    for name in ("agr.2.tsv", "agr.4.tsv"):
        (tmp_path / name).write_text("the ship near the port can sink\t5\t0 1\t3 4\n", "utf-8")
        kinds.append(Corpus.read(tmp_path / name).sentences().take([0])[0].sentences[0].kind)
    assert kinds == ["agr.2", "agr.4"]


def test_the_named_corpora_are_there_and_can_be_opened(data_folder: Path) -> None:
    for name in NAMED:
        document = next(read_documents(corpus_path(name), first=1))
        assert len(document) > 0


def test_texts_are_taken_in_the_order_asked_for_and_chunks_give_all(path: Path, cache: Path) -> None:
    texts = Corpus.read(path).sentences()
    ids = [text.sentences[0].id for text in texts.take([2, 0, 2])]
    assert ids == ["port-1", "harbour-1", "port-1"]
    chunks = list(texts.chunks(2))
    assert [[text.sentences[0].id for text in chunk] for chunk in chunks] == [["harbour-1", "harbour-2"], ["port-1"]]
