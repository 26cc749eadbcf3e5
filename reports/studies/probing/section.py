"""What a page reports of probing: tasks by layer, pairs of words, and what is lost without a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.formats import count, percent, signed
from reports.run.folder import RunFolder
from reports.tables.by_layer import by_layer
from reports.tables.cells import columns_of
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

PROBING_TERMS: Final[Sequence[tuple[str, str]]] = (
    (
        "structural probe",
        "A linear map of states after which distances between words are their distances in the tree, or lengths their "
        "depths; undirected attachment is the share of arcs of the minimum spanning tree that are in the gold tree "
        "(Hewitt and Manning 2019).",
    ),
    (
        "amnesic probing",
        "All directions from which a linear classifier predicts a property are projected out of the states of the "
        "last layer; the effect is how much more this costs than as many random directions (Elazar et al. 2021).",
    ),
)

PAIRS: Final = columns_of(("Task", "Labels", "Accuracy", "95 % interval", "By distance alone", "Most frequent label"))
AMNESIC: Final = columns_of(
    (
        "Property",
        "Directions",
        "Accuracy before",
        "After",
        "Words predicted, intact",
        "Without it",
        "Effect",
        "95 % interval",
    )
)


@dataclass(frozen=True)
class ProbingResults:
    """What a page reports."""

    text: str
    tables: Sequence[TextTable]


def probing(run: RunFolder) -> ProbingResults | None:
    """Return what the page reports of the model's last step; None where layers were not probed."""
    found = {name: run.studies.get(name) for name in ("layer_probes", "pair_probes", "amnesic")}
    layers = found["layer_probes"]
    if layers is None or layers.empty:
        return None
    trees = last_step(layers)
    best = trees[trees["measure"] == "undirected attachment"].nlargest(1, "value")
    text = "".join(
        "Structural probes recover trees best from "
        f"{'layer ' + count(one['layer']) if one['layer'] else 'the input'}: {percent(one['value'])} % of arcs, where "
        f"words in a row have {percent(one['baseline'])} %."
        for one in best.to_dict("records")
    )
    tables = [by_layer("Probes of layers, with 95 % intervals", trees, ["task", "measure"])]
    for name, make in (("pair_probes", _pairs), ("amnesic", _amnesic)):
        table = found[name]
        if table is not None and len(table):
            tables.append(make(last_step(table)))
    return ProbingResults(text, tables)


def _interval(one: pd.Series, low: str, high: str) -> str:
    return f"[{percent(one[low])}, {percent(one[high])}]"


def _pairs(frame: pd.DataFrame) -> TextTable:
    rows = [
        (
            *(one["task"], count(one["labels"]), f"{percent(one['value'])} %", _interval(one, "low", "high")),
            *(f"{percent(one[name])} %" for name in ("distance", "majority")),
        )
        for _, one in frame.iterrows()
    ]
    return TextTable.of("Pairs of words, from the attention of all heads between them", PAIRS, rows)


def _amnesic(frame: pd.DataFrame) -> TextTable:
    rows = [
        (
            *(one["property"], count(one["directions"])),
            *(f"{percent(one[name])} %" for name in ("accuracy", "left", "intact", "amnesic")),
            *(signed(one["effect"]), f"[{signed(one['effect_low'])}, {signed(one['effect_high'])}]"),
        )
        for _, one in frame.iterrows()
    ]
    return TextTable.of("Accuracy lost without a property", AMNESIC, rows)
