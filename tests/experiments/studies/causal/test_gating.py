"""Importance, pruning and gates as parts of a run: tables, halves, options, and errors before anything is read."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Encoder, export_encoder
from mha.models.folders import ModelError
from mha.planted.heads import word_model
from mha.training.vocabulary import save_tokenizer
from probes.causal.behaviours import BehaviourError
from probes.grammar import generate
from reports import Run
from reports.studies.gating.tables import GATE_TABLES

Scored = Callable[..., Run]
WEIGHED = ('importance={behaviours=["embedding"], items=20, directions=3}',)
PRUNED = ('pruning={behaviours=["embedding"], items=20, draws=2, step=0.25}',)
GATED = ('gates={behaviours=["embedding"], items=20, prices=[0.0, 10.0], steps=30, rate=0.2}',)


def test_nothing_is_measured_where_nothing_is_named(scored: Scored) -> None:
    assert not set(GATE_TABLES) & set(scored().studies)


@pytest.mark.slow
def test_importance_of_all_heads_stands_beside_their_cost(scored: Scored) -> None:
    found = scored(*WEIGHED)
    table, taylor = found.studies["importance"], found.studies["taylor"]
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
    plain = scored(*WEIGHED).studies["importance"]
    off = scored(*WEIGHED, "importance.taylor=false").studies
    assert "taylor" not in off
    assert off["importance"].cost.isna().all()
    pd.testing.assert_series_equal(off["importance"].importance, plain.importance, check_exact=True)
    for change in ("importance.directions=4", "importance.items=10"):
        changed = scored(*WEIGHED, change).studies["importance"]
        assert not np.allclose(changed.importance, plain.importance)
    assert (scored(*WEIGHED, "importance.items=10").studies["importance"].n <= 10).all()


@pytest.mark.slow
def test_pruning_tells_curves_areas_and_who_is_best_after(scored: Scored) -> None:
    found = scored(*PRUNED)
    curve, areas, migration = (found.studies[name] for name in ("pruning", "pruning_areas", "migration"))
    assert curve.removed.unique().tolist() == [0, 1, 2, 3, 4]
    assert sorted({*zip(curve.order, curve.draw, strict=True)}) == [
        ("cost", 0),
        ("importance", 0),
        ("random", 1),
        ("random", 2),
    ]
    np.testing.assert_allclose(curve[curve.removed == 0].value, 1, atol=1e-6)
    assert curve[curve.removed == 4].value.nunique() == 1, "without any head"
    weighed = scored(*WEIGHED).studies["importance"]
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
    assert "migration" not in scored(*PRUNED, "pruning.left=0").studies
    assert set(scored(*PRUNED, "pruning.left=0.75").studies["migration"].removed) == {1}
    other = scored(*PRUNED, "pruning.step=0.5", "pruning.draws=1").studies["pruning"]
    assert other.removed.unique().tolist() == [0, 2, 4]
    assert other.draw.max() == 1


@pytest.mark.slow
def test_gates_are_told_for_every_price(scored: Scored) -> None:
    found = scored(*GATED)
    gates, paths = found.studies["gates"], found.studies["gate_paths"]
    assert len(gates) == 2 * 4
    assert paths.price.tolist() == [0.0, 10.0]
    assert paths.left.tolist() == [(gates[gates.price == price].gate > 0).sum() for price in (0.0, 10.0)]
    assert paths.left[0] > paths.left[1]
    assert (gates[gates.price == 10].gate == 0).all()
    assert not gates.weights.any()
    for change in ("gates.steps=3", "gates.rate=0.02"):
        assert not np.allclose(scored(*GATED, change).studies["gates"].open, gates.open)


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
    importance, taylor, curve, path = (
        found.studies[name] for name in ("importance", "taylor", "pruning", "gate_paths")
    )
    assert set(importance.behaviour) == {"masked-LM loss", "grammar"}
    assert (importance.importance > 0).all()
    assert set(taylor.series) == {"first order"}
    assert {"value", "accuracy"} <= set(curve[curve.behaviour == "grammar"].measure)
    assert set(curve[curve.behaviour == "masked-LM loss"].measure) == {"value"}
    assert path.weights.all()
    learned = path[(path.behaviour == "masked-LM loss") & (path.measure == "value")].iloc[0]
    assert learned.value > learned.intact, "what weights learned on one half helps with the other"
    page = (found.folder / "report" / "index.html").read_text("utf-8")
    assert "gates learned along with the weights of a copy" in page
    assert np.isfinite(found.scores.accuracy.dropna()).all()
