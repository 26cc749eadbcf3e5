"""Files that no corpus has but anybody may send: NUL bytes, numbers without end, equal ids, very long sentences."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from probes.corpora.conllu import read_conllu
from probes.corpora.gap import HEADER
from probes.corpora.line_reader import CorpusError
from probes.corpora.readers import read_documents
from probes.corpora.winogender import FILLED
from probes.pairs.readers import read_pairs
from probes.training.texts import TextFiles

ENDLESS = "7" * 5000
"More digits than Python makes a number of."

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def word(number: object, head: object, form: str = "w") -> str:
    return f"{number}\t{form}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n"


def conll(part: object = 0, form: str = "she") -> str:
    cells = "\t".join(["_"] * 8)
    return f"#begin document (sea); part {part}\nsea\t{part}\t0\t{form}\t{cells}\n#end document\n"


def gap(name: str = "one", offset: object = 0, text: str = "She met Ada and Bea.") -> str:
    return "\t".join([name, text, "She", str(offset), "Ada", "8", "TRUE", "Bea", "16", "FALSE", "url"]) + "\n"


GAP = "\t".join(HEADER) + "\n"
WINOGENDER = "\t".join(FILLED) + "\n" + "nurse.someone.0.male.txt\tThe nurse told someone that he could go.\n"
BLIMP = (
    '{"sentence_good": "a b", "sentence_bad": "a c", "field": "f", "linguistics_term": "t", "UID": "u", '
    '"pairID": "1"}\n'
)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.conllu", word(1, 0) + word(2, 1, "a\0b"), 2),
        ("a.conllu", "# sent_id = a\0b\n" + word(1, 0), 1),
        ("a.conll", conll(form="a\0b"), 2),
        ("gap.tsv", GAP + gap(text="She met Ada and Bea.\0"), 2),
        ("wino.tsv", WINOGENDER.replace("go", "g\0o"), 2),
        ("agr.tsv", "the ship can s\0ink\t2\t0 1\t\n", 1),
        ("wino.txt", "1 [The baker] said [he] sang.\n2 [The baker] s\0aid [he] sang.\n", 2),
        ("men.txt", "sea ship 9\nse\0a ship 9\n", 2),
    ],
)
def test_a_nul_byte_is_refused_with_its_line(name: str, text: str, line: int, write: Write) -> None:
    path = write(name, text)
    with pytest.raises(CorpusError, match=f"^{path}:{line}: a NUL byte, which no text has$"):
        list(read_documents(path))


def test_a_nul_byte_is_refused_in_pairs_and_in_texts_to_train_on(write: Write) -> None:
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: a NUL byte"):
        list(read_pairs(write("a.jsonl", BLIMP + BLIMP.replace("a b", "a\0b"))))
    with pytest.raises(CorpusError, match=r"a\.txt:3: a NUL byte"):
        list(TextFiles((write("a.txt", "one\n\ntw\0o\n"),)))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.conllu", word(ENDLESS, 0), r":1: '7{40}…' is not a word id"),
        ("a.conllu", word(f"1-{ENDLESS}", "_") + word(1, 0), r":1: '1-7{38}…' is not a word id"),
        ("a.conllu", word(1, ENDLESS), r":1: head '7{40}…' is not a number"),
        ("a.conll", conll(ENDLESS), r":1: expected '#begin document \(NAME\); part N', got '#begin .*…'"),
        ("gap.tsv", GAP + gap(offset=ENDLESS), r":2: Pronoun-offset '7{40}…' is not a number"),
        ("agr.tsv", f"the ship can sink\t{ENDLESS}\t0 1\t\n", r":1: expected 1 word indices, got '7{40}…'"),
    ],
)
def test_a_number_without_end_is_refused_with_its_line(name: str, text: str, complaint: str, write: Write) -> None:
    path = write(name, text)
    with pytest.raises(CorpusError, match=f"^{path}{complaint}$"):
        list(read_documents(path))


def test_endless_numbers_and_nesting_are_refused_in_pairs(write: Write) -> None:
    text = write("a.text", "she runs\n")
    for place, attractors in ((ENDLESS, 0), (1, ENDLESS)):
        write("a.gold", f"{place}\truns\trun\t{attractors}\n")
        with pytest.raises(CorpusError, match=r"a\.gold:1: expected index, right form, wrong form, attractors"):
            list(read_pairs(text))
    for content in ('{"UID": ' * 100_000, f'{{"UID": {ENDLESS}}}'):
        with pytest.raises(CorpusError, match=r"a\.jsonl:1: not JSON"):
            list(read_pairs(write("a.jsonl", content)))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        (
            "a.conllu",
            f"# sent_id = one\n{word(1, 0)}\n# sent_id = one\n{word(1, 0)}",
            ":4: sentence id 'one' is that of .*a.conllu:1 too; give each sentence its own",
        ),
        (
            "a.conllu",
            f"# newdoc id = d\n{word(1, 0)}\n# newdoc id = e\n{word(1, 0)}\n# newdoc id = d\n{word(1, 0)}",
            ":7: document id 'd' is that of .*a.conllu:1 too; give each document its own",
        ),
        ("a.conll", conll() + conll(1) + conll(), ":7: document id 'sea; part 0' is that of .*a.conll:1 too"),
        ("gap.tsv", GAP + gap() + gap("two") + gap(), ":4: passage id 'one' is that of .*gap.tsv:2 too"),
        ("wino.tsv", WINOGENDER + WINOGENDER.partition("\n")[2], "sentence id 'nurse.someone.0.male.txt' is that"),
        ("wino.txt", "1 [The baker] said [he] sang.\n" * 2, "sentence id 'wino:1' is that of"),
    ],
)
def test_two_with_one_id_are_refused_by_name(name: str, text: str, complaint: str, write: Write) -> None:
    with pytest.raises(CorpusError, match=complaint):
        list(read_documents(write(name, text)))


def test_one_id_in_two_files_of_a_folder_or_in_two_pairs_is_refused(write: Write) -> None:
    folder = write("sea/a.conll", conll()).parent
    write("sea/b.conll", conll())
    with pytest.raises(
        CorpusError, match=r"b\.conll: document 'sea', sentence 1: sentence id 'sea-0-1' is that of .*a\.c"
    ):
        list(read_documents(folder))
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: pair id 'u-1' is that of .*a\.jsonl:1 too"):
        list(read_pairs(write("a.jsonl", BLIMP * 2)))


def test_the_heads_of_a_chain_are_checked_in_linear_time(write: Write) -> None:
    words = 50_000
    chain = [word(number, number + 1) for number in range(1, words)]
    begun = time.perf_counter()
    (document,) = read_conllu(write("long.conllu", "".join([*chain, word(words, 0)])))
    assert len(document) == words
    with pytest.raises(CorpusError, match=r"the heads go in a circle: 1 -> 2 -> .* -> 9 -> … -> 1$"):
        list(read_conllu(write("ring.conllu", "".join([*chain[:-1], word(words - 1, 1), word(words, 0)]))))
    assert time.perf_counter() - begun < 20  # 25 s and more where each word was looked for in the way so far
