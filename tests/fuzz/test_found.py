"""What readers refuse, each as the smallest input that shows it; docs/inputs.md has the others with their messages."""

import gzip
from collections.abc import Callable

import pytest

from tests.fuzz import seeds
from tests.fuzz.reading import reading
from tests.fuzz.targets import TARGETS

LONG = b"[" * 5000
MIDDLE = b'{"a":' * 3000
RANGE = "4-5\tnt" + "\t_" * 8
WORD = "1\ta\t_\tX\t_\t_\t0\troot\t_\t{}\n"
SPREADSHEET = "has the quotation marks that spreadsheets put"

CHANGED: dict[str, list[tuple[str, str, str]]] = {
    "corpus CoNLL-U": [
        ("\t5\taux", "\t0\taux", "conllu:10: a second root: word 5, after word 3"),
        ("GRP-etype", "etype", "conllu:1: global.Entity declares ['etype', 'infstat', "),
        ("# newdoc id = sea", "# global.columns = ID LEMMA", "conllu:1: global.columns declares no column FORM"),
        ("# newdoc id = sea", "# global.columns = ID FORM id", "conllu:1: global.columns declares the column ID twice"),
        ("3-4\t", "6-7\t", "conllu:7: multiword range 6-7 stands before word 3, expected before its own words"),
        ("3-4\t", "3-9\t", "conllu:7: multiword range 3-9 is outside the sentence (6 words)"),
        ("3-4\t", "4-3\t", "conllu:7: '4-3' is not a word id"),
        ("4\tn't\tnot", f"{RANGE}\n4\tn't\tnot", "conllu:9: multiword range 4-5 overlaps with 3-4"),
        ("5\tsink", "# sent_id = t\n5\tsink", "conllu:10: comment '# sent_id = t' after words; a blank line"),
        ("# text", "# sent_id = t\n# text", "conllu:4: a second sent_id in one sentence; a blank line should"),
        ("\tfloat\tfloat", "\t \tfloat", "conllu:16: word 2 has no form (its form is white space alone"),
        ("\tfloat\tfloat", '\t","\tfloat', SPREADSHEET),
        ("Entity=1)", "Entity=1", "conllu:6: '1' is not a row of Entity brackets"),
        ("Entity=1)", "Entity=2)", "conllu:6: Entity bracket '2)' closes what is not open"),
        ("(1-object-giv", "(1[1/2]-object-giv", "Entity 1 lacks a part of a discontinuous mention of 2"),
        ("\n1\tThey", f"\n{'7' * 5000}\tThey", "conllu:15: '7777"),
        ("\tVBP\t_\t5\taux", f"\tVBP\t_\t{'7' * 5000}\taux", "conllu:8: head '7777"),
    ],
    "corpus CoNLL-2012": [
        ("part 0", "part 2", "conll:2: part '0', but line 1 begins part 2"),
        ("(sea)", "()", "conll:1: expected '#begin document (NAME); part N', got '#begin document ()"),
        ("#end document\n", "", "conll:1: document 'sea' is not ended by '#end document'"),
        ("#end document", "#begin document (sea)", "conll:7: document 'sea' of line 1 is not ended by"),
        ("sea\t0\t0\tAda", "lake\t0\t0\tAda", "conll:2: document 'lake', but line 1 begins 'sea'"),
        ("0\t1\tByron", "0\t3\tByron", "conll:3: word number '3', expected 1"),
        ("\tAda\t", "\t \t", "conll:2: word 0 has no form"),
        ("\tAda\tNN", "", "conll:2: 10 columns, expected at least 12, parted by tabs or spaces"),
        ("(1)|(2)", "(x)", "conll:6: coreference '(x)', expected brackets such as (4, 4) or (4)|(7"),
    ],
    "corpus GAP": [
        ("ID\tText", "Id\tText", "tsv:1: expected the columns ID, Text, Pronoun, "),
        ("\tFALSE", "", "tsv:2: 10 columns, expected 11 parted by tabs"),
        ("\tTRUE", "\tyes", "tsv:2: A-coref is 'yes', expected TRUE or FALSE"),
        ("\tFALSE", "\tTRUE", "A-coref and B-coref are both TRUE; a pronoun means one of the two at most"),
        ("\tLucy\t14", "\tByron\t4", "A 'Ada Byron' and B 'Byron' overlap at character 4 of the text"),
        ("\tLucy\t14", "\t\t14", "at character 14 of the text stands '', expected ''"),
    ],
    "corpus Winogender": [
        ("\tsentence\n", "\ttext\n", "tsv:1: expected the columns sentid, sentence or occupation(0), "),
        (" that he could go", " that she could go", "expected a male pronoun once in the sentence, found it 0 times"),
        ("someone.0", "captain.0", "expected the participant 'captain' once in the sentence, found it 0 times"),
        ("\tThe nurse told someone", "\t", "tsv:2: expected the occupation 'nurse' once"),
        ("\tThe nurse", "\t\tThe nurse", "tsv:2: 3 columns, expected 2 parted by tabs"),
        ("$PARTICIPANT", "patient", "tsv:2: expected one $PARTICIPANT in the template"),
        ("$NOM_PRONOUN", "$SUB_PRONOUN", "tsv:2: expected one of $NOM_PRONOUN, $POSS_PRONOUN, $ACC_PRONOUN"),
    ],
    "corpus open-sesame": [
        ("\t3 4", "", "tsv:1: expected sentence, index, subject and distractors parted by tabs"),
        ("\t3 4", "\t3", "tsv:1: expected pairs of word indices, got '3'"),
        ("\t2\t0 1", "\t2\t0", "tsv:1: expected 2 word indices, got '0'"),
        ("\t2\t0 1", "\t2\t1 0", "tsv:1: expected spans whose first word is not after the last, got [()]"),
        ("\t2\t0 1", "\t9\t0 1", "tsv:1: index 9 is outside the sentence (7 words, counted from 0)"),
        ("the ship near", '"the ship, near, the boats can"', ""),
    ],
    "corpus WinoBias": [
        ("2 The", "The", "txt:2: expected a number, a space and a sentence"),
        ("[he]", "[ ]", "txt:1: brackets around nothing"),
        ("2 The", "1 The", "sentence id 'a:1' is that of"),
    ],
    "corpus word pairs": [
        ("ship boat 8", "ship boat nan", "txt:2: expected two words and a number, got 'ship boat nan'"),
        ("ship boat 8", "Ship ship 8", "txt:2: expected two different words, got 'Ship' twice"),
    ],
}
"Reader -> a part of a valid input, what stands in its place, and what the error has to say."

FOUND: list[tuple[str, bytes, str]] = [
    ("corpus CoNLL-U", b"\x1c\n", "a.conllu: no sentence in the file (2 bytes)"),
    ("corpus CoNLL-U", b"\xef\xbb\xbf", "a.conllu: no sentence in the file (3 bytes)"),
    ("corpus CoNLL-U", seeds.CONLLU.decode().encode("utf-16"), "a.conllu:1: UTF-16 (byte 0xff), not UTF-8; save"),
    ("corpus CoNLL-U", gzip.compress(seeds.CONLLU)[:40], "a.conllu: a gzip file that is broken or cut off"),
    ("corpus CoNLL-U", b"PK\x03\x04", "a.conllu: compressed (zip); unpack it, or pack it by gzip, which is read"),
    ("corpus CoNLL-U", b"1 a a X\n", "1 columns, expected 10 separated by tabs (plain text is read from files ending"),
    (
        "corpus CoNLL-U",
        b"1" + b"\t_" * 9 + b"\n2" + b"\t_" * 9,
        "is withheld: 2 of 2",
    ),
    ("corpus CoNLL-U", WORD.format("Entity=(person)").encode(), "Entity bracket '(person)' has no id"),
    ("corpus CoNLL-U", WORD.format("Entity=(1-2)").encode(), "declare it before the first sentence"),
    ("corpus CoNLL-U", seeds.CONLLU + b"# newdoc\n\n" + seeds.CONLLU, "sentence id 'sea-1' is that of"),
    ("corpus CoNLL-2012", seeds.CONLL * 2, "document id 'sea; part 0' is that of"),
    ("corpus GAP", seeds.GAP + seeds.GAP.partition(b"\n")[2], "passage id 'dev-1' is that of"),
    ("corpus CoNLL-2012", LONG, "' stands before any '#begin document (NAME); part N'"),
    ("corpus WinoBias", b"7" * 5000 + b" [The baker] said [he] sang.\n", "a.txt:1: expected a number, a space and"),
    ("pairs nonce table", seeds.TABLE.replace(b"\tsinks\t", b"\tsi\rnks\t"), "a.tab:2: expected two lines of 9"),
    ("relations", b"\xff\n", "a.tsv:1: not UTF-8"),
    ("relations", b"a\0\tb\tc\n", "a.tsv:1: a NUL byte"),
    ("word counts", b"\xff 1\n", "a.txt:1: not UTF-8"),
    ("word counts", b"the " + b"7" * 5000, "a.txt:1: expected a word, a blank and its count"),
    ("typed text", b"7-" + b"7" * 5000, "it has no head '7-77"),
    ("typed text", b"1-1 the " + b"7" * 5000, "there is no word 77"),
    ("TOML", b'[train.data]\npath = "' + b"a" * 5000 + b'"', ""),
    ("TOML", b'[model]\nname = "' + b"a" * 5000 + b'"', ""),
    ("TOML", b'[train.data]\npath = "a\\u0000"', "embedded null"),
    ("TOML", b'[train.data]\npath = "~nobody-is-called-so"', "is no path: Could not determine home directory"),
    ("config of a run", seeds.CONFIG.replace(b'"sea"', b'"' + LONG + b'"'), "a.toml: name: "),
    ("--set", b"seed\n", "--set seed : expected key=value"),
    ("run.json", b'{"seed": "' + LONG + b'"}', "run.json: seed: expected a valid integer"),
    ("claim.json", b'{"statements": [], "measures": [{"name": "\\n"}]}', "claim.json: not the record"),
    ("table as CSV", b"\xa3", "means.csv: not a readable CSV file"),
    ("table as CSV", seeds.table(".csv").replace(b"0.5", LONG), "means.csv: column 'value' is "),
    ("training.json", b'{"files": {"a\\u0000": 1}}', ""),
    ("training.json", b'{"files": {"\\ud800": 1}}', ""),
    ("log.jsonl", b"\xff\n" + MIDDLE, ""),
]


INPUTS = FOUND + [
    (name, valid.replace(old.encode(), new.encode(), 1), words)
    for name, some in CHANGED.items()
    for old, new, words in some
    for valid in TARGETS[name].seeds
    if old.encode() in valid
]


def test_every_part_that_is_changed_stands_in_a_seed() -> None:
    changed = [(name, old.encode()) for name, some in CHANGED.items() for old, *_ in some]
    assert [one for one in changed if not any(one[1] in valid for valid in TARGETS[one[0]].seeds)] == []


@pytest.mark.parametrize(("name", "given", "message"), INPUTS, ids=lambda one: one if isinstance(one, str) else "")
def test_what_no_reader_takes_is_refused_in_one_line(name: str, given: bytes, message: str) -> None:
    with reading(TARGETS[name]) as one:
        assert one.fault(given) is None
        one.path.write_bytes(given)
        assert message in said(lambda: TARGETS[name].read(one.path))


def said(read: Callable[[], object]) -> str:
    """Return what is refused in one line; nothing where it is read."""
    try:
        read()
    except ValueError as error:
        return str(error)
    return ""


def test_a_very_long_sentence_of_two_spans_is_read() -> None:
    """Every word was made lower-case once a word: minutes."""
    with reading(TARGETS["corpus WinoBias"]) as one:
        assert one.fault(b"1 [The baker] said [he] sang" + b" so" * 20_000 + b".\n") is None


def test_a_card_with_brackets_in_brackets_is_read() -> None:
    """The parser of YAML that is written in Python takes seconds for some hundred of them."""
    with reading(TARGETS["card of a data set"]) as one:
        assert one.fault(b"---\nconfigs: " + b"[" * 900 + b"]" * 900 + b"\n---\n") is None
