import gzip
import re
from pathlib import Path

import pytest

from probes.corpora.annotation.entity_brackets import SEVERAL, TWICE
from probes.corpora.annotation.ud_labels import NO_TREE
from probes.corpora.conllu import CorpusError, read_conllu
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


def test_a_file_without_newdoc_has_a_document_a_sentence(read):
    assert [document.id for document in read(SHIP + "\n" + DOG)] == ["one", "bad.conllu:6"]


def test_newdoc_lines_make_documents(read):
    text = f"# newdoc id = A\n{SHIP}\n{DOG}\n# newdoc id = B\n{DOG}\n# newdoc\n{DOG}"
    documents = read(text)
    assert [(document.id, len(document.sentences)) for document in documents] == [
        ("A", 2),
        ("B", 1),
        ("bad.conllu:14", 1),
    ]


def test_a_newdoc_line_that_repeats_the_open_document_goes_on_with_it(read):
    text = f"# newdoc id = A\n{SHIP}\n# newdoc id = A\n{DOG}\n# newdoc id = B\n{DOG}"  # as UD Chinese PUD has them
    assert [(document.id, len(document.sentences)) for document in read(text)] == [("A", 2), ("B", 1)]
    with pytest.raises(CorpusError, match="document id 'A' is that of"):
        read(f"{text}\n# newdoc id = A\n" + DOG.replace("two", "three"))


def test_sentences_before_the_first_newdoc_are_documents_of_their_own(read):
    documents = read(f"{DOG}\n{DOG}\n# newdoc id = A\n{SHIP}\n{DOG}")
    assert [(document.id, len(document.sentences)) for document in documents] == [
        ("bad.conllu:1", 1),
        ("bad.conllu:4", 1),
        ("A", 2),
    ]


def test_ranges_and_empty_nodes_are_no_words(read):
    text = "1-2 didn't _ _ _ _ _ _ _ _\n"
    text += "1 did do AUX _ _ 0 root _ _\n2 n't not PART _ _ 1 advmod _ _\n2.1 swim _ _ _ _ _ _ _ _\n"
    assert read(text)[0].words == ("did", "n't")


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


def test_first_must_be_positive(read):
    with pytest.raises(ValueError, match=r"^first is 0, expected at least 1 sentence$"):
        read(SHIP, first=0)


def test_nothing_is_read_before_it_is_asked_for(read, tmp_path: Path):
    (tmp_path / "long.conllu").write_text(conllu(f"{DOG}\n{DOG}\nnot conllu"), encoding="utf-8")
    documents = read_conllu(tmp_path / "long.conllu")
    assert next(documents).words == ("Dogs", "bark")


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(read):
    plain = read(SHIP + "\n" + DOG)
    other = read(b"\xef\xbb\xbf" + conllu(SHIP + "\n" + DOG).replace("\n", "\r\n").encode())
    assert [(d.id, d.words, d.heads.tolist(), d.feats) for d in plain] == [
        (d.id, d.words, d.heads.tolist(), d.feats) for d in other
    ]


def test_two_spaces_in_a_column_do_not_part_it(read):
    columns = ["1", "New  York", "_", "PROPN", "_", "_", "0", "root", "_", "Note=a  b|Entity=(5)"]
    (document,) = read("\t".join(columns).encode() + b"\n")
    assert document.words == ("New York",)
    assert document.mentions == (Mention((0,), 0, "5"),)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (("Entity=(1)", "_"), [("1", (0,))]),
        (("Entity=(1-person", "Entity=1)"), [("1", (0, 1))]),
        (("Entity=(1(2)", "Entity=1)"), [("2", (0,)), ("1", (0, 1))]),
        (("Entity=(1", "Entity=(2", "Entity=1)", "Entity=2)"), [("1", (0, 1, 2)), ("2", (1, 2, 3))]),
        (("Entity=(1", "Entity=(1)", "Entity=1)"), [("1", (0, 1, 2)), ("1", (1,))]),
        (("Entity=(1", "Entity=(1", "Entity=1)1)"), [("1", (0, 1, 2)), ("1", (1, 2))]),
        (("Entity=(4[1/2])", "_", "Entity=(4[2/2])"), [("4", (0, 2))]),
        (("Entity=(4[1/2]", "Entity=4[1/2])", "Entity=(5)", "Entity=(4[2/2])"), [("5", (2,)), ("4", (0, 1, 3))]),
        (("Bridge=1<2|Entity=(1)|SplitAnte=1<2", "_"), [("1", (0,))]),
    ],
)
def test_entity_brackets_become_mentions(read, cells: tuple[str, ...], found: list[tuple[str, tuple[int, ...]]]):
    assert sorted(mentions(read, *cells)) == sorted(found)


def test_the_place_of_the_entity_id_is_read_from_the_file(read):
    text = with_entities("Entity=(person-7-new", "Entity=7)")
    (document,) = read("# global.Entity = etype-GRP-infstat\n" + text)
    assert document.mentions == (Mention((0, 1), 0, "7"),)


@pytest.mark.parametrize(
    ("cells", "entities"),
    [
        (("Entity=(person-1)", "Entity=(person-2-new)"), ["1", "2"]),
        (("Entity=(1-person)", "Entity=(e2-person)"), ["1", "e2"]),
        (("Entity=(person-1", "Entity=person-1)"), ["1"]),
        (("Entity=(person-4[1/2])", "_", "Entity=(person-4[2/2])"), ["4"]),
    ],
)
def test_the_place_of_the_entity_id_shows_where_it_is_not_declared(read, cells: tuple[str, ...], entities: list[str]):
    assert sorted(entity for entity, _ in mentions(read, *cells)) == entities


@pytest.mark.parametrize(
    ("head", "cells"),
    [
        ("", ("Entity=(person-new)", "_")),
        ("", ("Entity=(1-2)", "_")),
        ("", ("Entity=(1-person)", "Entity=(person-1)")),
        ("# global.Entity = GRP-etype\n", ("Entity=(person-1)", "Entity=(person-2)")),
    ],
)
def test_entity_ids_that_cannot_be_told_from_types_are_refused(read, head: str, cells: tuple[str, ...]):
    with pytest.raises(CorpusError, match=r"bad\.conllu:\d: Entity bracket '\(.* declare it before the first sentence"):
        read(head + with_entities(*cells))


@pytest.mark.parametrize(
    ("head", "cells"),
    [
        ("", ("Entity=(person)", "Entity=(person)")),
        ("# global.Entity = GRP-etype-link\n", ("Entity=(1-person-Ann_(singer)", "Entity=1)")),
    ],
)
def test_a_bracket_without_an_id_is_no_entity_of_its_own(read, head: str, cells: tuple[str, ...]):
    with pytest.raises(CorpusError, match=r"bad\.conllu:\d: Entity bracket '\((person|singer)\)' has no id"):
        read(head + with_entities(*cells))


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
    (document,) = read(b"1\tthe \t_\tX\t_\t_\t2\tdet \t_\t_\n2\t ten  keys\t_\tX \t_\t_\t0\troot\t_\t_\n")
    assert (document.words, document.deprels, document.upos) == (("the", "ten keys"), ("det", "root"), ("X", "X"))


def test_an_entity_of_a_range_is_that_of_its_words(read):
    text = "1-2 du _ _ _ _ _ _ _ Entity=(1)\n1 de _ X _ _ 3 case _ _\n2 le _ X _ _ 3 det _ _\n"
    (document,) = read(text + "3 port _ X _ _ 0 root _ Entity=(2)(2)\n")
    assert document.mentions == (Mention((0, 1), 0, "1"), Mention((2,), 2, "2"))
    assert document.sentences[0].remarks == (ENTITY_OF_RANGE, TWICE, PARTS)


def test_the_declared_place_holds_until_the_next_declaration(read):
    text = "# newdoc id = A\n# global.Entity = etype-eid\n{0}\n{0}\n# newdoc id = B\n# global.Entity = eid-etype\n{0}"
    first, second = read(text.format(with_entities("Entity=(a-b)")))
    assert [mention.entity for mention in (*first.mentions, *second.mentions)] == ["b", "b", "a"]


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
        text.replace("\n", "\r\r\n").encode(),
        text.replace("# sent_id", "\ufeff# sent_id").encode(),
        gzip.compress(text.encode()),
    ):
        assert [(document.id, document.words) for document in read(content)] == plain


WORD = "1 a a X _ _ 0 root _ _\n"
BROKEN = {
    "1 a a X _ _ 9 dep _ _\n" + "2 b b X _ _ 0 root _ _\n": "bad.conllu:1: head 9 is outside the sentence (2 words)",
    WORD + "2 b b X _ _ one dep _ _\n": "bad.conllu:2: head 'one' is not a number",
    WORD + "2 b b X _ _ _ dep _ _\n": "bad.conllu:2: head '_' is not a number",
    WORD + "2 b b X _ _ -1 dep _ _\n": "bad.conllu:2: head '-1' is not a number",
    WORD + "2 b b X _ _ 2 dep _ _\n": "bad.conllu:2: the heads go in a circle: 2 -> 2",
    WORD + "2 b b X _ _ 4 dep _ _\n3 c c X _ _ 2 dep _ _\n4 d d X _ _ 3 dep _ _\n": (
        "bad.conllu:2: the heads go in a circle: 2 -> 4 -> 3 -> 2"
    ),
    "# text = a b\n1 a a X _ _ 2 dep _ _\n2 b b X _ _ 1 dep _ _\n": (
        "bad.conllu:2: no root: none of the 2 words of this sentence has head 0"
    ),
    WORD + "2 b b X _ _ 0 root _ _\n": "bad.conllu:2: a second root: word 2, after word 1",
    WORD + "2 b b X\n": "bad.conllu:2: 4 columns, expected 10 separated by tabs",
    WORD + "2 b b X _ _ 1 dep _ _ _\n": "bad.conllu:2: 11 columns, expected 10 separated by tabs",
    WORD + "\n" + WORD + "3 b b X _ _ 1 dep _ _\n": "bad.conllu:4: word id 3, expected 2",
    WORD + "1 b b X _ _ 1 dep _ _\n": "bad.conllu:2: word id 1, expected 2",
    WORD + "x b b X _ _ 1 dep _ _\n": "bad.conllu:2: 'x' is not a word id",
    WORD + "_ b b X _ _ 1 dep _ _\n": "bad.conllu:2: '_' is not a word id",
    "1 a a X _ _ 0 root _ Entity=7)\n": "bad.conllu:1: Entity bracket '7)' closes what is not open",
    "1 a a X _ _ 0 root _ Entity=(7-person\n": "bad.conllu:1: Entity bracket '(7' is not closed in its sentence",
    "1 a a X _ _ 0 root _ Entity=7\n": "bad.conllu:1: '7' is not a row of Entity brackets",
    WORD + "2 b b X _ _ 1 dep _ Entity=(7[1/2])\n": (
        "bad.conllu:2: Entity 7 lacks a part of a discontinuous mention of 2"
    ),
    "# global.Entity = etype-infstat\n" + WORD: (
        "bad.conllu:1: global.Entity declares ['etype', 'infstat'], expected a field GRP or eid"
    ),
    "# global.columns = ID LEMMA HEAD\n1 a 0\n": "bad.conllu:1: global.columns declares no column FORM",
    "# global.columns = ID FORM HEAD head\n1 a 0 0\n": "bad.conllu:1: global.columns declares the column HEAD twice",
    "# sent_id = s\n" + WORD + "# sent_id = t\n": (
        "bad.conllu:3: comment '# sent_id = t' after words; a blank line should end a sentence"
    ),
    "# sent_id = s\n# sent_id = t\n" + WORD: (
        "bad.conllu:2: a second sent_id in one sentence; a blank line should end a sentence"
    ),
    WORD + "2-3 b b X _ _ _ _ _ _\n2 b b X _ _ 1 dep _ _\n": (
        "bad.conllu:2: multiword range 2-3 is outside the sentence (2 words)"
    ),
    WORD + "1-2 b b X _ _ _ _ _ _\n2 b b X _ _ 1 dep _ _\n": (
        "bad.conllu:2: multiword range 1-2 stands before word 2, expected before its own words"
    ),
    "1-2 ab _ X _ _ _ _ _ _\n" + WORD + "2-3 bc b X _ _ _ _ _ _\n2 b b X _ _ 1 dep _ _\n": (
        "bad.conllu:3: multiword range 2-3 overlaps with 1-2"
    ),
    WORD + '2 "," b X _ _ 1 dep _ _\n': (
        "bad.conllu:2: '\",\"' has the quotation marks that spreadsheets put around a cell; save the file without "
        "quoting"
    ),
    "1 _ _ X _ _ 0 root _ _\n2 _ _ X _ _ 1 dep _ _\n": (
        "bad.conllu:1: the text of this sentence is withheld: 2 of 2 forms are _; restore it as the treebank's README "
        "says, or leave the sentence out"
    ),
    "# nothing but this\n": "bad.conllu: no sentence in the file (19 bytes)",
}


@pytest.mark.parametrize(("text", "message"), BROKEN.items())
def test_a_broken_file_gets_one_line_with_the_place(read, text: str, message: str):
    with pytest.raises(CorpusError, match=f"^{re.escape(message)}$"):
        read(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bad.conllu: no sentence in the file (0 bytes)"),
        (b"\n\n", "bad.conllu: no sentence in the file (2 bytes)"),
        (conllu(SHIP).encode() + b"\n1\tcaf\xe9\t", "bad.conllu:6: not UTF-8 (byte 0xe9); save the file as UTF-8"),
        (conllu(DOG).encode("utf-16"), "bad.conllu:1: UTF-16 (byte 0xff), not UTF-8; save the file as UTF-8"),
        (b"1\t\t_\tX\t_\t_\t0\troot\t_\t_\n", "bad.conllu:1: word 1 has no form"),
        (
            gzip.compress(b"1\ta")[:12],
            "bad.conllu: a gzip file that is broken or cut off (Compressed file ended before the end-of-stream "
            "marker was reached)",
        ),
        (b"PK\x03\x04", "bad.conllu: compressed (zip); unpack it, or pack it by gzip, which is read"),
        (
            b"1 a a X _ _ 0 root _ _\n",
            "bad.conllu:1: 1 columns, expected 10 separated by tabs (plain text is read from files ending in .txt)",
        ),
    ],
)
def test_broken_bytes_get_one_line_with_the_place(read, content: bytes, message: str):
    with pytest.raises(CorpusError, match=f"^{re.escape(message)}$"):
        read(content)


def test_a_missing_file_says_what_to_check(tmp_path: Path):
    message = f"{tmp_path}/none.conllu: no such file; check the path, or where HEADSCOPE_DATA points"
    with pytest.raises(FileNotFoundError, match=f"^{re.escape(message)}$"):
        read_conllu(tmp_path / "none.conllu")


def test_a_folder_is_refused_with_the_files_in_it(tmp_path: Path):
    (tmp_path / "a.conllu").touch()
    message = f"{tmp_path}: is a folder, expected a CoNLL-U file (.conllu files in it: a.conllu)"
    with pytest.raises(CorpusError, match=f"^{re.escape(message)}$"):
        read_conllu(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "documents", "sentences", "words", "mentions"),
    [
        ("ud_english_ewt/en_ewt-ud-dev", 318, 2001, 25147, 0),
        ("ud_english_ewt/en_ewt-ud-train", 540, 12544, 204577, 0),
        ("ud_english_gum/en_gum-ud-dev", 30, 1575, 28119, 7897),
        ("ud_english_gum/en_gum-ud-train", 178, 10330, 178797, 50004),
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
