import json
from collections.abc import Callable
from pathlib import Path

import pytest

from probes import CorpusError
from probes.minimal_pairs import Kind, LeftOut, MinimalPair
from probes.pairs.readers import read_pairs

Write = Callable[..., Path]


def blimp(**changes: object) -> str:
    row = {"sentence_good": "The ships sink.", "sentence_bad": "The ships sinks.", "field": "syntax/semantics"}
    row |= {"linguistics_term": "agreement", "UID": "harbour_1", "pairID": "7", "one_prefix_method": True}
    return json.dumps({key: value for key, value in (row | changes).items() if value is not None})


COLUMNS = ("sen", "child", "wrong_sen", "phenomenon", "lang", "grammatical_feature", "ungrammatical_feature", "wo")
"Some of MultiBLiMP's, as they stand in its files."


def multiblimp(*row: str) -> dict[str, str]:
    return dict(zip(COLUMNS, row, strict=True))


SINGS = multiblimp("Das Kind singt.", "Kind", "Das Kind singen.", "SV-#", "deu", "SG", "PL", "SV")
GOES = multiblimp('Dort "ging" ich.', "ich", 'Dort "gingst" ich.', "SV-P", "deu", "1", "2", "VS")


def tabbed(*rows: dict[str, str]) -> list[str]:
    """Lines of a table as pandas writes it: a cell with quotation marks stands in such marks, which are doubled."""
    cells = [COLUMNS, *(row.values() for row in rows)]
    quoted = [['"' + cell.replace('"', '""') + '"' if '"' in cell else cell for cell in row] for row in cells]
    return ["\t".join(row) for row in quoted]


def swapped(pair: MinimalPair) -> list[tuple[str, str]]:
    """Right and wrong word where the two sentences differ."""
    return [(one, other) for one, other in zip(pair.good, pair.bad, strict=True) if one != other]


def test_a_line_of_blimp_is_a_pair_of_sentences_cut_at_white_space(write: Write) -> None:
    (pair,) = read_pairs(write("harbour_1.jsonl", blimp()))
    kind = Kind("harbour_1", phenomenon="agreement", field="syntax_semantics")
    assert pair == MinimalPair("harbour_1-7", kind, ("The", "ships", "sink."), ("The", "ships", "sinks."))


def test_pairs_of_the_hub_are_numbered_and_those_that_come_again_are_left_out(write: Write) -> None:
    hub = {"pairID": None, "lexically_identical": True}
    again = {"sentence_good": "The  ships sink."}
    lines = [blimp(**hub, pair_id=0), "", blimp(**hub, pair_id=1, **again), blimp(**hub, pair_id=2, UID="other"), " "]
    found = [*read_pairs(write("hub.jsonl", *lines))]
    assert [(item.source, type(item)) for item in found] == [
        ("harbour_1-0", MinimalPair),
        ("harbour_1-1", LeftOut),
        ("other-2", MinimalPair),
    ]


@pytest.mark.parametrize("written", [("deu.tsv", tabbed), ("deu.jsonl", lambda *rows: map(json.dumps, rows))])
def test_a_row_of_multiblimp_is_a_pair_of_a_language_a_phenomenon_and_two_values(
    written: tuple[str, Callable[..., list[str]]], write: Write
) -> None:
    name, lines = written
    other = SINGS | {"wrong_sen": "Das Kind singst.", "phenomenon": "SV-P", "grammatical_feature": "3"}
    first, again, second, third = read_pairs(write(name, *lines(SINGS, SINGS, other, GOES)))
    kind = Kind("deu SV-# SG -> PL", "SV", None, "singular", "SV-#")
    line = 2 if name == "deu.tsv" else 1
    assert first == MinimalPair(f"deu:{line}", kind, ("Das", "Kind", "singt."), ("Das", "Kind", "singen."))
    assert again == LeftOut(f"deu:{line}", kind, "the same two sentences are a pair before it")
    assert (second.source, second.kind.paradigm, second.kind.number) == (first.source, "deu SV-P 3 -> PL", "")
    numbered = write("numbers.jsonl", json.dumps(GOES | {"grammatical_feature": 1, "ungrammatical_feature": 2}))
    assert [one.kind for one in read_pairs(numbered)] == [third.kind]
    assert (third.kind, swapped(third)) == (Kind("deu SV-P 1 -> 2", "VS", None, "", "SV-P"), [('"ging"', '"gingst"')])


def test_blank_lines_between_true_and_false_change_nothing(write: Write) -> None:
    lines = ("True\tShips sink", "False\tShips sinks", "True\tA ship sinks", "False\tA ship sink")
    plain = [(pair.good, pair.bad) for pair in read_pairs(write("a.txt", *lines))]
    spread = [*read_pairs(write("b.txt", lines[0], "", *lines[1:3], " ", lines[3], ""))]
    assert [(pair.good, pair.bad) for pair in spread] == plain
    assert [pair.source for pair in spread] == ["b:1", "b:4"]


def test_the_verb_of_gold_is_replaced_in_the_text(write: Write) -> None:
    text = write("sea.text", "the ships near the port are old . <eos>", "<unk> sinks .", "was it lost ?")
    write("sea.gold", "5\tare\tis\t1", "1\tsinks\tsink\t0", "0\tWas\tWere\t0")
    first, second, third = read_pairs(text)
    assert first.good == ("the", "ships", "near", "the", "port", "are", "old", ".")
    assert swapped(first) == [("are", "is")]
    assert first.kind == Kind("sea", "", 1, "plural", "subject-verb agreement")
    assert second == LeftOut(
        "sea:2",
        Kind("sea", "", 0, "singular", "subject-verb agreement"),
        "a word of the sentence was replaced by <unk>",
    )
    assert swapped(third) == [("was", "were")], "the text is lower-case, so is the wrong form"
    assert [first.source, third.source] == ["sea:1", "sea:3"]
    again = write("again.text", "it sinks", "they sink", "it sinks")
    write("again.gold", "1\tsinks\tsink\t0", "1\tsink\tsinks\t0", "1\tsinks\tsink\t0")
    assert [pair.source for pair in read_pairs(again)] == ["again:1", "again:2", "again:1"]


def test_true_and_false_in_turn_are_pairs_and_one_right_sentence_is_one_cluster(write: Write) -> None:
    lines = ("True\tthe ship sinks", "False\tthe ship sink", "True\tthe ship sinks", "False\tthe ship sinking")
    one, other = read_pairs(write("simple.txt", *lines))
    assert (one.good, one.bad) == (("the", "ship", "sinks"), ("the", "ship", "sink"))
    assert other.bad == ("the", "ship", "sinking")
    assert one.source == other.source == "simple:1"
    assert one.kind == Kind("simple")


def test_items_of_open_sesame_with_the_same_right_sentence_are_one_cluster(write: Write) -> None:
    lines = ("the ship can sink\t2\t0 1\t", "the ship will sink\t2\t0 1\t", "the ships can sink\t2\t0 1\t")
    found = list(read_pairs(write("agr.0.tsv", *lines)))
    assert [one.source for one in found] == ["agr.0:1", "agr.0:1", "agr.0:3"]
    assert swapped(found[0]) == [("does", "do")]


HEADER = "pattern\tconstr_id\tsent_id\tcorrect_number\tform\tclass\ttype\tn_attr\tlen_prefix\tsent"

NONCE = '"The stone by the lamps sleeps "" well "" . <eos>"'


def nonce(form: str, right: str, place: str = "5", sent: str = NONCE, number: str = "sing") -> str:
    return f"N_V\t3\t7\t{number}\t{form}\t{right}\tgenerated\t1\t{place}\t{sent}"


def test_both_forms_take_the_place_of_the_verb_of_a_nonce_sentence(write: Write) -> None:
    (pair,) = read_pairs(write("nonce.tab", HEADER, nonce("paints", "correct"), nonce("paint", "wrong")))
    kind = Kind("nonce", "generated", 1, "singular", "subject-verb agreement")
    words = ("The", "stone", "by", "the", "lamps", "paints", '"', "well", '"', ".")
    assert pair == MinimalPair("nonce:N_V 3", kind, words, (*words[:5], "paint", *words[6:]))
    assert swapped(pair) == [("paints", "paint")]


FAULTS = [
    ("a.jsonl", (json.dumps(SINGS | {"wo": ""}),), "a.jsonl:1: 'wo' is '', expected text; columns of MultiBLiMP are"),
    ("a.tsv", [*tabbed(SINGS)[:1], "Das Kind singt."], "a.tsv:2: expected 8 columns, got 'Das Kind singt.'"),
    (
        "a.tsv",
        [line.replace('""', "").replace("Das Kind singt.", '"Das" Kind singt.') for line in tabbed(SINGS)],
        "a.tsv:2: expected 8 columns, got .*; a cell with a quote in it stands in quotes, its own doubled",
    ),
    ("a.txt", ("True\tships sink", "True\tships sink"), "a.txt:2: expected 'False', a tab and a sentence"),
    ("a.txt", ("True\tships sink",), "a.txt:1: the last True has no False after it"),
    ("a.txt", ('True\t"A ship, it is said, sinks"',), "a.txt:1: .* has the quotation marks that spreadsheets put"),
    ("sea.text", ("ships sink", "0\tsink\tsinks\t0"), r"sea.text:1: expected 'sink' as word 0 \(from 0\), got 'ships'"),
    ("sea.text", ("ships sink",), "sea.gold: ends after 0 lines, sea.text has more; expected one line each"),
    (
        "sea.text",
        ("ships sink", *["1\tsink\tsinks\t0"] * 2),
        "sea.gold:2: no sentence for this line, sea.text has only 1",
    ),
    ("a.tab", (HEADER, nonce("paints", "correct")), "a.tab:2: expected two lines of 10 columns, got ''"),
    ("a.tab", (HEADER, *[nonce("paint", "wrong")] * 2), "a.tab:2: expected one sentence in two lines"),
    ("a.tab", (HEADER, nonce("is", "correct", number="x"), nonce("are", "wrong")), ":2: .* got '5', '1' and 'x'"),
]


@pytest.mark.parametrize(("name", "lines", "complaint"), FAULTS)
def test_a_fault_has_results_with_its_file_and_line(
    name: str, lines: tuple[str, ...], complaint: str, write: Write
) -> None:
    if name == "sea.text":
        write("sea.gold", *lines[1:])
        lines = lines[:1]
    with pytest.raises(CorpusError, match=complaint):
        list(read_pairs(write(name, *lines)))
