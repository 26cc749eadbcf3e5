"""The section on gates: what is told, by hand, with everything or with some of it, and that tables refuse nonsense."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reports import Run
from reports.measures.registry import write_measures
from reports.page.page import write_report
from reports.scales import NumberScale
from reports.studies.gating.charts import gating_charts, save_gating
from reports.studies.gating.section import Gating, gating
from reports.studies.gating.tables import GATE_TABLES

RUN: dict[str, Any] = {"model": "planted", "step": pd.NA, "corpus": "made", "behaviour": "made-pairs", "unit": "nats"}
ITEMS: dict[str, Any] = {"n": 40, "clusters": 12}


def shape(run: Run) -> tuple[int, int]:
    return int(run.scores["layer"].max()) + 1, int(run.scores["head"].max()) + 1


def heads(run: Run) -> pd.DataFrame:
    layers, count = shape(run)
    places = [(layer, head) for layer in range(layers) for head in range(count)]
    return pd.DataFrame([{"layer": i, "head": j, "name": f"{i + 1}-{j + 1}"} for i, j in places])


def tables(run: Run) -> dict[str, pd.DataFrame]:
    """Return tables of a model in which head 2-1 is the most important, and stays open."""
    every = heads(run)
    number = (np.arange(len(every)) + 1) / 10
    number[every["name"] == "2-1"] = 50
    importance = every.assign(**RUN, **ITEMS, importance=number, ci_low=number - 0.1, ci_high=number + 0.1)
    importance = importance.assign(of_layer=0.5, predicted=-number, cost=number)
    correlations = {f"{one}{end}": 0.5 for one in ("spearman", "pearson") for end in ("", "_low", "_high")}
    taylor = pd.DataFrame([{**RUN, **ITEMS, "series": "first order", "heads": len(every), **correlations}])
    curve, areas = [], []
    for measure, unit, top in (("value", "nats", 4.0), ("accuracy", "share of pairs", 0.9)):
        for order, draw in (("importance", 0), ("cost", 0), ("random", 1), ("random", 2)):
            for removed in (0, len(every) // 2, len(every)):
                value = top * (1 - removed / len(every) / (2 if draw == 0 else draw))
                row = {**RUN, **ITEMS, "unit": unit, "measure": measure, "order": order, "draw": draw}
                row |= {"removed": removed, "heads": len(every), "value": value, "cost": top - value}
                curve.append(row | dict.fromkeys(("ci_low", "ci_high"), np.nan if removed == 0 else top - value))
        for order in ("importance", "cost"):
            row = {**RUN, **ITEMS, "unit": unit, "measure": measure, "order": order, "area": top, "draws": 2}
            row |= {"random_area": top / 2, "random_least": top / 4, "random_most": top * 0.6, "gain": top / 2}
            areas.append(row | {"ci_low": top / 3, "ci_high": top * 0.7})
    label = {"probe": "dependency", "variant": "dependent->head", **ITEMS, "removed": 3, "heads": len(every)}
    accuracy = {"best_accuracy": 0.9, "kept_accuracy": 0.5, "after_accuracy": 0.7, "change": 0.2}
    who = {"best": "1-1", "stays": False, "kept": "2-1", "after": "2-2"}
    moved = {**label, **accuracy, **who, "label": "nsubj", "ci_low": 0.1, "ci_high": 0.3}
    same = {**moved, "label": "<obj>", "after": "2-1", "stays": True, "change": 0.3, "ci_low": -0.1, "ci_high": 0.6}
    about = {key: RUN[key] for key in ("model", "step", "corpus", "behaviour")}
    gates, paths = [], []
    for price, left in ((0.01, 2), (0.1, 1), (1.0, 0)):
        opened = every["name"].isin(["2-1", "1-2"][:left])
        gates.append(every.assign(**RUN, price=price, weights=False, gate=opened * 0.75, open=0.2 + opened * 0.7))
        row = {**RUN, **ITEMS, "measure": "value", "price": price, "weights": False, "left": left}
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


def typed(found: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {name: frame.astype({"step": "Int64"}) for name, frame in found.items()}


@pytest.fixture
def run(run_folder: Path) -> Run:
    write_measures(typed(tables(Run.open(run_folder))), run_folder)
    return Run.open(run_folder)


@pytest.fixture
def found(run: Run) -> Gating:
    told = gating(run)
    assert told is not None
    return told


def test_nothing_is_told_where_nothing_was_measured(run_folder: Path) -> None:
    assert gating(Run.open(run_folder)) is None


def test_the_most_important_heads_come_first_with_both_costs(found: Gating) -> None:
    (one,) = found.importance
    name, *cells = one.heads.texts[0]
    assert (name, tuple(cells)) == ("2-1", ("50.00 [49.90, 50.10]", "0.50", "−50.00", "50.00"))
    assert "rank correlation of 0.50 [0.50, 0.50]" in one.summary
    assert "Only 12 clusters" in one.summary


def test_curves_have_the_range_of_random_orders(found: Gating) -> None:
    value, accuracy = found.curves
    assert (value.title, accuracy.title) == ("made-pairs", "made-pairs, accuracy")
    drawn = value.line("random")
    assert (drawn["left"].iloc[0], drawn["left"].iloc[-1]) == (100, 0)
    np.testing.assert_allclose(drawn[["value", "low", "high"]].iloc[-1].to_numpy(float), (1, 0, 2))
    assert drawn["written"].iloc[-1] == "1.000 nats"
    in_points = accuracy.line("random")
    of_random = accuracy.rows[accuracy.rows["order"] == "random"]
    assert in_points["high"].max() == pytest.approx(100 * of_random["value"].max())
    assert accuracy.table.texts[0] == ("by importance", "90.0", "45.0 (22.5 to 54.0)", "45.0 [30.0, 63.0]")
    assert [chart.title for chart in gating_charts(found)] == [
        "made-pairs (nats)",
        "made-pairs, accuracy (percentage points)",
    ]
    band, line, _ = gating_charts(found)[0].spec["layer"]
    assert [row["series"] for row in band["data"]["values"]] == ["at random, with range"] * len(drawn)
    rows = [row for row in line["data"]["values"] if "range" in row["series"]]
    for column in ("left", "value", "low", "high"):
        np.testing.assert_allclose([row[column] for row in rows], drawn[column])


def test_migration_counts_lost_and_other_heads(found: Gating) -> None:
    (one,) = found.migrations
    assert "1 of 2 labels have lost their best head" in one.summary
    assert "best one of 1 labels is another" in one.summary
    assert "for 1 labels it is better than the best of them was before, for 0 worse" in one.summary
    label, *cells = one.table.texts[0]
    assert label == "dependency: nsubj, dependent->head", "the surest, not the largest"
    assert cells == ["40", "1-1 (out), 90.0", "2-1, 50.0", "2-2, 70.0", "+20.0 [+10.0, +30.0]"]


def test_survivors_are_named_with_their_roles(found: Gating, run: Run) -> None:
    (path,) = found.gates
    assert path.dearest == 0.1
    ((name, gate, roles),) = path.last
    assert (name, gate) == ("2-1", "0.75")
    own = run.scores[(run.scores.name == name) & (run.scores.grade > 0) & (run.scores.split == "report")]
    assert roles.startswith("no grade in a label") == own.empty
    assert [left.split()[0] for _, _, left, *_ in path.table] == ["2", "1", "0"]
    assert path.table.texts[2][-1] == "–"


def test_maps_are_of_all_heads_in_their_order(found: Gating, run: Run) -> None:
    layers, count = shape(run)
    titles = [one["title"] for one in found.heat["maps"]]
    assert len(titles) == 2 + 3
    assert all(len(one["value"]) == len(one["text"]) == layers * count for one in found.heat["maps"])
    assert max(found.heat["maps"][0]["value"]) == 50


@pytest.mark.slow
@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(("importance",), marks=pytest.mark.slow),
        pytest.param(("pruning", "pruning_areas"), marks=pytest.mark.slow),
        pytest.param(("gates", "gate_paths"), marks=pytest.mark.slow),
        tuple(GATE_TABLES),
    ],
)
def test_pages_tell_what_there_is(run_folder: Path, kept: tuple[str, ...]) -> None:
    every = typed(tables(Run.open(run_folder)))
    write_measures({name: every[name] for name in kept}, run_folder)
    write_report(run_folder)
    page, text = ((run_folder / "report" / name).read_text("utf-8") for name in ("index.html", "report.md"))
    for said in (page, text):
        assert "Importance and pruning of heads" in said
        assert ("Gain over random" in said) or ("gain over random" in said) or "pruning" not in kept
        assert "<obj>" not in said
    named = {path.stem for path in (run_folder / "report" / "figures").glob("*.png")}
    assert ("pruning" in named) == ("pruning" in kept)
    assert ("head-gates" in named) == bool({"importance", "gates"} & set(kept))


@pytest.mark.slow
@pytest.mark.figures
def test_the_same_numbers_give_the_same_figures(found: Gating, tmp_path: Path) -> None:
    names = save_gating(found, "made", tmp_path)
    before = {name: (tmp_path / f"{name}.png").read_bytes() for name in names}
    assert save_gating(found, "made", tmp_path) == names == ["head-gates", "pruning"]
    assert all((tmp_path / f"{name}.png").read_bytes() == before[name] for name in names)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("importance", {"importance": -1.0}, "`importance` is negative"),
        ("importance", {"of_layer": 1.5}, r"`of_layer` lies outside \[0, 1\]"),
        ("taylor", {"spearman": 1.5}, "`spearman` lies outside"),
        ("pruning", {"order": "name"}, "`order` is not one of importance, cost, random"),
        ("pruning", {"removed": 1000}, "`removed` is not between 0 and `heads`"),
        ("pruning_areas", {"measure": "loss"}, "`measure` is not one of value"),
        ("migration", {"after_accuracy": 2.0}, "`after_accuracy` lies outside"),
        ("gates", {"gate": 1.2}, "`gate` lies outside"),
        ("gate_paths", {"left": -1}, "`left` is negative"),
    ],
)
def test_what_cannot_be_is_refused(run_folder: Path, name: str, change: dict[str, Any], said: str) -> None:
    frame = typed(tables(Run.open(run_folder)))[name]
    with pytest.raises(ValueError, match=said):
        GATE_TABLES[name].validated(frame.assign(**change), f"{name}.parquet")


def test_what_is_rounded_to_nothing_has_no_sign() -> None:
    scale = NumberScale("nats", 1)
    assert [scale.cost(value) for value in (-4e-7, 4e-7, -6e-7, np.nan)] == [
        "0.0000",
        "0.0000",
        "−0.000001",
        "–",
    ]
