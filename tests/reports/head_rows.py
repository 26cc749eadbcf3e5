"""Invented tables about heads as a set: four heads of two layers and one more."""

from __future__ import annotations

from itertools import combinations

import pandas as pd

NAMES = ("1-1", "1-2", "1-3", "2-1", "2-2")
DISTANCE = {("1-1", "1-2"): 0.1, ("2-1", "2-2"): 0.1, ("1-2", "2-1"): 0.2}
"In nats; 0.4 for all other pairs."

OVERLAP = {("1-1", "2-2"): 0.6}
"Of what heads read; 0.8/3 for the other pairs of 1-1."


def named(name: str, other: str = "") -> dict[str, object]:
    """Return layer, head and name."""
    layer, head = (int(part) - 1 for part in name.split("-"))
    return {f"{other}layer": layer, f"{other}head": head, other.strip("_") or "name": name}


def head_tables() -> dict[str, pd.DataFrame]:
    """Return all tables of relations between heads and of ensembles, of one run."""
    pairs = [named(one) | named(other, "other_") for one, other in combinations(NAMES, 2)]
    keys = [(str(pair["name"]), str(pair["other"])) for pair in pairs]
    distances = [pair | {"distance": DISTANCE.get(key, 0.4)} for pair, key in zip(pairs, keys, strict=True)]
    subspaces = [
        pair | {"what": what, "weights": weights, "overlap": overlap(key, what, weights), "nearest": 0.9}
        for weights in ("own", "random")
        for what in ("W_V", "W_O", "outputs")
        for pair, key in zip(pairs, keys, strict=True)
    ]
    tables = {
        "distances": pd.DataFrame(distances),
        "subspaces": pd.DataFrame(subspaces),
        "contrasts": pd.DataFrame(contrasts()),
        "places": pd.DataFrame(places()),
        "ensembles": pd.DataFrame(
            [*ensemble("obj", "1-1 1-2 2-2", 0.01, 1), *ensemble("det", "1-1 2-1 1-3", -0.02, 0)]
        ),
    }
    step = pd.Series([pd.NA] * max(map(len, tables.values())), dtype="Int64")
    return {name: table.assign(model="tiny", step=step, corpus="report") for name, table in tables.items()}


def overlap(pair: tuple[str, str], what: str, weights: str) -> float:
    """Return the overlap of a pair: random weights share 0.08."""
    if weights == "random":
        return 0.08
    return OVERLAP.get(pair, 0.8 / 3) if what == "W_V" else 0.05


CONTRASTS = """maps own 0.2 0.4 0.004,W_V own 0.2 0.35 0.3,W_O own 0.05 0.05 1,outputs own 0.05 0.05 1
maps random 0.02 0.02 0.8,W_V random 0.08 0.08 1"""
"Heads of a layer are nearer to each other; random weights are all alike."


def contrasts() -> list[dict[str, object]]:
    """Return what is compared, with which weights, within and between layers, and p."""
    lines = [line.split() for line in CONTRASTS.replace("\n", ",").split(",")]
    numbers = [dict(zip(("within", "between", "p"), map(float, line[2:]), strict=True)) for line in lines]
    shared = {"pairs_within": 4, "pairs_between": 6}
    return [{"what": line[0], "weights": line[1], **own, **shared} for line, own in zip(lines, numbers, strict=True)]


def places() -> list[dict[str, object]]:
    """Two groups on a line."""
    group = {"1-1": 1, "1-2": 1, "1-3": 2, "2-1": 2, "2-2": 2}
    return [
        named(name) | {"x": float(place), "y": 0.1 * place, "group": group[name], "nearest": "1-2", "distance": 0.1}
        for place, name in enumerate(NAMES)
    ]


def ensemble(label: str, heads: str, low: float, best: int) -> list[dict[str, object]]:
    """Return one relation in three sizes, of which that at index `best` is the chosen one."""
    rows = []
    about = {"probe": "dependency", "label": label, "variant": "dependent->head", "n": 120, "clusters": 30}
    about |= {"baseline": "offset", "baseline_accuracy": 0.5}
    for size, names in enumerate((heads.split()[:1], heads.split()[:2], heads.split())):
        accuracy = 0.55 + 0.05 * size
        row = about | {"size": size + 1, "heads": " ".join(names), "select_accuracy": accuracy, "accuracy": accuracy}
        row |= {"selected": size == best, "ci_low": accuracy - 0.1, "ci_high": accuracy + 0.1, "gain": 0.05 * size}
        row |= {"gain_low": low * (size > 0), "gain_high": 0.09 * (size > 0)}
        rows.append(row | {"margin": accuracy - 0.5, "margin_low": accuracy - 0.6, "margin_high": accuracy - 0.4})
    return rows
