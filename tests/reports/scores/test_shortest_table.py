"""The table that says first which heads do what: its words, numbers and verdicts."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports import Run
from reports.run.record import RunRecord
from reports.scores.best_heads import BestHead, best_head
from reports.scores.shortest_table import answers, shortest_table, verdict
from reports.scores.thresholds import RunThresholds


def row(**more: Any) -> BestHead:
    known = {"probe": "dependency", "label": "obj", "variant": "dependent->head", "name": "3-1", "n": 672}
    known |= {
        "clusters": 60,
        "effective_clusters": 48.5,
        "accuracy": 0.725,
        "ci_low": 0.69,
        "ci_high": 0.761,
        "baseline": "offset",
    }
    known |= {"baseline_accuracy": 0.354, "margin_low": 0.321, "p_adjusted": 0.0002, "grade": 1}
    return best_head(known | {"specialised": True, "verdict": "yes"} | more)


def cells(*rows: BestHead, **rule: Any) -> list[tuple[str, ...]]:
    return [*answers("", rows, RunThresholds(**rule), RunRecord())]


def test_a_row_says_in_words_what_a_head_does_how_accurately_beside_what_and_the_verdict() -> None:
    assert cells(row()) == [
        ("from an object to its verb", "3-1", "72.5 [69.0, 76.1]", "35.4 a fixed offset", "specialised")
    ]
    (control,) = cells(row(baseline="random weights"))
    assert control[3] == "35.4 random weights"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"rule_accuracy": 0.922}, "specialised, but a rule of grammar finds 92.2 %"),
        (
            {"rule_accuracy": 0.8, "lexical_accuracy": 0.9},
            "specialised, but a table of words and distances finds 90.0 %",
        ),
        ({"rule_accuracy": 0.7, "lexical_accuracy": 0.72504}, "specialised"),
        ({"specialised": False, "probe": "position", "label": "previous"}, "significant"),
        ({"grade": 0, "verdict": "no"}, "no head is significant"),
        ({"grade": 0, "verdict": "undecided", "holds": 0.9}, "borderline"),
        ({"grade": 0, "verdict": "undecided", "holds": 0.05}, "undecided"),
        (
            {"grade": 0, "verdict": "no", "lexical_accuracy": 0.9},
            "no head is significant; a table of words and distances finds 90.0 %",
        ),
        ({"grade": 0, "others": ("1-2", "1-3")}, "not significant; head 1-2 is"),
        ({"grade": 0, "p_adjusted": math.nan}, "not tested"),
    ],
)
def test_a_verdict_is_plain_and_names_what_finds_more_than_the_head(more: dict[str, Any], said: str) -> None:
    ((*_, found),) = cells(row(**more))
    assert found == said
    assert found.startswith(verdict(row(**more)))
    note = answers("", [row(**more)], RunThresholds(), RunRecord()).note
    assert ("Borderline: under some redraws." in note) == (said == "borderline")


def test_without_controls_none_is_named_and_few_documents_are_marked() -> None:
    made = answers("", [row(effective_clusters=12.0)], RunThresholds(controlled=False), RunRecord())
    assert made.titles[3] == "strongest baseline, %"
    assert "the strongest baseline," in made.note
    assert made.texts[0][2] == "⚠ 72.5 [69.0, 76.1]"


def test_the_table_of_a_run_has_the_numbers_of_its_scores_and_positions_last(run: Run) -> None:
    found = shortest_table(run)
    assert 4 < len(found) <= 12
    position = (found.frame["probe"] == "position").tolist()
    assert position == sorted(position)
    chosen = run.scores[(run.scores["split"] == "report") & run.scores["selected"]]
    known = chosen.set_index(["probe", "label", "variant"])["accuracy"].to_dict()
    for one in found.frame.itertuples():
        assert one.accuracy == known[one.probe, one.label, one.variant]
    assert {"nsubj", "obj"} <= {*found.frame["label"]}, "also where no head is significant"


def test_few_documents_and_probes_without_an_item_are_explained(written_run: Path) -> None:
    run = Run.open(written_run)
    scored = [*dict.fromkeys(run.scores["probe"])]
    few = replace(run, scores=run.scores.assign(effective_clusters=19.0), config=f"probes.names={[*scored, 'gap']}")
    enough = replace(run, scores=run.scores.assign(effective_clusters=20.0), config=f"probes.names={scored}")
    assert "⚠: fewer than 20 documents" in shortest_table(few).note
    assert "The corpora have no items for gap:" in shortest_table(few).note
    assert "⚠" not in shortest_table(enough).note
    assert "no items" not in shortest_table(enough).note
