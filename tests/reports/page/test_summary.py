"""The first screen reports the numbers of a run in words, and what was not measured."""

import dataclasses
import math
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from reports.measures.reported import Reported
from reports.page.summary import UNMEASURED, Opening, opening
from reports.run.folder import RunFolder
from reports.run.record import CorpusFacts, RunRecord
from reports.scores.best_heads import CLASSIFIER, BestHead, best_head
from reports.scores.controls import ComparedBaseline
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Finds, Verdicts
from reports.templates.environment import environment

RECORD = RunRecord(
    corpora={
        "select": CorpusFacts("one", sentences=1000),
        "report": CorpusFacts("two", sentences=500, documents=64),
    }
)
RUN: Any = SimpleNamespace(record=RECORD, tables={}, last=lambda table: pd.DataFrame(), layers=6, heads=12)
CONTROLS = [ComparedBaseline("random weights", "", 0, True), ComparedBaseline("offset", "", 3, False)]
FOUND = Finds("dependency", {"yes": 1, "no": 1, "undecided": 2}, {"3-1": 1, "1-1": 2})


def row(**more: Any) -> BestHead:
    known = {"probe": "dependency", "label": "obj", "variant": "dependent->head", "name": "3-1", "layer": 2, "head": 0}
    known |= {"n": 672, "clusters": 60, "effective_clusters": 48.5, "accuracy": 0.725}
    known |= {"baseline": "offset", "baseline_accuracy": 0.354, "stability": 0.96, "holds": 1.0}
    known |= {"margin": 0.371, "margin_low": 0.321, "margin_high": 0.42, "p_adjusted": 0.0002}
    return best_head(known | {"specialised": True, "grade": 1, "verdict": "yes"} | more)


def told(rows: list[BestHead], found: Finds = FOUND, run: Any = RUN, **rule: Any) -> Opening:
    return opening({"dependency": rows}, run, Verdicts(RunThresholds(**rule), (found,)), CONTROLS)


def test_the_first_screen_counts_heads_and_says_on_what_and_beside_what_they_were_evaluated() -> None:
    said = told([row(lexical_accuracy=0.6, rule_accuracy=0.922)])
    assert said.headline == (
        "2 of 72 heads are specialised in a linguistic role. 1 of them beats a table of words and distances, "
        "none also every rule of grammar."
    )
    assert [one[0] for one in said.table] == ["from an object to its verb"]
    assert said.table.note == (
        "Accuracy [95 % interval]: how often the right word gets most attention. Selected on one (1,000 sentences), "
        "evaluated on two (500 sentences, 64 documents). Significant: over 5 points above the strongest baseline or "
        "control, corrected for all tests; specialised: that in a linguistic role."
    )
    assert (said.controls, said.uncontrolled) == ("Controls: random weights.", "")
    assert (said.effects, said.effect) == ((UNMEASURED,), "Causal effects: unmeasured.")
    assert said.results == (
        "Linguistic labels and directions, without pools and subsets: 4; a head is significant in 1, no head in 1 (by "
        "a test), and 2 are undecided.",
    )
    assert said.scope == "72 heads, 1 probe, 1 labels and directions, 64 held-out documents."


def test_where_no_head_exceeds_word_pairs_the_headline_says_so() -> None:
    first = dataclasses.replace(FOUND, grades={"3-1": 1, "1-1": 1})
    said = told([row(lexical_accuracy=0.6)], first, margin=0.1)
    assert said.headline.endswith("None of the 2 is shown to beat a table of words and distances by 10 points.")
    assert told([row(lexical_accuracy=0.6)], dataclasses.replace(FOUND, grades={"3-1": 1})).headline == (
        "1 of 72 heads is specialised in a linguistic role. It is not shown to beat a table of words and "
        "distances by 5 points."
    )


def test_nothing_is_said_of_tables_and_rules_that_no_role_with_a_specialised_head_has() -> None:
    first = dataclasses.replace(FOUND, grades={"3-1": 1})
    assert told([row()], first).headline.endswith("in a linguistic role."), "a run without such a table"
    elsewhere = [row(label="det", lexical_accuracy=0.9, grade=0, verdict="no"), row(probe="repetition")]
    assert told(elsewhere, first).headline.endswith("in a linguistic role."), "a table of another role"
    without_a_rule = told([row(lexical_accuracy=0.6)]).headline
    assert without_a_rule.endswith("1 of them beats a table of words and distances.")


def test_where_none_is_specialised_the_nearest_has_results_with_the_reason() -> None:
    missed = row(specialised=False, grade=0, p_adjusted=0.31, margin=0.15)
    said = told([missed], dataclasses.replace(FOUND, grades={}), margin=0.2)
    assert said.results[1] == (
        "Head 3-1 comes nearest, from an object to its verb: more than 20 points above every baseline is not "
        "significant (adjusted p 0.310, not below 0.05)."
    )
    assert said.headline == "None of 72 heads is specialised in a linguistic role."
    few = dataclasses.replace(FOUND, grades={"3-1": 1}, borderline=frozenset({"1-2", "1-3"}))
    said = told([row()], few)
    assert said.headline.startswith("1 of 72 heads is specialised in a linguistic role, 2 more borderline.")


def test_uncertainty_counts_stable_selections_and_few_documents() -> None:
    rows = [row(), row(label="few", effective_clusters=19.9, stability=0.5), row(label="det", stability=0.97)]
    said = dict(told(rows, alpha=0.01).uncertainty)
    assert "at most 1 %" in said["Multiple testing"]
    assert "of significant heads 96.0 % (median; minimum 50.0 %)" in said["Stability of selection"]
    assert said["Few documents"].startswith("1 labels and directions have fewer than 20 effective documents (⚠)")
    best = {"dependency": [row()], CLASSIFIER: [row(margin_low=0.1), row(margin_low=-0.1)]}
    trained = opening(best, RUN, Verdicts(RunThresholds(), (FOUND,)), CONTROLS).results[-1]
    assert trained == "In 1 of 2 trained classifiers the interval of the selectivity lies above 0."


def test_what_measures_say_of_effects_has_results_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    class Telling(Reported):
        @classmethod
        def effects(cls, run: RunFolder, verdicts: Verdicts) -> Iterable[str]:
            return ("One.", "Two.")

        @classmethod
        def without(cls, run: RunFolder, head: str) -> str:
            return f"Without {head} all is lost."

    monkeypatch.setattr("reports.page.summary.measures_of", lambda run: (Reported, Telling, Telling))
    said = told([row()])
    assert said.effects == ("One.", "Two.", "One.", "Two.", "Head 3-1: Without 3-1 all is lost.")
    assert said.effect == "One."
    assert said.first_effects == said.effects
    monkeypatch.setattr("reports.page.summary.EFFECT_WORDS", 3)
    assert said.first_effects == ("One.", "Two.", "One.")


def test_names_from_a_corpus_stay_text_on_the_first_screen() -> None:
    hostile = "<script>alert(1)</script>|*"
    rows = [row(label=hostile, baseline=hostile)]
    html = environment().get_template("opening.html.j2").render(content=told(rows))
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(1)") == 2, "what the head does, and its baseline"


def test_without_controls_nothing_is_said_to_be_beyond_them() -> None:
    verdicts = Verdicts(RunThresholds(controlled=False), (FOUND,))
    said = opening({"dependency": [row()]}, RUN, verdicts, CONTROLS[1:])
    assert "above the strongest baseline, corrected" in said.table.note
    assert said.controls == said.uncontrolled == "No controls: an untrained model might do as well."
    assert "control" not in " ".join([*said.results, *dict(said.uncertainty).values()])


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"baseline": ""}, "no label has a baseline."),
        ({"clusters": 1, "effective_clusters": 1.0}, "no label has items in two documents of the report split and in"),
    ],
)
def test_where_nothing_could_be_tested_the_reason_has_results(more: dict[str, Any], why: str) -> None:
    untested = row(grade=0, specialised=False, p_adjusted=math.nan, **more)
    said = opening({"dependency": [untested]}, RUN, Verdicts(RunThresholds(), ()), CONTROLS)
    assert said.headline.startswith(f"Nothing was tested: {why}")
    assert said.results[0].startswith("Nothing on this page was tested")
