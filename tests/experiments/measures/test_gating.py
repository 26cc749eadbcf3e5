"""Importance, pruning and gates as parts of a run: tables, halves, options, and errors before anything is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.measures.gates import GatesMeasure
from experiments.measures.importance import ImportanceMeasure
from experiments.measures.pruning import PruningMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Encoder, export_encoder
from mha.models.folders import ModelError
from mha.planted.heads import word_model
from mha.training.vocabulary import save_tokenizer
from probes.causal.behaviours import BehaviourError
from probes.grammar import generate
from reports import Run
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Finds, Verdicts
from tests.experiments.measures.conftest import told

Scored = Callable[..., Run]
WEIGHED = ('importance={behaviours=["embedding"], items=20, directions=3}',)
PRUNED = ('pruning={behaviours=["embedding"], items=20, draws=2, step=0.25}',)
GATED = ('gates={behaviours=["embedding"], items=20, prices=[0.0, 10.0], steps=30, rate=0.2}',)


@pytest.mark.slow
def test_importance_of_all_heads_stands_beside_their_cost(scored: Scored) -> None:
    found = scored(*WEIGHED)
    table, taylor = found.tables["importance"], found.tables["taylor"]
    assert table.name.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert set(table.behaviour) == {"sentence embedding"}
    assert set(table.corpus) == {"grammar-2"}
    assert (table.importance > 0).all()
    assert (table.cost > 0).all()
    assert taylor.series.tolist() == ["second order"]
    assert -1 <= taylor.spearman[0] <= 1
    pd.testing.assert_frame_equal(found.scores, scored().scores, check_exact=True)


@pytest.mark.slow
def test_directions_items_and_taylor_are_heard(scored: Scored) -> None:
    plain = scored(*WEIGHED).tables["importance"]
    off = scored(*WEIGHED, "importance.taylor=false").tables
    assert "taylor" not in off
    assert off["importance"].cost.isna().all()
    pd.testing.assert_series_equal(off["importance"].importance, plain.importance, check_exact=True)
    for change in ("importance.directions=4", "importance.items=10"):
        changed = scored(*WEIGHED, change).tables["importance"]
        assert not np.allclose(changed.importance, plain.importance)
    assert (scored(*WEIGHED, "importance.items=10").tables["importance"].n <= 10).all()


@pytest.mark.slow
def test_pruning_tells_curves_areas_and_who_is_best_after(scored: Scored) -> None:
    found = scored(*PRUNED)
    curve, areas, migration = (found.tables[name] for name in ("pruning", "pruning_areas", "migration"))
    assert curve.removed.unique().tolist() == [0, 1, 2, 3, 4]
    assert sorted({*zip(curve.order, curve.draw, strict=True)}) == [
        ("cost", 0),
        ("importance", 0),
        ("random", 1),
        ("random", 2),
    ]
    np.testing.assert_allclose(curve[curve.removed == 0].value, 1, atol=1e-6)
    assert curve[curve.removed == 4].value.nunique() == 1, "without any head"
    weighed = scored(*WEIGHED).tables["importance"]
    assert set(curve.n) < set(range(1, int(weighed.n.max())))
    assert areas.order.tolist() == ["importance", "cost"]
    np.testing.assert_allclose(areas.gain, areas.area - areas.random_area)
    assert set(migration.removed) == {2}
    asked = found.scores[found.scores.split == "report"]
    assert set(zip(migration.probe, migration.label, migration.variant, strict=True)) <= set(
        zip(asked.probe, asked.label, asked.variant, strict=True)
    )
    for row in migration.to_dict("records"):
        own = asked[(asked.label == row["label"]) & (asked.variant == row["variant"])].set_index("name").accuracy
        assert own[row["best"]] == pytest.approx(row["best_accuracy"])
        assert own[row["kept"]] == pytest.approx(row["kept_accuracy"])
    assert len({*migration.kept, *migration.after}) <= 2


@pytest.mark.slow
def test_roles_are_scored_again_only_where_that_is_asked(scored: Scored) -> None:
    assert "migration" not in scored(*PRUNED, "pruning.left=0").tables
    assert set(scored(*PRUNED, "pruning.left=0.75").tables["migration"].removed) == {1}
    other = scored(*PRUNED, "pruning.step=0.5", "pruning.draws=1").tables["pruning"]
    assert other.removed.unique().tolist() == [0, 2, 4]
    assert other.draw.max() == 1


@pytest.mark.slow
def test_gates_are_told_for_every_price(scored: Scored) -> None:
    found = scored(*GATED)
    gates, paths = found.tables["gates"], found.tables["gate_paths"]
    assert len(gates) == 2 * 4
    assert paths.price.tolist() == [0.0, 10.0]
    assert paths.left.tolist() == [(gates[gates.price == price].gate > 0).sum() for price in (0.0, 10.0)]
    assert paths.left[0] > paths.left[1]
    assert (gates[gates.price == 10].gate == 0).all()
    assert not gates.weights.any()
    for change in ("gates.steps=3", "gates.rate=0.02"):
        assert not np.allclose(scored(*GATED, change).tables["gates"].open, gates.open)


def test_what_cannot_be_measured_is_said_before_anything_is_read(base: Path, tmp_path: Path) -> None:
    for change, error, said in (
        ('gates={behaviours=["embedding"], weights=true}', BehaviourError, "weights = false"),
        ('importance.behaviours=["loss"]', ModelError, "no masked-LM head|no piece for a mask"),
        ('pruning.behaviours=["grammar"]', ModelError, "no masked-LM head|no piece for a mask"),
        ('gates={behaviours=["embedding"], prices=[0.1, 0.1]}', ConfigError, "different numbers of 0 or more"),
        ('gates={behaviours=["embedding"], prices=[-0.1]}', ConfigError, "different numbers of 0 or more"),
    ):
        with pytest.raises((error, BehaviourError), match=said):
            run(load_config(base, (change,)), tmp_path)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a masked LM of 2 layers x 2 heads whose vocabulary is the words of the grammar."""
    words = {word for document in generate(60, 3) for word in document.words}
    model = word_model(words, layers=2, heads=2, head_dim=8, positions=48, seed=0, lm_head=True)
    folder = tmp_path_factory.mktemp("models") / "reader"
    assert isinstance(model.module, Encoder)
    export_encoder(model.module, folder)
    save_tokenizer(model.tokenizer, folder, 512)
    return folder


@pytest.mark.slow
def test_a_masked_lm_is_asked_about_its_loss_and_pairs_and_weights_may_learn_along(
    reader: Path, base: Path, tmp_path: Path
) -> None:
    names = 'behaviours=["loss", "grammar"], items=24'
    changes = (
        f'model.name="{reader}"',
        f"importance={{{names}}}",
        f"pruning={{{names}, step=0.5, draws=1}}",
        f"gates={{{names}, prices=[0.0], steps=40, weights=true, weights_rate=0.001}}",
    )
    found = Run.open(run(load_config(base, changes), tmp_path))
    importance, taylor, curve, path = (found.tables[name] for name in ("importance", "taylor", "pruning", "gate_paths"))
    assert set(importance.behaviour) == {"masked-LM loss", "grammar"}
    assert (importance.importance > 0).all()
    assert set(taylor.series) == {"first order"}
    assert {"value", "accuracy"} <= set(curve[curve.behaviour == "grammar"].measure)
    assert set(curve[curve.behaviour == "masked-LM loss"].measure) == {"value"}
    assert path.weights.all()
    learned = path[(path.behaviour == "masked-LM loss") & (path.measure == "value")].iloc[0]
    assert learned.value > learned.intact, "what weights learned on one half helps with the other"
    assert "gates learned along with the weights of a copy" in told(GatesMeasure, found)


ONE_RUN: dict[str, Any] = {"model": "planted", "step": pd.NA, "corpus": "made", "behaviour": "made-pairs"}
ONE_RUN |= {"unit": "nats"}
ITEMS: dict[str, Any] = {"n": 40, "clusters": 12}


def tables() -> dict[str, pd.DataFrame]:
    """Return tables of a model in which head 2-1 is the most important, and stays open."""
    cell = np.arange(72)
    names = [f"{place // 12 + 1}-{place % 12 + 1}" for place in cell]
    every = pd.DataFrame({"layer": cell // 12, "head": cell % 12, "name": names})
    number = (np.arange(len(every)) + 1) / 10
    number[every["name"] == "2-1"] = 50
    importance = every.assign(**ONE_RUN, **ITEMS, importance=number, ci_low=number - 0.1, ci_high=number + 0.1)
    importance = importance.assign(of_layer=0.5, predicted=-number, cost=number)
    correlations = {f"{one}{end}": 0.5 for one in ("spearman", "pearson") for end in ("", "_low", "_high")}
    taylor = pd.DataFrame([{**ONE_RUN, **ITEMS, "series": "first order", "heads": len(every), **correlations}])
    curve, areas = [], []
    for measure, unit, top in (("value", "nats", 4.0), ("accuracy", "share of pairs", 0.9)):
        for order, draw in (("importance", 0), ("cost", 0), ("random", 1), ("random", 2)):
            for removed in (0, len(every) // 2, len(every)):
                value = top * (1 - removed / len(every) / (2 if draw == 0 else draw))
                row = {**ONE_RUN, **ITEMS, "unit": unit, "measure": measure, "order": order, "draw": draw}
                row |= {"removed": removed, "heads": len(every), "value": value, "cost": top - value}
                curve.append(row | dict.fromkeys(("ci_low", "ci_high"), np.nan if removed == 0 else top - value))
        for order in ("importance", "cost"):
            row = {**ONE_RUN, **ITEMS, "unit": unit, "measure": measure, "order": order, "area": top, "draws": 2}
            row |= {"random_area": top / 2, "random_least": top / 4, "random_most": top * 0.6, "gain": top / 2}
            areas.append(row | {"ci_low": top / 3, "ci_high": top * 0.7})
    label = {"probe": "dependency", "variant": "dependent->head", **ITEMS, "removed": 3, "heads": len(every)}
    accuracy = {"best_accuracy": 0.9, "kept_accuracy": 0.5, "after_accuracy": 0.7, "change": 0.2}
    who = {"best": "1-1", "stays": False, "kept": "2-1", "after": "2-2"}
    moved = {**label, **accuracy, **who, "label": "nsubj", "ci_low": 0.1, "ci_high": 0.3}
    same = {**moved, "label": "<obj>", "after": "2-1", "stays": True, "change": 0.3, "ci_low": -0.1, "ci_high": 0.6}
    about = {key: ONE_RUN[key] for key in ("model", "step", "corpus", "behaviour")}
    gates, paths = [], []
    for price, left in ((0.01, 2), (0.1, 1), (1.0, 0)):
        opened = every["name"].isin(["2-1", "1-2"][:left])
        gates.append(every.assign(**ONE_RUN, price=price, weights=False, gate=opened * 0.75, open=0.2 + opened * 0.7))
        row = {**ONE_RUN, **ITEMS, "measure": "value", "price": price, "weights": False, "left": left}
        row |= {"heads": len(every), "intact": 4.0, "value": 3.0, "cost": 1.0, "ci_low": 0.5, "ci_high": 1.5}
        paths.append(row)
    return {
        "importance": importance,
        "taylor": taylor,
        "pruning": pd.DataFrame(curve),
        "pruning_areas": pd.DataFrame(areas),
        "migration": pd.DataFrame([{**moved, **about}, {**same, **about}]),
        "gates": pd.concat(gates, ignore_index=True),
        "gate_paths": pd.DataFrame(paths),
    }


def test_the_most_important_heads_come_first_with_both_costs(measured: Callable[..., Run]) -> None:
    run = measured(**tables())
    text = told(ImportanceMeasure, run)
    assert "| 2-1 | 50.00 [49.90, 50.10] | 0.50 | -50.00 | 50.00 |" in text
    assert "rank correlation of 0.50 [0.50, 0.50]" in text
    assert "Only 12 clusters" in text
    (matrix,) = (block for block in ImportanceMeasure.page(run) if hasattr(block, "maps"))
    assert np.nanmax(matrix.maps[0].values) == matrix.maps[0].values[1][0] == 50


def test_the_first_screen_tells_how_many_important_heads_are_specialised(measured: Callable[..., Run]) -> None:
    run = measured(**tables())
    finds = (Finds("dependency", {"yes": 1, "no": 1, "undecided": 0}, {"2-1": 1, "1-1": 1}),)
    (said,) = ImportanceMeasure.effects(run, Verdicts(RunThresholds(), finds))
    assert said.endswith("specialised in a role of language: 1 of 8 (made-pairs); of all heads 2 of 72.")
    (said,) = ImportanceMeasure.effects(run, Verdicts(RunThresholds(), (Finds("position", {"yes": 1}, {"2-1": 1}),)))
    assert said.startswith("Gradient importance was measured; no role of language was tested")


def test_curves_have_the_range_of_random_orders(measured: Callable[..., Run]) -> None:
    run = measured(**tables())
    (charts,) = (block.charts for block in PruningMeasure.page(run) if hasattr(block, "charts"))
    assert [one.title for one in charts] == ["made-pairs (nats)", "made-pairs, accuracy (percentage points)"]
    band, line, _ = charts[0].spec["layer"]
    assert {row["series"] for row in band["data"]["values"]} == {"at random, with range"}
    last = [row for row in line["data"]["values"] if "range" in row["series"]][-1]
    assert (last["left"], last["value"], last["low"], last["high"]) == (0, 1, 0, 2)
    assert last["text"].endswith("1.000 nats")
    text = told(PruningMeasure, run)
    assert "| by importance | 90.0 | 45.0 (22.5 to 54.0) | 45.0 [30.0, 63.0] |" in text


def test_migration_counts_lost_and_other_heads(measured: Callable[..., Run]) -> None:
    text = told(PruningMeasure, measured(**tables()))
    assert "1 of 2 labels have lost their best head" in text
    assert "best one of 1 labels is another" in text
    assert "for 1 labels it is better than the best of them was before, for 0 worse" in text
    first = text.index(
        "dependency: nsubj, dependent->head | 40 | 1-1 (out), 90.0 | 2-1, 50.0 | 2-2, 70.0 | +20.0 [+10.0"
    )
    assert first < text.index("obj>, dependent->head"), "the surest, not the largest"


def test_survivors_are_named_with_their_roles(measured: Callable[..., Run]) -> None:
    run = measured(**tables())
    text = told(GatesMeasure, run)
    assert "The 1 head left at a price of 0.1, and what they attend to" in text
    own = run.scores[(run.scores.name == "2-1") & (run.scores.grade > 0) & (run.scores.split == "report")]
    assert ("| 2-1 | 0.75 | no grade in a label of this run |" in text) == own.empty
    assert [f"{left} of 72" in text for left in (2, 1, 0)] == [True] * 3
    (matrix,) = (block for block in GatesMeasure.page(run) if hasattr(block, "maps"))
    assert [one.title for one in matrix.maps] == [f"made-pairs: gates, price {price}" for price in ("0.01", "0.1", "1")]
