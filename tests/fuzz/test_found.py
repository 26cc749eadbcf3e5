"""What fuzzing found, each as the smallest input that showed it: it ended in a traceback, in pages of text, or not."""

from collections.abc import Callable

import pytest

from tests.fuzz import seeds
from tests.fuzz.reading import reading
from tests.fuzz.targets import TARGETS

LONG = b"[" * 5000
MIDDLE = b'{"a":' * 3000

FOUND: list[tuple[str, bytes, str]] = [
    ("corpus CoNLL-U", b"\x1c\n", "a.conllu: no sentence in the file (2 bytes)"),
    ("corpus CoNLL-U", b"\xef\xbb\xbf", "a.conllu: no sentence in the file (3 bytes)"),
    ("corpus CoNLL-2012", LONG, "' stands before any '#begin document (NAME); part N'"),
    ("corpus WinoBias", b"7" * 5000 + b" [The baker] said [he] sang.\n", "a.txt:1: expected a number, a space and"),
    (
        "pairs nonce table",
        seeds.TABLE.replace(b"\tsinks\t", b"\tsi\rnks\t"),
        "a.tab:2: expected two lines of 9",
    ),
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
    (
        "claim.json",
        b'{"statements": [], "measures": [{"name": ' + b'"\\n"' + b"}]}",
        "claim.json: not the record",
    ),
    ("table as CSV", b"\xa3", "means.csv: not a readable CSV file"),
    ("table as CSV", seeds.table(".csv").replace(b"0.5", LONG), "means.csv: column 'value' is "),
    ("training.json", b'{"files": {"a\\u0000": 1}}', ""),
    ("training.json", b'{"files": {"\\ud800": 1}}', ""),
    ("log.jsonl", b"\xff\n" + MIDDLE, ""),
]


@pytest.mark.parametrize(("name", "given", "message"), FOUND, ids=lambda value: value if isinstance(value, str) else "")
def test_what_was_found_is_refused_in_one_line(name: str, given: bytes, message: str) -> None:
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
