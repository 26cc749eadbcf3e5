import pandas as pd

from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Finds, GradeCounts, Verdicts, find_all
from reports.tables.grades import SINK_KINDS


def test_the_rule_is_told_with_the_thresholds_of_the_run():
    rule = RunThresholds.of({"verdict": {"alpha": 0.01, "margin": 0.125}})
    said = dict(rule.terms())
    assert "more than 12.5 points above that of every baseline" in said["Grade"]
    assert "adjusted p below 0.01" in said["Grade"]
    assert "every baseline and control" in said["Grade 1, beyond position and controls"]
    assert "lexical table" in said["Grade 2, beyond words"]
    assert "rule of grammar" in said["Grade 3, beyond grammar rules"]
    assert "Benjamini and Yekutieli 2001" in said["Correction"]
    assert "lies below 12.5 points" in said["Verdict on a label and direction"]
    assert "No controls" not in said


def test_the_rule_has_the_usual_thresholds_where_a_config_names_none():
    assert RunThresholds.of({}) == RunThresholds(0.05, 0.05)
    assert RunThresholds.of({"verdict": {"alpha": 0.1}}) == RunThresholds(0.1, 0.05)


def test_a_run_without_controls_says_that_it_knows_less():
    said = dict(RunThresholds(controlled=False).terms())
    assert "control" not in said["Grade 1, beyond position"]
    assert "grade 1 means above the baselines only" in said["No controls"]


def test_finds_are_counted_over_all_heads_of_the_report_split(scores: pd.DataFrame):
    finds = {one.probe: one for one in find_all(scores)}
    assert list(finds) == ["position", "dependency", "agreement", "coreference"]
    dependency = finds["dependency"]
    assert dependency.answers == {"yes": 4, "no": 3, "undecided": 32}, "13 labels in 3 directions, without all"
    assert {"1-1", "1-2", "1-3", "1-4", "2-2"} < dependency.grades.keys()
    det = scores[(scores["label"] == "det") & (scores["grade"] == 2)]["name"].iloc[0]
    assert dependency.grades[det] == 2
    assert {"5-5", "6-6"} < finds["position"].grades.keys()


def question(label: str, verdict: str, grade: int = 0, probe: str = "dependency") -> dict[str, object]:
    about = {"probe": probe, "label": label, "variant": "v", "split": "report", "p_adjusted": 0.01, "name": "1-1"}
    return about | {"verdict": verdict, "grade": grade}


def test_a_question_of_pooled_labels_is_not_counted_beside_its_parts():
    rows = [
        question("all", "yes", 2),
        question("nsubj:*", "yes", 1),
        question("nsubj", "yes", 1),
        question("obj", "no"),
    ]
    (found,) = find_all(pd.DataFrame(rows))
    assert found.answers == {"yes": 1, "no": 1, "undecided": 0}
    assert found.grades == {"1-1": 2}, "a grade counts in whichever label it is"
    (alone,) = find_all(pd.DataFrame([question("all", "undecided")]))
    assert alone.answers["undecided"] == 1, "a probe with no other label"


def test_a_grade_where_the_answer_defines_the_items_makes_no_head_specialised() -> None:
    rows = [question(label, "yes", 1, "antecedent") for label in ("occupation is meant", "farther is right")]
    whole = question("all", "no", 0, "antecedent")
    (found,) = find_all(pd.DataFrame([*rows, whole]))
    assert (found.answers, found.grades) == ({"yes": 0, "no": 1, "undecided": 0}, {})
    (graded,) = find_all(pd.DataFrame([*rows, whole | {"verdict": "yes", "grade": 1}]))
    assert graded.grades == {"1-1": 1}


SPECIAL = frozenset({"1-1", "3-3", "7-7"})


def test_heads_are_counted_once_by_their_highest_grade_and_position_heads_apart():
    finds = (
        Finds("position", {"yes": 2, "no": 1, "undecided": 0}, {"1-1": 1, "2-2": 1, "3-3": 1, "7-7": 1}, SPECIAL),
        Finds("dependency", {"yes": 3, "no": 1, "undecided": 4}, {"1-1": 1, "4-4": 3, "5-5": 2}),
        Finds("agreement", {"yes": 1, "no": 0, "undecided": 2}, {"1-1": 2, "6-6": 1}),
    )
    counts = GradeCounts.of(finds, {})
    assert (counts.by_grade, counts.position, counts.both) == ((1, 2, 1), 1, 1)
    assert (counts.sinks, counts.special) == (None, 2)
    verdicts = Verdicts(RunThresholds(), finds)
    assert verdicts.specialised == {"1-1", "4-4", "5-5", "6-6"}
    assert verdicts.counted(72) == (
        "Heads by highest grade in a role of language: 1 beyond grammar rules, 2 beyond words, 1 beyond position and "
        "controls, of 72.",
        "Other heads: 1 with a grade in position only; 2 with a grade on a special token; 65 without any of these. "
        "Specialised heads that also have a grade in position: 1.",
        "Does any head have a grade? Of 11 label–direction pairs (pooled labels, subsets and position not counted): "
        "4 yes, 1 no, 6 undecided.",
    )
    only_position = Verdicts(RunThresholds(), finds[:1]).counted(72)
    assert only_position == (
        "Heads: 1 with a grade in position only; 3 with a grade on a special token; 68 without any of these.",
    )


def test_a_sink_is_what_gives_special_tokens_half_of_its_attention_whatever_its_grades_in_position():
    position = Finds("position", {}, {"1-1": 1, "1-2": 1, "2-1": 1, "2-2": 1, "3-1": 1, "4-4": 1}, SPECIAL)
    finds = (position, Finds("dependency", {}, {"4-4": 1}))
    kinds = dict.fromkeys(("1-1", "1-2", "4-4", "6-6"), SINK_KINDS[0]) | {"2-1": SINK_KINDS[1], "3-3": "", "3-1": ""}
    counts = GradeCounts.of(finds, kinds)
    assert counts.sinks == {SINK_KINDS[0]: 3, SINK_KINDS[1]: 1}, "4-4 has a role of language, 6-6 no grade at all"
    assert (counts.special, counts.position) == (2, 2), "3-3 and 7-7; 2-2 and 3-1"
    _, line, _ = Verdicts(RunThresholds(), finds, kinds).counted(72)
    assert line == (
        "Other heads: 2 with a grade in position only; 4 sinks (3 write little, 1 spread what special tokens hold); 2 "
        "with a grade on a special token but no sinks; 63 without any of these. Specialised heads that also have a "
        "grade in position: 1; that are also sinks: 1."
    )


def test_heads_with_a_grade_in_a_special_token_are_known_whatever_their_grades_elsewhere():
    rows = [
        {**question(label, "yes", grade, "position"), "name": name}
        for name, label, grade in (("1-1", "[CLS]", 1), ("1-1", "next", 2), ("2-2", "[SEP]", 0), ("3-3", "previous", 1))
    ]
    (found,) = find_all(pd.DataFrame(rows))
    assert found.special == {"1-1"}
    assert found.grades == {"1-1": 2, "3-3": 1}
