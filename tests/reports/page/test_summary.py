"""The first screen says what the numbers of a run say, in words, and what was not measured."""

import dataclasses
import math
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from reports.formats import escaped
from reports.measures.reported import Reported
from reports.page.effects_in_words import UNMEASURED, lost_without, mattering
from reports.page.page_model import gather
from reports.page.summary import Opening, _beside, opening
from reports.run.folder import RunFolder
from reports.run.record import CorpusFacts, RunRecord
from reports.scores.best_heads import CLASSIFIER, BestHead, best_head
from reports.scores.plain_names import guess, task
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Finds, Verdicts
from reports.templates.environment import environment

RECORD = RunRecord(
    corpora={
        "select": CorpusFacts("one", sentences=1000),
        "report": CorpusFacts("two", sentences=500, documents=64),
    }
)
RUN: Any = SimpleNamespace(record=RECORD, tables={}, last=lambda table: pd.DataFrame())
FOUND = Finds("dependency", {"yes": 1, "no": 1, "undecided": 2}, {"3-1": 1, "1-1": 2})
UNASKED = Verdicts(RunThresholds(), ())


def row(**more: Any) -> BestHead:
    known = {"probe": "dependency", "label": "obj", "variant": "dependent->head", "name": "3-1", "layer": 2, "head": 0}
    known |= {"n": 672, "clusters": 60, "effective_clusters": 48.5, "accuracy": 0.725}
    known |= {"baseline": "offset", "baseline_accuracy": 0.354, "stability": 0.96}
    known |= {"margin": 0.371, "margin_low": 0.321, "margin_high": 0.42, "p_adjusted": 0.0002}
    return best_head(known | {"specialised": True, "grade": 1, "verdict": "yes"} | more)


def told(rows: list[BestHead], verdicts: Verdicts, run: Any = RUN) -> Opening:
    return opening({"dependency": rows}, run, verdicts, 72)


def test_what_roles_explain_follows_where_the_run_measured_it() -> None:
    verdicts = Verdicts(RunThresholds(), (FOUND,))
    heads = pd.DataFrame({"scope": "sentence", "name": ["1-1"], "explained": [0.123], "explained_random": [math.nan]})
    with_it = told([row()], verdicts, SimpleNamespace(**vars(RUN) | {"tables": {"heads": heads}})).results
    assert with_it[:-1] == told([row()], verdicts).results
    assert "the relations explain 12.3 % of the attention between words" in with_it[-1]


def test_a_specialised_head_is_told_in_plain_words_with_its_rival_and_interval() -> None:
    one = row(lexical_accuracy=0.6, rule_accuracy=0.922)
    said = told([one], Verdicts(RunThresholds(), (FOUND,)))
    assert said.results == (
        "Heads by highest grade in a role of language: 0 beyond grammar rules, 1 beyond words, 1 beyond position and "
        "controls, of 72.",
        "Does any head have a grade? Of 4 label–direction pairs (pooled labels, subsets and position not counted): "
        "1 yes, 1 no, 2 undecided.",
        "A grade is tested: the head leads every baseline of the grade by more than 5 points (adjusted p below 0.05). "
        "Accuracy, mass and precision are reported, not tested.",
    )
    (leader,) = said.leaders
    assert (leader.name, leader.does) == ("3-1", "attends from an object to its verb")
    assert leader.numbers == (
        "accuracy 72.5 % (n = 672), +37.1 points [+32.1, +42.0] against the strongest baseline or control, a fixed "
        "offset (35.4 %): grade 1: beyond position and controls. Lexical table 60.0 % (lower), rule of "
        "grammar 92.2 % (higher)."
    )
    assert (
        leader.beside == "accuracy 72.5 %, baselines and controls 35.4 %, lexical table 60.0 %, rule of grammar 92.2 %."
    )
    assert "circle" in leader.drawing
    assert "hollow" not in leader.drawing
    assert leader.without == ""
    assert said.effects == (UNMEASURED,)
    assert said.effect == "Causal effects were not measured."
    assert said.scope == "72 heads, 1 probe, 1 label–direction pairs, 64 held-out documents."
    assert said.headline == "2 of 72 heads are specialised in a role of language."


def test_where_none_is_specialised_the_nearest_is_told_with_the_reason() -> None:
    nothing = Verdicts(RunThresholds(0.05, 0.2), (dataclasses.replace(FOUND, grades={}),))
    missed = {"specialised": False, "grade": 0, "p_adjusted": 0.31, "margin": 0.15}
    said = told([row(**missed)], nothing)
    assert "0 beyond grammar rules, 0 beyond words, 0 beyond position and controls, of 72" in said.results[0]
    assert said.results[2] == (
        "The margin with the highest lower end is that of head 3-1 in obj (dependent->head): a lead of more than 20 "
        "points is not significant (adjusted p 0.310, not below 0.05)."
    )
    assert "Stability of selection" not in dict(said.uncertainty)
    assert said.headline == "None of 72 heads is specialised in a role of language."
    assert "hollow" in said.leaders[0].drawing
    assert (
        told([row(**missed)], dataclasses.replace(nothing, finds=())).results[0].startswith("Nothing on this page was")
    )


def test_how_sure_it_is_names_splits_correction_and_stability() -> None:
    rows = [row(), row(label="det", stability=0.5)]
    said = dict(told(rows, Verdicts(RunThresholds(0.01), (FOUND,))).uncertainty)
    assert list(said) == ["Held-out evaluation", "Multiple testing", "Stability of selection", "Margins"]
    assert said["Held-out evaluation"].startswith(
        "Heads were selected on one (1,000 sentences) and evaluated on two (500 sentences), 64 documents."
    )
    assert "for all labels and directions of the run" in said["Multiple testing"]
    assert "the false discovery rate over label–direction pairs is at most 1 %" in said["Multiple testing"]
    assert (
        "selected: graded heads 73.0 % (median; minimum 50.0 %), all label–direction pairs 73.0 % (median"
        in said["Stability of selection"]
    )


def test_intervals_of_margins_above_below_and_around_0_are_counted() -> None:
    margins = ((0.1, 0.3), (0.2, 0.4), (-0.3, -0.1), (-0.1, 0.3), (math.nan, math.nan))
    rows = [row(label=str(nth), margin_low=low, margin_high=high) for nth, (low, high) in enumerate(margins)]
    said = dict(told([*rows, row(n=0, baseline="")], Verdicts(RunThresholds(), (FOUND,))).uncertainty)
    assert said["Margins"] == (
        "The 95 % interval of the margin over the strongest baseline or control lies above 0 in 2 of 4 pairs, below 0 "
        "in 1 and contains 0 in 1 (not corrected)."
    )
    assert said["Nothing to score"].endswith("shown as “–”: 1.")


def test_selective_classifiers_are_counted() -> None:
    best = {"dependency": [row()], CLASSIFIER: [row(margin_low=0.1), row(margin_low=-0.1)]}
    said = opening(best, RUN, Verdicts(RunThresholds(), (FOUND,)), 72).results
    assert said[-1] == "In 1 of 2 trained classifiers the interval of the selectivity lies above 0."


def test_few_documents_and_missing_controls_are_said() -> None:
    rows = [row(), row(label="det", n=100), row(label="amod", effective_clusters=19.9)]
    weak = Verdicts(RunThresholds(controlled=False), (FOUND,))
    said = dict(told(rows, weak).uncertainty)
    assert said["Few documents"].startswith("1 label–direction pairs have an effective number of documents below 20")
    assert said["No controls"].startswith("A model without knowledge")
    few = told([row(effective_clusters=5.0)], weak)
    assert dict(few.uncertainty)["Few documents"].startswith(
        "All label–direction pairs have an effective number of documents below 20"
    )
    assert few.leaders == ()


def test_what_measures_say_of_effects_is_told_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [*mattering(RUN, UNASKED)] == [UNMEASURED]
    assert lost_without("3-1", RUN) == ""

    class Silent(Reported):
        pass

    class Telling(Reported):
        @classmethod
        def effects(cls, run: RunFolder, verdicts: Verdicts) -> Iterable[str]:
            return ("One.", "Two.")

        @classmethod
        def without(cls, run: RunFolder, head: str) -> str:
            return f"Without {head} all is lost."

    monkeypatch.setattr("reports.page.effects_in_words.measures", lambda: (Silent, Telling, Telling))
    assert [*mattering(RUN, UNASKED)] == ["One.", "Two.", "One.", "Two."]
    said = told([row()], Verdicts(RunThresholds(), (FOUND,)))
    assert (said.effect, said.leaders[0].without) == ("One.", "Without 3-1 all is lost.")


def test_names_from_a_corpus_stay_text_on_the_first_screen() -> None:
    hostile, verdicts = "<script>alert(1)</script>|*", Verdicts(RunThresholds(), (FOUND,))
    rows = [row(label=hostile, baseline=hostile)]
    page = SimpleNamespace(opening=told(rows, verdicts), verdicts=verdicts)
    html = environment().get_template("opening.html.j2").render(content=page)
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(1)") >= 2
    made = environment(html=False)
    made.filters["md"] = escaped
    assert "<script" not in made.get_template("opening.md.j2").render(content=page)


def test_what_has_no_plain_name_is_shown_as_it_is() -> None:
    assert task("dependency", "<b>:x", "dependent->head") == "attends from a dependent to the head (<b>:x)"
    assert task("dependency", "nsubj:pass", "head<-dependent") == "attends to a passive subject most from its verb"
    assert task("position", "[CLS]", "all tokens") == "attends to [CLS]"
    assert (
        task("coreference", "proper", "all words")
        == "attends from a name to another mention of the same entity (candidates: all other words)"
    )
    assert (
        task("preposition", "verb", "object->preposition")
        == "attends from the object of a preposition to the preposition (phrase governed by a verb)"
    )
    assert task("sense", "all", "noun->cue or rival").endswith("not to a distractor")
    assert (guess("random weights 2"), guess("own rule")) == (
        "the best head with randomly initialised weights",
        "own rule",
    )


def test_the_first_screen_has_at_most_120_words(run_folder: Path) -> None:
    shown = gather(run_folder).opening
    findings = [f"Head {leader.name} {leader.does}: {leader.beside}" for leader in shown.findings]
    assert len(findings) == 3
    assert len(" ".join(["Summary", shown.scope, shown.headline, *findings, shown.effect]).split()) <= 120


@pytest.mark.parametrize(
    ("undecided", "no", "said"),
    [
        (3, 2, "Most label–direction pairs are undecided: this does not show that there is none."),
        (2, 2, ""),
        (0, 3, ""),
    ],
)
def test_no_specialised_head_among_undecided_pairs_is_no_proof_that_there_is_none(
    undecided: int, no: int, said: str
) -> None:
    finds = (Finds("dependency", {"yes": 0, "no": no, "undecided": undecided}, {}),)
    assert Verdicts(RunThresholds(), finds).undecided == said


def test_a_baseline_that_looks_the_same_in_percent_is_called_equal() -> None:
    assert [_beside(baseline, 0.86666) for baseline in (0.8667, 0.868, 0.86)] == ["equal", "higher", "lower"]


def test_without_controls_nothing_is_said_to_be_beyond_them() -> None:
    said = told([row()], Verdicts(RunThresholds(controlled=False), (FOUND,)))
    (leader,) = said.leaders
    assert leader.beside == "accuracy 72.5 %, baselines 35.4 %."
    assert leader.numbers.endswith("against the strongest baseline, a fixed offset (35.4 %): grade 1: beyond position.")
    assert "1 beyond position, of 72." in said.results[0]
    assert "control" not in " ".join([*said.results, dict(said.uncertainty)["Margins"]])


def test_where_nothing_could_be_tested_the_reason_is_told() -> None:
    nothing = Verdicts(RunThresholds(), ())
    untested = {"grade": 0, "specialised": False, "p_adjusted": math.nan}
    assert told([row(**untested, baseline="")], nothing).headline == "Nothing was tested: no label has a baseline."
    one = told([row(**untested, clusters=1, effective_clusters=1.0)], nothing)
    assert (
        one.headline
        == "Nothing was tested: no label has items in two documents of the report split and in the selection split."
    )
    assert "baseline" not in one.results[0]
