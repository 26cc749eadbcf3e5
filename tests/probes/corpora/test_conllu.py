import gzip
import time
from pathlib import Path

import pytest

from probes.corpora.annotation.entity_brackets import SEVERAL, TWICE
from probes.corpora.annotation.ud_trees import NO_TREE
from probes.corpora.conllu import APART, UNREAD, CorpusError, read_conllu
from probes.corpora.conllu_block import ENTITY_OF_RANGE, NO_SENTENCE, OTHER_TEXT, PARTS
from probes.records import Document, Mention

SHIP = """# sent_id = one
1 The   the  DET  DT _                       2 det   _ _
2 ship  ship NOUN NN Number=Sing             3 nsubj _ _
3 sank  sink VERB VBD Tense=Past|VerbForm=Fin 0 root _ _
"""
DOG = """1 Dogs dog  NOUN _ _ 2 nsubj:pass _ _
2 bark bark VERB _ _ 0 root _ _
"""


def conllu(text: str) -> str:
    """Return lines of words with tabs between the columns."""
    lines = (line if line.startswith("#") else "\t".join(line.split()) for line in text.splitlines())
    return "\n".join(lines) + "\n"


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return the function that reads a text or bytes as the file bad.conllu of the current folder."""
    monkeypatch.chdir(tmp_path)

    def read(content: str | bytes, first: int | None = None) -> list[Document]:
        path = Path("bad.conllu")
        path.write_bytes(content if isinstance(content, bytes) else conllu(content).encode())
        return list(read_conllu(path, first=first))

    return read


def with_entities(*cells: str) -> str:
    """Return a sentence with these Entity attributes, whose words all depend on the first."""
    rows = (
        f"{i} w{i} _ X _ _ {min(i - 1, 1)} {'dep' if i > 1 else 'root'} _ {cell}" for i, cell in enumerate(cells, 1)
    )
    return "\n".join(rows) + "\n"


def mentions(read, *cells: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(mention.entity, mention.words) for mention in read(with_entities(*cells))[0].mentions]


def test_columns_become_a_sentence(read):
    (document,) = read(SHIP)
    (sentence,) = document.sentences
    assert sentence.id == "one"
    assert sentence.words == ("The", "ship", "sank")
    assert sentence.heads.tolist() == [1, 2, -1]
    assert sentence.deprels == ("det", "nsubj", "root")
    assert sentence.upos == ("DET", "NOUN", "VERB")
    assert sentence.feats == ("", "Number=Sing", "Tense=Past|VerbForm=Fin")


def test_newdoc_lines_make_documents_and_sentences_before_the_first_are_some_of_their_own(read):
    text = f"{DOG}\n{DOG}\n# newdoc id = A\n{SHIP}\n{DOG}\n# newdoc\n{DOG}"
    assert [(document.id, len(document.sentences)) for document in read(text)] == [
        *(("bad.conllu:1", 1), ("bad.conllu:4", 1), ("A", 2), ("bad.conllu:16", 1))
    ]
    assert [sentence.remarks for document in read(text) for sentence in document.sentences] == [()] * 5
    other = read(text.replace("# newdoc id", "# newdoc_id").replace("# newdoc\n", "# newdoc_id = B\n"))
    assert [(document.id, len(document.sentences)) for document in other][2:] == [("A", 2), ("B", 1)]
    named = read(f"# doc_id = A\n{DOG}\n# newdoc id = B\n# doc_id = B\n{DOG}")
    assert [document.sentences[0].remarks for document in named] == [(UNREAD,), ()]
    apart = read(f"{with_entities('Entity=(1)')}\n{with_entities('Entity=(2)')}\n{with_entities('Entity=(1)')}")
    assert [document.sentences[0].remarks for document in apart] == [(), (), (APART,)]


def test_a_newdoc_line_that_repeats_the_open_document_goes_on_with_it(read):
    text = f"# newdoc id = A\n{SHIP}\n# newdoc id = A\n{DOG}\n# newdoc id = B\n{DOG}"  # as UD Chinese PUD has them
    assert [(document.id, len(document.sentences)) for document in read(text)] == [("A", 2), ("B", 1)]
    with pytest.raises(CorpusError, match="document id 'A' is that of"):
        read(f"{text}\n# newdoc id = A\n{DOG}")


@pytest.mark.parametrize(
    ("rows", "raw", "remarks"),
    [
        (["1 here _ _ _ _ 0 root _ SpaceAfter=No", "2 . _ _ _ _ 1 punct _ _"], "here. ", 0),
        (["1 here _ _ _ _ 0 root _ A=b|SpaceAfter=No", "2 . _ _ _ _ 1 punct _ SpaceAfter=No"], "here.", 0),
        (["1-2 don't", "1 do _ _ _ _ 0 root _ _", "2 n't _ _ _ _ 1 advmod _ SpaceAfter=No"], "don't ", 0),
        (["1-2 du _ _ _ _ _ _ _ SpaceAfter=No", "1 de _ _ _ _ 0 root", "2 le _ _ _ _ 1 det"], "de le", 1),
    ],
)
def test_blanks_are_those_of_the_file_and_of_ranges(read, rows: list[str], raw: str, remarks: int):
    rows = ["\t".join((row.split() + ["_"] * 10)[:10]) for row in rows]
    (sentence,) = read("\n".join(rows).encode())[0].sentences
    blanks = sentence.space_after or [True] * len(sentence)
    assert "".join(word + " " * blank for word, blank in zip(sentence.words, blanks, strict=True)) == raw
    assert list(sentence.remarks) == [PARTS] * remarks


def test_reading_stops_after_the_first_sentences(read):
    text = f"# newdoc id = A\n{SHIP}\n{DOG}\n{DOG}\nnot conllu"
    assert [(document.id, len(document.sentences)) for document in read(text, first=2)] == [("A", 2)]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (("Entity=(1)", "_"), [("1", (0,))]),
        (("Entity=(1-person", "Entity=1)"), [("1", (0, 1))]),
        (("Entity=(1", "Entity=(2", "Entity=1)", "Entity=2)"), [("1", (0, 1, 2)), ("2", (1, 2, 3))]),
        (("Entity=(1", "Entity=(1", "Entity=1)1)"), [("1", (0, 1, 2)), ("1", (1, 2))]),
        (("Entity=(4[1/2])", "_", "Entity=(4[2/2])"), [("4", (0, 2))]),
        (("Entity=(4[1/2]", "Entity=4[1/2])", "Entity=(5)", "Entity=(4[2/2])"), [("5", (2,)), ("4", (0, 1, 3))]),
        (("Bridge=1<2|Entity=(1)|SplitAnte=1<2", "_"), [("1", (0,))]),
    ],
)
def test_entity_brackets_become_mentions(read, cells: tuple[str, ...], found: list[tuple[str, tuple[int, ...]]]):
    assert sorted(mentions(read, *cells)) == sorted(found)


@pytest.mark.parametrize(
    ("cells", "entities"),
    [
        (("Entity=(person-1)", "Entity=(person-2-new)"), ["1", "2"]),
        (("Entity=(1-person)", "Entity=(e2-person)"), ["1", "e2"]),
        (("Entity=(person-4[1/2])", "_", "Entity=(person-4[2/2])"), ["4"]),
    ],
)
def test_the_place_of_the_entity_id_shows_where_it_is_not_declared(read, cells: tuple[str, ...], entities: list[str]):
    assert sorted(entity for entity, _ in mentions(read, *cells)) == entities


def test_words_that_are_mentions_of_two_entities_are_remarked(read):
    (document,) = read(with_entities("Entity=(1-person)(2-person)", "Entity=(1-person)"))
    assert (len(document.mentions), document.sentences[0].remarks) == (3, (SEVERAL,))


@pytest.mark.parametrize(
    ("text", "remarks"),
    [("The ship sank", ()), ("Theshipsank ", ()), ("The ships sank", (OTHER_TEXT,))],
)
def test_a_comment_with_another_text_is_remarked(read, text: str, remarks: tuple[str, ...]):
    assert read(f"# text = {text}\n{SHIP}")[0].sentences[0].remarks == remarks


def test_the_text_of_a_comment_has_ranges_in_place_of_their_words_and_escapes_either_way(read):
    lines = "1-2 du _ _ _ _ _ _ _ _\n1 de _ X _ _ 3 case _ _\n2 le _ X _ _ 3 det _ _\n3 -LRB- _ X _ _ 0 root _ _\n"
    for text in ("du (", "du -LRB-"):
        assert OTHER_TEXT not in read(f"# text = {text}\n{lines}")[0].sentences[0].remarks
    assert OTHER_TEXT in read(f"# text = de le (\n{lines}")[0].sentences[0].remarks


def test_a_document_without_a_sentence_is_remarked(read):
    (document,) = read(f"# newdoc id = A\n\n# newdoc id = B\n{DOG}")
    assert (document.id, document.sentences[0].remarks) == ("B", (NO_SENTENCE,))


def test_blanks_around_forms_and_labels_are_none_of_theirs(read):
    first, second = b"1\tthe \t_\tX\t_\t_\t2\tdet \t_\tA=b | SpaceAfter=No", b"2\t ten  keys\t_\tX \t_\t_\t0\troot\t_"
    (document,) = read(first + b"\n" + second + b"\tA=b | Entity=(1)\n")
    assert (document.words, document.deprels, document.upos) == (("the", "ten keys"), ("det", "root"), ("X", "X"))
    assert (document.space_after, document.mentions) == ((False, True), (Mention((1,), 1, "1"),))


def test_an_entity_of_a_range_is_that_of_its_words(read):
    text = "1-2 du _ _ _ _ _ _ _ Entity=(1)\n1 de _ X _ _ 3 case _ _\n2 le _ X _ _ 3 det _ _\n"
    (document,) = read(text + "3 port _ X _ _ 0 root _ Entity=(2)(2)\n")
    assert document.mentions == (Mention((0, 1), 0, "1"), Mention((2,), 2, "2"))
    assert document.sentences[0].remarks == (ENTITY_OF_RANGE, TWICE, PARTS)


def test_the_declared_place_holds_until_the_next_declaration(read):
    text = "# newdoc id = A\n# global.Entity = etype-eid\n{0}\n{0}\n# newdoc id = B\n# global.Entity = eid-etype\n{0}"
    first, second = read(text.format(with_entities("Entity=(a-b)")))
    assert [mention.entity for mention in (*first.mentions, *second.mentions)] == ["b", "b", "a"]


@pytest.mark.parametrize(
    ("name", "first", "language"),
    [
        ("de_pud-ud-test.conllu", "", "de"),
        ("de_pud.conllu", "", ""),
        ("mine.conllu", "", ""),
        ("mine.conllu", "# global.language = nl\n", "nl"),
        ("de_pud-ud-test.conllu", "# global.language = gsw\n", "gsw"),
    ],
)
def test_the_language_is_that_which_the_file_declares_or_its_name_begins_with(
    name: str, first: str, language: str, tmp_path: Path
) -> None:
    word = "1\tsank\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / name).write_text(f"{first}# sent_id = a\n{word}# sent_id = b\n{word}", "utf-8")
    assert [one.language for one in read_conllu(tmp_path / name)] == [language, language]


def test_the_head_of_a_mention_is_its_first_word_with_a_head_outside(read):
    text = """1 ships ship NOUN _ _ 4 nsubj _ Entity=(1
2 of of ADP _ _ 3 case _ _
3 war war NOUN _ _ 1 nmod _ Entity=(2)1)
4 sank sink VERB _ _ 0 root _ _
"""
    assert [(mention.entity, mention.head) for mention in read(text)[0].mentions] == [("1", 0), ("2", 2)]


def test_a_mention_around_an_empty_node_covers_the_words_within(read):
    text = "1 a _ X _ _ 0 root _ Entity=(1\n1.1 b _ X _ _ _ _ _ Entity=(2)\n2 c _ X _ _ 1 dep _ Entity=1)\n"
    assert read(text)[0].mentions == (Mention((0, 1), 0, "1"),)


def test_labels_that_are_odd_are_remarks(read):
    text = """1 Ada _ NNP _ _ 2 nsubjpass _ _
2 saw _ VERB _ _ 0 ROOT _ _
3 it _ PRON _ _ 2 root _ _
4 sink _ VERB _ _ 2 _ _ _
5 -LRB- _ PUNCT _ _ 4 punct _ _
6 now _ ADV _ _ 4 advmod:emph _ _
"""
    (sentence,) = read(text)[0].sentences
    assert (sentence.words[4], sentence.deprels) == ("(", ("nsubjpass", "ROOT", "root", "", "punct", "advmod:emph"))
    assert sorted(sentence.remarks) == [
        "escaped character, read as what it stands for: -LRB-",
        "part of speech that is none of Universal Dependencies: NNP",
        "relation that is none of Universal Dependencies: nsubjpass",
        "root of a tree whose relation is not root: ROOT",
        "word with the relation root that depends on another word",
        "word without a relation to its head",
    ]


def test_sentences_without_heads_are_words_without_a_tree(read):
    text = "# global.Entity = GRP\n1 the _ _ _ _ _ dep _ Entity=(1\n2 keys _ _ _ _ _ _ _ _\n3 of _ _ _ _ _ _ _ _\n"
    without, tree = read(text + "4 Ada _ _ _ _ _ _ _ Entity=1)\n\n" + DOG)
    (sentence,) = without.sentences
    assert (sentence.heads.tolist(), sentence.deprels) == ([-1] * 4, ("",) * 4)
    assert sentence.mentions == (Mention((0, 1, 2, 3), 1, "1"),)
    assert (sentence.remarks, tree.sentences[0].remarks) == ((NO_TREE,), ())


def test_columns_are_those_that_a_file_of_conllu_plus_declares(read):
    (document,) = read(
        "# global.columns = FORM ID HEAD DEPREL UPOS\n\n# sent_id = one\nAda 1 2 nsubj X\nsank 2 0 root X\n"
    )
    (sentence,) = document.sentences
    assert (sentence.id, sentence.words, sentence.deprels) == ("one", ("Ada", "sank"), ("nsubj", "root"))
    assert (sentence.heads.tolist(), sentence.upos, sentence.feats) == ([1, -1], ("X", "X"), ("", ""))


def test_a_file_is_read_with_any_line_end_packed_and_joined(read):
    plain = [(document.id, document.words) for document in read(SHIP.replace("one", "two") + "\n" + SHIP)]
    text = conllu(SHIP.replace("one", "two") + "\n" + SHIP)
    for content in (
        text.replace("\n", "\r").encode(),
        text.replace("\n", "\r\n").encode(),
        text.replace("\n", "\r\r\n").encode(),
        text.replace("# sent_id", "\ufeff# sent_id").encode(),
        gzip.compress(text.encode()),
    ):
        assert [(document.id, document.words) for document in read(content)] == plain


def test_the_heads_of_a_chain_are_checked_in_linear_time(read):
    """Of 50,000 words, which took 25 s and more where each word was looked for in the way so far."""
    chain = [f"{number}\tw" + "\t_" * 4 + f"\t{number + 1}\tdep\t_\t_\n" for number in range(1, 50_000)]
    last = "50000\tw" + "\t_" * 4 + "\t0\troot\t_\t_\n"
    begun = time.perf_counter()
    assert len(read("".join([*chain, last]).encode())[0]) == 50_000
    ring = chain[-1].replace("\t50000", "\t1")
    with pytest.raises(CorpusError, match=r"the heads go in a circle: 1 -> 2 -> .* -> 9 -> … -> 1$"):
        read("".join([*chain[:-1], ring, last]).encode())
    assert time.perf_counter() - begun < 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "documents", "sentences", "words", "mentions"),
    [
        ("ud_english_ewt/en_ewt-ud-dev", 318, 2001, 25147, 0),
        ("ud_english_gum/en_gum-ud-dev", 30, 1575, 28119, 7897),
        ("ud_german_pud/de_pud-ud-test", 397, 1000, 21332, 0),
    ],
)
def test_real_treebanks_are_read_whole(
    data_folder: Path, name: str, documents: int, sentences: int, words: int, mentions: int
):
    found = [0, 0, 0, 0]
    for document in read_conllu(data_folder / f"{name}.conllu"):
        sizes = (1, len(document.sentences), len(document), len(document.mentions))
        found = [total + size for total, size in zip(found, sizes, strict=True)]
    assert found == [documents, sentences, words, mentions]
