"""Verdicts of a run are counted once, over all heads."""

import pandas as pd

from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Finds, Verdicts, find_all
from reports.tables.grades import SINK_KINDS


def test_finds_are_counted_over_all_heads_of_the_report_split(scores: pd.DataFrame):
    finds = {one.probe: one for one in find_all(scores)}
    assert list(finds) == ["position", "dependency", "agreement", "coreference"]
    dependency = finds["dependency"]
    assert dependency.answers == {"yes": 4, "no": 3, "undecided": 32}, "13 labels in 3 directions, without all"
    assert {"1-1", "1-2", "1-3", "1-4", "2-2"} < dependency.grades.keys()
    det = scores[(scores["label"] == "det") & (scores["grade"] == 2)]["name"].iloc[0]
    assert dependency.grades[det] == 2
    assert {"5-5", "6-6"} < finds["position"].grades.keys()


def question(
    label: str, verdict: str, grade: int = 0, probe: str = "dependency", holds: float = 1.0
) -> dict[str, object]:
    about = {"probe": probe, "label": label, "variant": "v", "split": "report", "p_adjusted": 0.01, "name": "1-1"}
    return about | {"verdict": verdict, "grade": grade, "holds": holds}


def test_a_question_of_pooled_labels_is_not_counted_beside_its_parts():
    asked = (("all", "yes", 2), ("nsubj:*", "yes", 1), ("nsubj", "yes", 1), ("obj", "no"))
    (found,) = find_all(pd.DataFrame([question(*one) for one in asked]))
    assert found.answers == {"yes": 1, "no": 1, "undecided": 0}
    assert found.grades == {"1-1": 2}, "a grade counts in whichever label it is"


def test_a_grade_where_the_answer_defines_the_items_makes_no_head_specialised() -> None:
    rows = [question(label, "yes", 1, "antecedent") for label in ("occupation is meant", "farther is right")]
    whole = question("all", "no", 0, "antecedent")
    (found,) = find_all(pd.DataFrame([*rows, whole]))
    assert (found.answers, found.grades) == ({"yes": 0, "no": 1, "undecided": 0}, {})
    (graded,) = find_all(pd.DataFrame([*rows, whole | {"verdict": "yes", "grade": 1}]))
    assert graded.grades == {"1-1": 1}


def test_heads_are_counted_by_stable_grades_and_those_that_have_no_other_are_borderline() -> None:
    rows = [question("obj", "yes", 2, holds=0.9) | {"name": name} for name in ("1-1", "1-2")]
    rows += [question("nsubj", "yes", 1) | {"name": "1-2"}, question("[SEP]", "yes", 1, "position", 0.9)]
    found = Verdicts(RunThresholds(), find_all(pd.DataFrame(rows)))
    assert (found.grades, found.borderline) == ({"1-2": 1}, {"1-1"})
    assert (found.placed, found.special) == (frozenset(), frozenset())


def test_a_run_that_asks_about_position_alone_tested_no_linguistic_role() -> None:
    places = Finds("position", {"yes": 1, "no": 0, "undecided": 0}, {"1-1": 1})
    assert not Verdicts(RunThresholds(), (places,)).tests_language
    assert Verdicts(
        RunThresholds(), (places, Finds("agreement", {"yes": 0, "no": 1, "undecided": 0}, {}))
    ).tests_language


SPECIAL = frozenset({"1-1", "3-3", "7-7"})


def test_heads_are_counted_once_by_their_highest_grade_and_position_heads_apart():
    finds = (
        Finds("position", {"yes": 2, "no": 1, "undecided": 0}, {"1-1": 1, "2-2": 1, "3-3": 1, "7-7": 1}, SPECIAL),
        Finds("dependency", {"yes": 3, "no": 1, "undecided": 4}, {"1-1": 1, "4-4": 3, "5-5": 2}),
        Finds("agreement", {"yes": 1, "no": 0, "undecided": 2}, {"1-1": 2, "6-6": 1}),
    )
    verdicts = Verdicts(RunThresholds(), finds)
    assert verdicts.grades == {"1-1": 2, "4-4": 3, "5-5": 2, "6-6": 1}
    assert verdicts.undecided == "Most labels are undecided: this does not show that there is none."
    others, answers = verdicts.counted(72)
    assert others == (
        "Other heads: 1 significant in a position only; 2 significant on a special token; 65 without any of these. "
        "Specialised heads also significant in a position: 1."
    )
    assert answers.endswith("subsets: 11; a head is significant in 4, no head in 1 (by a test), and 6 are undecided.")
    (only_position,) = Verdicts(RunThresholds(), finds[:1]).counted(72)
    assert only_position.startswith("Heads: 1 significant in a position only; 3 significant on a special token; 68")


def test_a_sink_is_what_gives_special_tokens_half_of_its_attention_whatever_its_grades_in_position():
    position = Finds("position", {}, {"1-1": 1, "1-2": 1, "2-1": 1, "2-2": 1, "3-1": 1, "4-4": 1}, SPECIAL)
    finds = (position, Finds("dependency", {}, {"4-4": 1}))
    kinds = dict.fromkeys(("1-1", "1-2", "4-4", "6-6"), SINK_KINDS[0]) | {"2-1": SINK_KINDS[1], "3-3": "", "3-1": ""}
    verdicts = Verdicts(RunThresholds(), finds, kinds)
    assert verdicts.sinks.keys() == {"1-1", "1-2", "6-6", "2-1"}, "4-4 has a linguistic role, 6-6 no grade at all"
    assert (verdicts.special, verdicts.position) == ({"3-3", "7-7"}, 2), "2-2 and 3-1"
    line, _ = verdicts.counted(72)
    assert "4 sinks (3 write little, 1 spread what special tokens hold); 2 more significant on a special" in line
    assert line.endswith("63 without any of these. Specialised heads also significant in a position: 1; also sinks: 1.")
