"""What a page says of heads by their gates: importance, what is left without the least important, and learned gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from reports.formats import count, decimal, names
from reports.run.folder import RunFolder
from reports.scales import NumberScale
from reports.studies.gating.measures import Curve, GatePath, Importance, Migration
from reports.tables.table import last_step

ROLES: Final = 3
"Labels that are named of a head."


@dataclass(frozen=True)
class Gating:
    """All that a page says of heads by their gates."""

    shape: tuple[int, int]
    importance: tuple[Importance, ...]
    curves: tuple[Curve, ...]
    migrations: tuple[Migration, ...]
    gates: tuple[GatePath, ...]

    @property
    def heat(self) -> dict[str, Any]:
        """What the page's heat map shows, as plain values."""
        return {"layers": self.shape[0], "heads": self.shape[1], "maps": list(_maps(self))}


def gating(run: RunFolder) -> Gating | None:
    """Return what the page says about the model's last step; None where the run measured nothing of the kind."""
    kinds = ("importance", "taylor", "pruning", "pruning_areas", "migration", "gates", "gate_paths")
    tables = {name: last_step(run.studies[name]) for name in kinds if name in run.studies}
    if not tables:
        return None
    shape = (int(run.scores["layer"].max()) + 1, int(run.scores["head"].max()) + 1)
    taylor = {row["behaviour"]: row for row in tables["taylor"].to_dict("records")} if "taylor" in tables else {}
    paths, roles = dict(_parts(tables, "gate_paths")), _roles(run.scores)
    areas = dict(_parts(tables, "pruning_areas"))
    return Gating(
        shape,
        tuple(Importance(name, rows, taylor.get(name)) for name, rows in _parts(tables, "importance")),
        tuple(
            Curve(name, str(measure), str(of["unit"].iloc[0]), of, areas[name][areas[name]["measure"] == measure])
            for name, rows in _parts(tables, "pruning")
            for measure, of in rows.groupby("measure", sort=False)
        ),
        tuple(Migration(name, rows) for name, rows in _parts(tables, "migration")),
        tuple(GatePath(name, rows, paths[name], roles) for name, rows in _parts(tables, "gates")),
    )


def _parts(tables: Mapping[str, pd.DataFrame], name: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each behaviour of a table, in its order; nothing where there is no table."""
    if name in tables:
        for behaviour, rows in tables[name].groupby("behaviour", sort=False):
            yield str(behaviour), rows


def _roles(scores: pd.DataFrame) -> dict[str, str]:
    """Return for each head that has a grade in labels the first of these, the largest margin first."""
    rows = scores[(scores["grade"] > 0) & (scores["split"] == "report")]
    rows = rows.sort_values("margin", ascending=False, kind="stable")
    found: dict[str, list[str]] = {}
    for name, probe, label in zip(rows["name"], rows["probe"], rows["label"], strict=True):
        labels = found.setdefault(str(name), [])
        if (told := f"{probe}: {label}") not in labels:
            labels.append(told)
    return {name: names(labels, ROLES) for name, labels in found.items()}


def _maps(found: Gating) -> Iterator[dict[str, Any]]:
    """Yield the maps of the page: importance, its share of a layer, and the gates at every price."""
    for one in found.importance:
        n = f"n\u00a0{count(int(one.rows['n'].iloc[0]))} · clusters\u00a0{count(int(one.rows['clusters'].iloc[0]))}"
        for column, title, scale in (
            ("importance", "importance", one.scale),
            ("of_layer", "importance, each layer scaled to length 1", NumberScale("", 1)),
        ):
            told = list(_told(one, column))
            about = f"{title} for {one.behaviour} · {n}"
            yield _map(f"{one.behaviour}: {title}", about, one.rows, column, scale, told)
    for path in found.gates:
        for price in path.prices:
            rows = path.gates[path.gates["price"] == price]
            roles = [path.roles.get(str(name), "no label") for name in rows["name"]]
            told = [f"{decimal(gate)} · {role}" for gate, role in zip(rows["gate"], roles, strict=True)]
            about = f"gates for {path.behaviour} at a price of {price:g} · {int((rows['gate'] > 0).sum())} heads open"
            yield _map(f"{path.behaviour}: gates, price {price:g}", about, rows, "gate", NumberScale("", 1), told)


def _told(one: Importance, column: str) -> Iterator[str]:
    """Yield what is said of each head: its importance, or its share of its layer."""
    for row in one.rows.to_dict("records"):
        share = column != "importance"
        yield decimal(row[column]) if share else one.scale.with_interval(row[column], row["ci_low"], row["ci_high"])


def _map(
    title: str, about: str, rows: pd.DataFrame, column: str, scale: NumberScale, told: Sequence[str]
) -> dict[str, Any]:
    """Return one map for the page's script; rows are in the order of the heads."""
    ordered = rows.reset_index(drop=True).sort_values(["layer", "head"], kind="stable")
    return {
        "title": title,
        "about": about,
        "unit": scale.unit,
        "value": [float(f"{scale.factor * value:.4g}") for value in ordered[column].tolist()],
        "text": [told[place] for place in ordered.index],
    }
