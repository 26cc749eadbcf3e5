"""Confusion: agreement among distractors, in bits of attention; measured where a run asks the probe distractors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from experiments.run.measure import Frames, Measure, Read
from probes.syntax.distractors import Distractors
from reports.blocks.block import Block, Paragraph, TableBlock
from reports.formats import MISSING, decimal
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import TextColumn
from reports.tables.marks import clusters_shown
from reports.tables.shared_columns import (
    ITEMS,
    LABEL,
    LAYER,
    NOT_NEGATIVE,
    SPLIT,
    SPLITS,
    ends,
    flag,
    number,
    place,
    run_table,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.corpora.corpus import Texts
    from probes.maps.confusion import Confusion

MEASURED: Final = (
    "A verb or reflexive agrees with one noun group of its sentence; the other groups are distractors. Its attention "
    "to each group is divided by that to all of them, and confusion is −log2 of the correct group’s share, a mean "
    "over items (Lin, Tan and Frank 2019, section 4): 0 bits where the correct group has all, one bit more for each "
    "halving of its share. By chance it is log2 of the number of groups. Of a layer the maps of its heads are "
    "averaged first, as published. Layer and head of least confusion were selected on the selection split; all "
    "numbers are of the report split, with 95 % intervals by cluster. In the published sentences (open-sesame) the "
    "correct group always stands first, so there a head that prefers early nouns has few bits too: see the baseline "
    "“first candidate” among the best heads."
)

CONFUSION: Final = run_table(
    "One row for each label, split and head, and for each layer's heads averaged.",
    ("split", "label", "layer", "head"),
    (
        SPLIT,
        LABEL,
        LAYER,
        place("head", "Head in its layer, counted from 0; -1 for the layer's heads averaged.", -1),
        *ITEMS,
        number(
            "confusion",
            "Confusion in bits; 0 where attention goes to the correct noun group alone.",
            NOT_NEGATIVE,
            "ci",
            decimal,
        ),
        *ends("ci", "confusion", decimal, NOT_NEGATIVE),
        number("chance", "Confusion of uniform attention to all noun groups, in bits.", NOT_NEGATIVE, write=decimal),
        flag("selected", "Whether it is the head, or the layer, of least confusion on the selection split."),
    ),
)


class ConfusionMeasure(Measure):
    """The confusion of a model's heads, and of its layers, among noun groups, in bits."""

    name = "confusion"
    title = "Agreement among distractors"
    place = 30
    tables = {"confusion": CONFUSION}
    methods = (
        Method(
            "How far attention from a verb or reflexive separates the correct one of several noun groups was "
            "measured in bits (Lin et al. 2019, section 4)."
        ),
    )

    def wanted(self, run: RunContext) -> bool:
        """Return whether the run has the probe."""
        return Distractors.name in run.config.probes.names

    def observers(self, run: RunContext, scope: str, split: str, texts: Texts) -> Sequence[Confusion]:
        """Return what sees the maps of the sentences of a split."""
        from probes.maps.confusion import Confusion
        from probes.scoring.tally import cluster_blocks

        shape = (run.model.layers, run.model.heads)
        return [Confusion(*shape, cluster_blocks(texts.ids()))] * (scope == Distractors.scope)

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the confusion on both splits."""
        from probes.maps.confusion import Confusion, confusion_table

        select, report = (one for split in SPLITS for part in read.parts for one in part.observed(Confusion, split))
        replicates, seed = run.config.scoring.replicates, run.config.seed
        return {"confusion": confusion_table(select, report, SPLITS, replicates=replicates, seed=seed)}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield the bits of the report split by label and layer, and of the least confused layer and head."""
        table = run.tables["confusion"]
        table = table[table["split"] == SPLITS[1]].sort_values("layer", kind="stable")
        if table.empty:
            return
        labels = sorted(set(table["label"]), key=lambda label: (label != "all", label))
        rows = [_row(table[table["label"] == label]) for label in labels]
        layers = int(table["layer"].max()) + 1
        columns = (
            TextColumn("Items", lambda row: row["label"], "row"),
            CONFUSION["n"].shown(),
            clusters_shown(),
            CONFUSION["chance"].shown(),
            *(TextColumn(f"{layer + 1}", partial(_bits, layer)) for layer in range(layers)),
            TextColumn("Least confused layer", lambda row: row["least_layer"], "text"),
            TextColumn("Least confused head", lambda row: row["least_head"], "text"),
        )
        title = f"Confusion in bits; columns 1 to {layers} are layers, their heads averaged"
        yield Paragraph(MEASURED)
        yield TableBlock(TextTable.of(title, columns, rows))


def _row(rows: pd.DataFrame) -> dict[Any, Any]:
    """Return the row of a label: bits by layer, and the layer and the head of least confusion."""
    averaged, heads = rows[rows["head"] < 0], rows[rows["head"] >= 0]
    bits = dict(zip(averaged["layer"], averaged["confusion"], strict=True))
    return rows.iloc[0].to_dict() | {"bits": bits, "least_layer": _least(averaged), "least_head": _least(heads)}


def _bits(layer: int, row: Mapping[Any, Any]) -> str:
    return decimal(row["bits"].get(layer, float("nan")))


def _least(rows: pd.DataFrame) -> str:
    """Return name, bits and interval of what was selected: "3-5 0.41 [0.38, 0.44]"; a dash for nothing."""
    for row in rows[rows["selected"]].head(1).to_dict("records"):
        name = f"layer {row['layer'] + 1}" if row["head"] < 0 else f"{row['layer'] + 1}-{row['head'] + 1}"
        between = f" [{decimal(row['ci_low'])}, {decimal(row['ci_high'])}]" if row["ci_low"] == row["ci_low"] else ""
        return f"{name} {decimal(row['confusion'])}{between}"
    return MISSING
