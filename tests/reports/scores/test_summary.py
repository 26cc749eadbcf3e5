import dataclasses
import math
from typing import Any

import pandas as pd

from reports.run.record import RunRecord
from reports.scores.best_heads import BestHead, best_heads, probes
from reports.scores.summary import leader_sentence, summarise
from reports.scores.verdicts import Finds, RunThresholds, Verdicts, find_all

BARE = RunRecord()
NOTHING = Verdicts(RunThresholds(), (), controlled=True)


def row(label: str, low: float, high: float, clusters: int = 50, **more: Any) -> BestHead:
    middle, nan = (low + high) / 2, math.nan
    row = {field.name: nan for field in dataclasses.fields(BestHead)}
    row |= {"probe": "dependency", "label": label, "variant": "v", "name": "1-1", "layer": 0, "head": 0, "n": 9}
    row |= {
        "clusters": clusters,
        "effective_clusters": clusters,
        "accuracy": middle,
        "baseline": "offset",
        "baseline_accuracy": 0.0,
        "margin": middle,
    }
    row |= {"margin_low": low, "margin_high": high, "lexical_accuracy": 0.3, "near_ties": 0, "p_adjusted": 0.5}
    row |= {"stability": 0.9, "specialised": False, "grade": 0, "verdict": "undecided"}
    row |= {"excluded": 0.2, "rule": "", "others": ()}
    return BestHead(**(row | more))


def said(rows: tuple[BestHead, ...], verdicts: Verdicts = NOTHING) -> str:
    return " ".join(summarise({"dependency": rows}, BARE, verdicts, 6, 12).sentences)


def test_the_summary_counts_what_lies_above_below_and_between():
    rows = (row("a", 0.1, 0.3), row("b", -0.3, -0.1), row("c", -0.1, 0.3), row("few", 0.5, 0.9, clusters=19))
    text = said(rows)
    assert "interval of the margin over the strongest baseline or control lies above 0 in 2 of 4 pairs" in text
    assert "of 4 pairs, below 0 in 1 and contains 0 in 1 (not corrected)" in text
    assert "effective number of documents is below 20, marked ⚠: 1" in text
    assert [leader.label for leader in summarise({"dependency": rows}, BARE, NOTHING, 6, 12).leaders] == [
        "a",
        "c",
    ]


def test_the_summary_begins_with_heads_by_grade_and_questions_by_verdict(scores: pd.DataFrame):
    best = {probe: best_heads(scores, probe) for probe in probes(scores)}
    verdicts = Verdicts(RunThresholds(0.01, 0.125), find_all(scores), controlled=True)
    sentences = summarise(best, BARE, verdicts, 6, 12).sentences
    report = scores[(scores["split"] == "report") & scores["specialised"]]
    highest = report.groupby("name")["grade"].max()
    counts = [int((highest == grade).sum()) for grade in (3, 2, 1)]
    assert sentences[0] == (
        f"Heads by highest grade in a role of language: {counts[0]} beyond grammar rules, {counts[1]} beyond words, "
        f"{counts[2]} beyond position and controls, of 72."
    )
    assert sum(counts) == len(verdicts.specialised) > 5
    assert sentences[1].startswith("Other heads: ")
    assert sentences[2].startswith(
        "Does any head have a grade? Of 47 label–direction pairs (pooled labels, subsets and position not counted): "
        "6 yes, 3 no, 38"
    )
    assert "more than 12.5 points (adjusted p below 0.01)" in sentences[3]
    assert "the false discovery rate over label–direction pairs is at most 1 %" in sentences[3]
    assert sentences[4] == "Reported, not tested: accuracy, mass, precision and lift."
    assert "selected again in 92.5 % of resamples of the selection split (median; lowest 60.0 %)" in sentences[5]


def test_without_a_graded_head_nothing_is_said_about_stability():
    find = Finds("dependency", {"yes": 0, "no": 1, "undecided": 3}, {})
    text = said((row("a", 0.1, 0.3),), Verdicts(RunThresholds(), (find,), controlled=True))
    assert "0 beyond grammar rules, 0 beyond words, 0 beyond position and controls, of 72" in text
    assert "position not counted): 0 yes, 1 no, 3 undecided." in text
    assert "resamples" not in text
    assert "No label has a baseline to be tested against" in said((row("a", 0.1, 0.3),))


def test_leaders_are_specialised_heads_whatever_the_margins_of_others():
    rows = (row("large", 0.5, 0.9), row("small", 0.1, 0.3, specialised=True, grade=2, p_adjusted=0.0123))
    leaders = summarise({"dependency": rows}, BARE, NOTHING, 6, 12).leaders
    assert [leader.label for leader in leaders] == ["small"]
    assert [leader.label for leader in summarise({"dependency": rows[:1]}, BARE, NOTHING, 6, 12).leaders] == ["large"]
    assert leader_sentence(leaders[0]).endswith("; grade 2: beyond words (adjusted p = 0.012, stability 90.0 %)")
    assert leader_sentence(row("b", 0.5, 0.9, p_adjusted=0.0002)).endswith("(adjusted p < 0.001, stability 90.0 %)")


def test_a_run_without_rows_has_no_leaders() -> None:
    assert summarise({}, BARE, NOTHING, 6, 12).leaders == ()
