from pathlib import Path

import pytest

from probes.corpora.open_sesame import open_sesame_item, read_groups
from probes.minimal_pairs import Kind, LeftOut, MinimalPair
from probes.records import Mention

AGREEMENT, REFLEXIVE = "subject-verb agreement", "reflexive gender"


def item(line: str) -> MinimalPair | LeftOut:
    return open_sesame_item(line, "agr.4", "agr.4:1", "folder/agr.4.tsv:1")


@pytest.mark.parametrize(
    ("line", "good", "bad", "kind"),
    [
        (
            "my ship near the ports could sink\t5\t0 1\t3 4 ",
            "my ship near the ports does sink",
            "my ship near the ports do sink",
            Kind("agr.4", "1 distractor", 1, "singular", AGREEMENT),
        ),
        (
            "the ships will sink\t2\t0 1\t",
            "the ships do sink",
            "the ships does sink",
            Kind("agr.4", "0 distractors", 0, "plural", AGREEMENT),
        ),
        (
            "the ships near the ports by my boat can sink\t8\t0 1\t3 4 6 7 ",
            "the ships near the ports by my boat do sink",
            "the ships near the ports by my boat does sink",
            Kind("agr.4", "2 distractors", 1, "plural", AGREEMENT),
        ),
        (
            "her aunt near the lord will hurt herself\t7\t0 1\t3 4 ",
            "her aunt near the lord will hurt herself",
            "her aunt near the lord will hurt himself",
            Kind("agr.4", "1 distractor", None, "", REFLEXIVE),
        ),
    ],
)
def test_modals_become_does_and_do_and_reflexives_change_their_gender(
    line: str, good: str, bad: str, kind: Kind
) -> None:
    assert item(line) == MinimalPair("agr.4:1", kind, tuple(good.split()), tuple(bad.split()))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("the fish can swim\t2\t0 1\t", "a noun with one form for both numbers"),
        ("the ship near the fish can sink\t5\t0 1\t3 4", "a noun with one form for both numbers"),
        ("the ship sinks now\t2\t0 1\t", "the marked word 'sinks' is no auxiliary and no reflexive"),
    ],
)
def test_what_no_pair_can_be_made_of_is_left_out_with_the_reason(line: str, reason: str) -> None:
    found = item(line)
    assert isinstance(found, LeftOut)
    assert (found.source, found.reason, found.kind.paradigm) == ("agr.4:1", reason, "agr.4")
    assert found.kind.phenomenon == "subject-verb agreement"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "agr.4.tsv"
    path.write_text(
        "the ships near the port can sink\t5\t0 1\t3 4 \n"
        "my aunt near the lord hurt herself\t6\t0 1\t3 4 \n"
        "the boat sinks\t2\t0 1\t\n",
        encoding="utf-8",
    )
    return path


def test_marked_groups_are_mentions_and_the_marked_word_agrees_with_the_first(lines: Path) -> None:
    modal, reflexive, verb = read_groups(lines)
    (sentence,) = modal.sentences
    assert (modal.id, sentence.id, sentence.kind) == ("the ships near the port can sink", "agr.4:1", "agr.4")
    assert modal.mentions == (Mention((0, 1), 1, "group 0"), Mention((3, 4), 4, "group 1"))
    assert (modal.heads.tolist(), modal.deprels[1]) == ([-1, 5, -1, -1, -1, -1, -1], "nsubj")
    assert (modal.upos[1], modal.upos[5], verb.upos[2]) == ("NOUN", "AUX", "VERB")
    assert reflexive.mentions[-1] == Mention((6,), 6, "group 0")
    assert set(reflexive.heads.tolist()) == {-1}
    assert reflexive.upos[6] == "PRON"
    assert len(list(read_groups(lines, first=2))) == 2
