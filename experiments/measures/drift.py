"""Drift: what a training made of the maps that it began with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from probes.corpora.corpus import MemoryTexts
from reports.blocks.block import Block, Paragraph, TableBlock, Terms
from reports.formats import count, decimal, decimal3
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import columns_of
from reports.tables.shared_columns import FRACTIONS, ONE_HEAD, SPLIT, number, place, run_table
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.config.config import Config
    from experiments.run.context import RunContext

DRIFT: Final = run_table(
    "One row for each sentence and head: its map before and after a training run.",
    ("text", "name"),
    (
        SPLIT,
        place("text", "Number of the sentence."),
        *ONE_HEAD,
        number(
            "cosine",
            "Cosine of the head's map before and after training; 1 is the same map.",
            FRACTIONS,
            write=decimal,
        ),
    ),
)

TERMS: Final = {
    "cosine": "Of a head’s map of a sentence before and after the training run, each taken as one vector, special "
    "tokens included: 1 where nothing moved (Kovaleva et al. 2019). Mean over sentences.",
}

MOVED: Final = 6
"Heads that are named as those that moved most."


class DriftMeasure(Measure):
    """What a training made of the maps that it began with, see `probes.maps.matching`."""

    name = "drift"
    title = "Maps before and after training"
    place = 180
    switch = "texts"
    tables = {"drift": DRIFT}
    methods = (
        Method(
            "The maps of the first checkpoint and of the model were compared by cosine on {texts} sentences of the "
            "report split at the most (Kovaleva et al. 2019)."
        ),
    )

    texts: int = Field(default=0, ge=0)
    "Sentences of the report split on which the maps of the first checkpoint and of the model are compared; 0 for none."

    def check(self, config: Config) -> None:
        """Refuse a model of which no checkpoint is known."""
        if self.texts and config.model.source not in ("train", "checkpoint"):
            raise ValueError('[drift] needs the first checkpoint of a training: model.source "train" or "checkpoint"')

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the cosine of every head's maps before and after, on sentences of the report split."""
        from experiments.training.train import open_checkpoint
        from probes.evidence.results import named_heads
        from probes.maps.matching import map_cosines
        from probes.scoring.aligned import Aligned, sample_texts

        model = run.model
        before, _, _ = open_checkpoint(next(iter(run.opened.trainings.values())), 0)
        aligned = Aligned.of(model, MemoryTexts(sample_texts(run.texts("sentence")[1], self.texts)))
        run.note_dropped("report", "sentence", self.name, aligned.dropped)
        step, found = run.counter("maps before and after", len(aligned.pieces)), []
        for pieces in aligned.pieces:
            found.append(map_cosines(before, model, pieces).numpy())
            step()
        heads = pd.DataFrame(named_heads((model.layers, model.heads)))
        rows = pd.DataFrame({"text": range(len(found))}).merge(heads, how="cross")
        return {"drift": rows.assign(split="report", cosine=np.stack(found).ravel())}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield which heads moved most, and of each layer the mean and the heads that moved most and least."""
        table = run.last("drift")
        heads = table.groupby(["layer", "name"], as_index=False, sort=False)[["cosine"]].mean()
        heads = heads.sort_values("cosine", kind="stable")
        heads["shown"] = [f"{name} ({decimal3(cosine)})" for name, cosine in zip(heads.name, heads.cosine, strict=True)]
        yield Paragraph(
            f"On {count(table['text'].nunique())} sentences of the report split the maps moved most in these heads: "
            f"{', '.join(heads['shown'][:MOVED])}. This does not show whether the model needs what moved."
        )
        rows = [
            (
                int(str(layer)) + 1,
                decimal3(of_layer["cosine"].mean()),
                of_layer["shown"].iloc[0],
                of_layer["shown"].iloc[-1],
            )
            for layer, of_layer in heads.groupby("layer")
        ]
        columns = columns_of(("Layer", "Mean", "Moved most", "Moved least"))
        yield TableBlock(TextTable.of("Cosine of maps before and after the training run", columns, rows))
        yield Terms(TERMS.items())
