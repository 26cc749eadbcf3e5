import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_behaviour, write_report
from reports.page import page as page_module
from reports.studies.behaviour.section import FOLDED, Examined, MinimalPairResults, behaviour
from reports.tables.scores import BEHAVIOUR

NAN = float("nan")
HOSTILE = '<b>&"|</script>`'


def line(corpus: str, level: str, accuracy: float, spread: float = 0.05, n: int = 200, **more: object) -> dict:
    low, high = (NAN, NAN) if math.isnan(accuracy) else (accuracy - spread, accuracy + spread)
    row = {"model": "speaker", "step": pd.NA, "corpus": corpus, "level": level, "attractors": pd.NA, "method": "masked"}
    row |= dict.fromkeys(("field", "phenomenon", "paradigm", "condition", "number"), "")
    row |= {"n": n, "clusters": n, "accuracy": accuracy, "ci_low": low, "ci_high": high, "near_ties": 1, "left_out": 0}
    return row | more


def rows() -> pd.DataFrame:
    """An invented corpus of agreement with two attractors at the most, and one of many paradigms."""
    attractors = [line("ships", "attractors", 0.9 - 0.3 * n, attractors=n) for n in range(3)]
    few = line("ships", "attractors", 0.1, n=5, attractors=3)
    numbers = [line("ships", "number", 0.8, number="singular"), line("ships", "number", 0.4, number="plural")]
    conditions = [line("ships", "condition", 0.5, paradigm="a", condition=name) for name in ("question", "main clause")]
    whole = line("ships", "corpus", 0.62, left_out=1234)
    paradigms = [
        line("many", "paradigm", 0.5, paradigm=HOSTILE if n == 0 else f"paradigm_{n}", method="pll")
        for n in range(FOLDED + 1)
    ]
    phenomena = [line("many", "phenomenon", value, phenomenon=f"island_{value}") for value in (0.3, 0.7)]
    extra = [line("many", "condition", 0.5, paradigm=f"paradigm_{n}", condition="c") for n in (1, 2)]
    other = [
        line("many", "corpus", 0.51, method="masked, pll"),
        line("many", "field", NAN, n=0, field="empty", method=""),
    ]
    return pd.DataFrame([whole, *attractors, few, *numbers, *conditions, *other, *paradigms, *phenomena, *extra])


@pytest.fixture
def found(run_folder: Path) -> MinimalPairResults:
    write_behaviour(rows(), run_folder)
    found = behaviour(Run.open(run_folder))
    assert found is not None
    return found


@pytest.fixture
def ships(found: MinimalPairResults) -> Examined:
    return found.corpora[0]


def test_a_run_without_pairs_has_no_section(written_run: Path, report: Path) -> None:
    assert behaviour(Run.open(written_run)) is None
    assert "Minimal pairs" not in (report / "index.html").read_text("utf-8")
    assert "Minimal pairs" not in (report / "report.md").read_text("utf-8")
    assert not (report / "figures" / "behaviour.png").exists()


def test_the_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = write_behaviour(rows(), tmp_path)
    frame = BEHAVIOUR.read(path)
    assert list(frame.columns) == list(BEHAVIOUR.names)
    assert frame.attractors.dtype == frame.step.dtype == "Int64"
    assert len(pd.read_csv(tmp_path / "behaviour.csv")) == len(frame) == len(rows())


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda frame: frame.assign(level="word"), "`level` is not one of corpus, field"),
        (lambda frame: frame.assign(ci_high=51.0), r"`ci_high` lies outside \[0, 1\] \(fractions, not percent\)"),
        (lambda frame: frame.assign(n=0), "n = 0 but `accuracy` is a number, not NaN"),
        (lambda frame: pd.concat([frame, frame[:1]]), "two rows have the same model, step, corpus, level"),
        (lambda frame: frame.drop(columns="number"), r"column\(s\) number missing"),
    ],
)
def test_what_cannot_be_said_about_pairs_is_refused(
    change: Callable[[pd.DataFrame], pd.DataFrame], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"behaviour.parquet: {complaint}"):
        write_behaviour(change(rows()), tmp_path)


def test_groupings_are_those_with_something_to_compare(found: MinimalPairResults) -> None:
    levels = {one.corpus: [part.level for part in one.groupings] for one in found.corpora}
    assert levels == {"ships": ["attractors", "number", "condition"], "many": ["phenomenon", "paradigm"]}
    attractors, *_ = found.corpora[0].groupings
    assert [row.name for row in attractors.rows] == ["no attractors", "1 attractor", "2 attractors", "3 attractors"]
    assert [row.name for row in found.corpora[1].groupings[0].rows] == ["island 0.3", "island 0.7"]


def test_a_verdict_follows_the_interval_and_needs_clusters(ships: Examined) -> None:
    rows = ships.groupings[0].rows
    assert [row.verdict for row in rows] == ["above chance", "above chance", "below chance", ""]
    assert ships.groupings[2].rows[0].verdict == "contains chance"


def test_the_sentence_compares_no_attractor_with_the_most_that_have_clusters(ships: Examined) -> None:
    assert ships.summary == (
        "The correct sentence is preferred in 62.0 % [57.0, 67.0] of 200 pairs: the interval lies above chance. "
        "Without attractors 90.0 % [85.0, 95.0] of 200, with 2 attractors: 30.0 % [25.0, 35.0] of 200. Pairs left "
        "out: 1,234."
    )


def test_nothing_decided_is_said(run_folder: Path) -> None:
    write_behaviour(pd.DataFrame([line("ships", "corpus", NAN, n=0, left_out=7, method="")]), run_folder)
    found = behaviour(Run.open(run_folder))
    assert found is not None
    assert found.corpora[0].summary == "Nothing was decided; pairs left out: 7."


def test_only_methods_that_were_used_are_explained(found: MinimalPairResults, run_folder: Path) -> None:
    assert [name for name, _ in found.methods] == ["masked", "pll"]
    write_behaviour(rows()[:3], run_folder)
    again = behaviour(Run.open(run_folder))
    assert again is not None
    assert [name for name, _ in again.methods] == ["masked"]


def test_the_last_step_is_shown(run_folder: Path) -> None:
    frame = pd.concat([rows()[:1].assign(step=0, accuracy=0.5), rows()[:1].assign(step=400)])
    write_behaviour(frame, run_folder)
    found = behaviour(Run.open(run_folder))
    assert found is not None
    assert found.corpora[0].whole.accuracy == 0.62


@pytest.mark.slow
@pytest.mark.figures("behaviour")
def test_page_and_markdown_hold_every_row_and_the_figure(
    found: MinimalPairResults, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "_probe_saves", lambda *words: {})
    write_report(run_folder)
    page = (run_folder / "report" / "index.html").read_text("utf-8")
    text = (run_folder / "report" / "report.md").read_text("utf-8")
    assert "<b>&" not in page[page.index('id="behaviour"') :]
    assert '<a href="#behaviour">' in page
    shown = sum(len(part.rows) for one in found.corpora for part in one.groupings)
    section = text[text.index("## Minimal pairs") : text.index("## Best heads")]
    assert section.count("\n| ") == 2 * (shown + 5), (
        "a line a row, and a head a table, each in two tables of eight columns at most"
    )
    assert page.count("of 200 pairs") == 2
    assert "<summary>By paradigm: 16 rows</summary>" in page
    assert "![Accuracy on minimal pairs with intervals, and the line of chance](figures/behaviour.png)" in text
    drawn = dict(found.drawn)
    assert [row.name for row in drawn["many"]] == ["all pairs", "island 0.3", "island 0.7"], (
        "what is folded is not drawn"
    )
    for suffix in ("png", "pdf"):
        assert (run_folder / "report" / "figures" / f"behaviour.{suffix}").stat().st_size > 5000


def test_numbers_are_those_of_the_table(ships: Examined) -> None:
    frame = rows()
    expected = frame[(frame.corpus == "ships") & (frame.level == "attractors")]
    shown = ships.groupings[0].rows
    np.testing.assert_allclose([row.accuracy for row in shown], expected.accuracy)
    np.testing.assert_allclose([row.ci_low for row in shown], expected.ci_low)
    assert [row.n for row in shown] == expected.n.tolist()
