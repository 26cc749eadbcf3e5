"""Importance, pruning and gates as parts of a run: tables, halves, options, and errors before anything is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.measures.gates import GATES, PATHS, GatesMeasure
from experiments.measures.importance import IMPORTANCE, TAYLOR, ImportanceMeasure
from experiments.measures.pruning import AREAS, MIGRATION, PRUNING, PruningMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from probes.causal.behaviours import BehaviourError
from reports import Run
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Finds, Verdicts
from reports.tables.table import Table
from tests.experiments.measures.conftest import told
from tests.experiments.measures.pages import ONE_RUN, of_heads


@pytest.mark.slow
def test_pruning_tells_curves_areas_and_who_is_best_after(scored: Callable[..., Run]) -> None:
    found = scored('pruning={behaviours=["embedding"], items=20, draws=2, step=0.25}')
    curve, areas, migration = (found.tables[name] for name in ("pruning", "pruning_areas", "migration"))
    assert curve.removed.unique().tolist() == [0, 1, 2, 3, 4]
    assert {*zip(curve.order, curve.draw, strict=True)} == {
        ("cost", 0),
        ("importance", 0),
        ("random", 1),
        ("random", 2),
    }
    np.testing.assert_allclose(curve[curve.removed == 0].value, 1, atol=1e-6)
    assert curve.n.max() < 20, "of one half of the items"
    np.testing.assert_allclose(areas.gain, areas.area - areas.random_area)
    assert set(migration.removed) == {2}
    asked = found.scores[found.scores.split == "report"]
    for one in migration.to_dict("records"):
        own = asked[(asked.label == one["label"]) & (asked.variant == one["variant"])].set_index("name").accuracy
        assert own[one["best"]] == pytest.approx(one["best_accuracy"])
        assert own[one["kept"]] == pytest.approx(one["kept_accuracy"])
    assert len({*migration.kept, *migration.after}) <= 2


def test_what_cannot_be_measured_is_said_before_anything_is_read(base: Path, tmp_path: Path) -> None:
    for change, error, said in (
        ('gates={behaviours=["embedding"], weights=true}', BehaviourError, "weights = false"),
        ('gates={behaviours=["embedding"], prices=[0.1, 0.1]}', ConfigError, "different numbers of 0 or more"),
        ('gates={behaviours=["embedding"], prices=[-0.1]}', ConfigError, "different numbers of 0 or more"),
    ):
        with pytest.raises((error, BehaviourError), match=said):
            run(load_config(base, (change,)), tmp_path)


ABOUT: dict[str, Any] = {**ONE_RUN, "behaviour": "made-pairs", "unit": "nats", "n": 40, "clusters": 12}
ONE = np.arange(72) == 12
"Head 2-1."


def row(table: Table, **given: Any) -> pd.DataFrame:
    return pd.DataFrame([{**table.missing, **ABOUT, **given}])


@pytest.fixture
def weighed(measured: Callable[..., Run]) -> Run:
    """Return a run in which head 2-1 is the most important by far."""
    size = np.where(ONE, 50, np.arange(1, 73) / 10)
    numbers = {"importance": size, "ci_low": size - 0.1, "ci_high": size + 0.1, "of_layer": 0.5}
    correlations = {f"{one}{end}": 0.5 for one in ("spearman", "pearson") for end in ("", "_low", "_high")}
    return measured(
        importance=of_heads(IMPORTANCE, 6, 12, **{**ABOUT, **numbers}, predicted=-size, cost=size),
        taylor=row(TAYLOR, series="first order", heads=72, **correlations),
    )


def test_the_most_important_heads_come_first_with_both_costs(weighed: Run) -> None:
    text = told(ImportanceMeasure, weighed)
    assert "| 2-1 | 50.00 [49.90, 50.10] | 0.50 | -50.00 | 50.00 |" in text
    assert "rank correlation of 0.50 [0.50, 0.50]" in text
    assert "Only 12 clusters" in text
    importance = next(ImportanceMeasure.maps(weighed)).values
    assert np.nanmax(importance) == importance[1][0] == 50


def test_the_first_screen_tells_how_many_important_heads_are_specialised(weighed: Run) -> None:
    finds = (Finds("dependency", {"yes": 1, "no": 1, "undecided": 0}, {"2-1": 1, "1-1": 1}),)
    (said,) = ImportanceMeasure.effects(weighed, Verdicts(RunThresholds(), finds))
    assert said.endswith("specialised in a linguistic role: 1 of 8 (made-pairs); of all heads 2 of 72.")
    (said,) = ImportanceMeasure.effects(weighed, Verdicts(RunThresholds(), (Finds("position", {"yes": 1}, {}),)))
    assert said.startswith("Gradient importance was measured; no linguistic role was tested")


def curves() -> pd.DataFrame:
    points = [
        row(PRUNING, measure="value", order=order, draw=draw, removed=removed, heads=72, value=draw * removed / 72)
        for order, draw in (("importance", 0), ("cost", 0), ("random", 1), ("random", 2))
        for removed in (0, 36, 72)
    ]
    return pd.concat(points)


def test_curves_have_the_range_of_random_orders(measured: Callable[..., Run]) -> None:
    area = {"measure": "accuracy", "unit": "share of pairs", "order": "importance", "area": 0.9, "random_area": 0.45}
    area |= {"random_least": 0.225, "random_most": 0.54, "gain": 0.45, "ci_low": 0.3, "ci_high": 0.63}
    run = measured(pruning=curves(), pruning_areas=row(AREAS, **area))
    (charts,) = (block.charts for block in PruningMeasure.page(run) if hasattr(block, "charts"))
    assert [one.title for one in charts] == ["made-pairs (nats)"]
    band, line, _ = charts[0].spec["layer"]
    assert {point["series"] for point in band["data"]["values"]} == {"at random, with range"}
    last = [point for point in line["data"]["values"] if "range" in point["series"]][-1]
    assert (last["x"], last["value"], last["low"], last["high"]) == (100, 1.5, 1, 2)
    assert "| by importance | 90.0 | 45.0 (22.5 to 54.0) | 45.0 [30.0, 63.0] |" in told(PruningMeasure, run)


def test_migration_counts_lost_and_other_heads_the_surest_first(measured: Callable[..., Run]) -> None:
    numbers = {"best_accuracy": 0.9, "kept_accuracy": 0.5, "after_accuracy": 0.7, "change": 0.2, "removed": 3}
    shared = {"probe": "dependency", "variant": "dependent->head", "best": "1-1", "kept": "2-1", "heads": 72, **numbers}
    moved = row(MIGRATION, **shared, label="nsubj", after="2-2", ci_low=0.1, ci_high=0.3)
    same = row(MIGRATION, **shared, label="obj", after="2-1", stays=True, ci_low=-0.1, ci_high=0.6)
    text = told(PruningMeasure, measured(pruning=curves(), migration=pd.concat([same, moved])))
    assert "1 of 2 labels have lost their best head" in text
    assert "best one of 1 labels is another" in text
    assert "for 1 labels it is better than the best of them was before, for 0 worse" in text
    first = "dependency: nsubj, dependent->head | 40 | 1-1 (out), 90.0 | 2-1, 50.0 | 2-2, 70.0 | +20.0 [+10.0"
    assert text.index(first) < text.index("obj, dependent->head")


def test_survivors_are_named_with_their_roles(measured: Callable[..., Run]) -> None:
    prices = ((0.01, 2), (0.1, 1), (1.0, 0))
    gates = [of_heads(GATES, 6, 12, **ABOUT, price=price, gate=0.75 * ONE * (left > 0)) for price, left in prices]
    paths = [row(PATHS, measure="value", price=price, left=left, heads=72) for price, left in prices]
    run = measured(gates=pd.concat(gates), gate_paths=pd.concat(paths))
    text = told(GatesMeasure, run)
    assert "The 1 head left at a price of 0.1, and what they attend to" in text
    assert "| 2-1 | 0.75 |" in text
    assert all(f"{left} of 72" in text for _, left in prices)
    titles = [one.title for one in GatesMeasure.maps(run)]
    assert titles == [f"gates for made-pairs, price {price}" for price in ("0.01", "0.1", "1")]


@pytest.mark.slow
def test_gates_are_told_for_every_price(scored: Callable[..., Run]) -> None:
    asked = 'gates={behaviours=["embedding"], items=20, prices=[0.0, 10.0], steps=30, rate=0.2}'
    found = scored(asked).tables
    gates, paths = found["gates"], found["gate_paths"]
    assert paths.price.tolist() == [0.0, 10.0]
    assert paths.left.tolist() == [(gates[gates.price == price].gate > 0).sum() for price in (0.0, 10.0)]
    assert paths.left[0] > paths.left[1]
    assert (gates[gates.price == 10].gate == 0).all()
