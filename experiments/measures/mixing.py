"""Mixing: effective attention, attention beside the residual, and states that become alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Paragraph, TableBlock, Terms, by_layer
from reports.formats import count, decimal, decimal3, percent
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import columns_of
from reports.tables.shared_columns import (
    FRACTIONS,
    ONE_HEAD,
    SPLITS,
    correlation,
    ends,
    fraction,
    number,
    place,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext

RATIOS: Final = (
    "weights",
    "weights, residual",
    "norms",
    "norms, residual",
    "norms, residual, LayerNorm",
)
"Mixing ratios, by what is taken into account."

STATES: Final = (
    "states: all parts",
    "states: no feed-forward nets",
    "states: no skip connections",
    "states: attention alone",
)
"Relative residuals of states, by the parts that the layers have."

IDENTIFIED: Final = "identified pieces"

MIXING: Final = run_table(
    "One row for each measure and depth: how much of the output of an attention block comes from other pieces, and how "
    "far the states of a text are from being all the same.",
    ("measure", "depth"),
    (
        text(
            "measure",
            "weights ... LayerNorm: mixing ratio, by what of the attention block is taken into account; states: "
            "relative residual of the states without their mean, by the parts that layers have; identified pieces: "
            "share that a linear map finds again.",
            (*RATIOS, *STATES, IDENTIFIED),
        ),
        place("depth", "Layer, counted from 1; 0 is the input of the first layer."),
        number("value", "Mean over texts.", interval="", write=decimal3),
        *ends("", "the mean over documents", decimal3),
        whole("n", "Number of texts."),
    ),
)

LENGTH: Final = place("sizes", "Length of the text in sizes of a head, rounded up; 4 for all that are longer.", 1)

MEASURES: Final = (
    correlation("pearson", "Correlation of attention and effective attention over the cells of a map."),
    fraction("removed", "Share of the squared norm of attention that changes nothing."),
    *(
        number(f"{name}{kind}", f"Mean {what} of a query to {told}.", bounds, write=decimal3)
        for name, told in (("cls", "[CLS]"), ("sep", "[SEP]"), ("words", "all words together"))
        for kind, what, bounds in (("", "attention", FRACTIONS), ("_effective", "effective attention", None))
    ),
)
"Of effective attention, of one text or mean over texts."

EFFECTIVE: Final = run_table(
    "One row for each head and length of text: attention, and effective attention, its part that changes what the head "
    "writes.",
    ("name", "sizes"),
    (*ONE_HEAD, LENGTH, whole("n", "Number of texts."), *MEASURES),
)

EFFECTIVE_TEXTS: Final = run_table(
    "One row for each head and text: attention and effective attention, for intervals over heads and documents.",
    ("text", "name"),
    (
        place("text", "Number of the text, from 0."),
        place("document", "Number of its document, from 0: texts of one document are resampled together."),
        *ONE_HEAD,
        LENGTH,
        *MEASURES,
    ),
    csv=False,
)

TERMS: Final = {
    "mixing ratio": "Length of what an attention block takes from other pieces over the sum of this length and that of "
    "what it keeps of the piece itself, mean over pieces (Kobayashi et al. 2021). With weights alone: the attention "
    "that goes to other pieces, or half of it where the residual counts as the other half.",
    "relative residual": "Norm of the states of a text without their mean over that of the states: 0 where all pieces "
    "have one state (Dong et al. 2021). Parts of the layers are left out in the whole pass, nothing is retrained.",
    "identified pieces": "Share of pieces whose embedding, of those of the text, is nearest to what a linear map makes "
    "of their state (Brunner et al. 2020).",
    "effective attention": "Attention without the part that changes nothing of what the head writes: it exists where a "
    "text has more pieces than a head has dimensions (Brunner et al. 2020).",
}


class MixingMeasure(Measure):
    """How much attention mixes; for models of the BERT family."""

    name = "mixing"
    title = "Mixing by attention"
    place = 70
    tables = {"mixing": MIXING, "effective_attention": EFFECTIVE, "effective_texts": EFFECTIVE_TEXTS}
    methods = (
        Method(
            "On {texts} sentences of the report split and as many windows, at the most: effective attention (Brunner "
            "et al. 2020), mixing ratios of the attention block (Kobayashi et al. 2021), and the relative residual of "
            "the states in passes without skip connections or feed-forward nets (Dong et al. 2021). The linear maps "
            "that identify word pieces are fitted on as many texts of the selection split."
        ),
    )

    texts: int = Field(default=0, ge=0)
    "Sentences, and as many windows, of each split that are read, at the most; 0 for none."

    def wanted(self, run: RunContext) -> bool:
        """Return whether texts are wanted; raises CircuitError for other than BERT's family."""
        from mha.models.circuits import encoder_of

        return self.texts > 0 and encoder_of(run.model, self.name) is not None

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return a row a measure and depth, a row a head and length of text, and a row a head and text."""
        from experiments.run.context import SCOPES
        from probes.states.mixing import Mixing, mixing_texts

        by_scope = [run.texts(scope) for scope in SCOPES]
        select, report = (mixing_texts(run.model, texts, self.texts) for texts in zip(*by_scope, strict=True))
        for split, aligned in zip(SPLITS, (select, report), strict=True):
            run.note_dropped(split, "sentence and window", self.name, aligned.dropped)
        step = run.counter(self.name, len(select.pieces) + len(report.pieces))
        return dict(
            zip(self.tables, Mixing.learned(run.model, select, step).tables(report, run.effort, step), strict=True)
        )

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield ratios and states by layer, and effective attention by length of text."""
        rows, heads = run.last("mixing"), run.last("effective_attention")
        if heads.empty:
            return
        means = rows[rows["depth"] > 0].groupby("measure")["value"].mean().reindex(RATIOS)
        last = rows[rows["depth"] == rows["depth"].max()].set_index("measure")["value"].reindex(STATES)
        yield Paragraph(
            f"On {count(int(rows['n'].max()))} texts attention blocks mix {percent(means[RATIOS[-1]])} % from other "
            f"pieces, where weights and half a residual give {percent(means[RATIOS[1]])} %. The relative residual of "
            f"the last states is {decimal(last[STATES[0]])}; in a pass of attention alone it is "
            f"{decimal(last[STATES[-1]])}."
        )
        yield Terms(TERMS.items())
        yield TableBlock(_by_depth(rows))
        yield TableBlock(_by_length(heads))


def _by_depth(rows: pd.DataFrame) -> TextTable:
    order = [*RATIOS, *STATES, IDENTIFIED]
    title = "Mixing ratios, relative residuals of states and identified pieces by layer, with 95 % intervals"
    return by_layer(
        title, rows.sort_values("measure", key=lambda column: column.map(order.index)), ["measure"], "depth"
    )


def _by_length(heads: pd.DataFrame) -> TextTable:
    columns = columns_of(
        (
            *("Length of text in sizes of a head", "Texts", "Correlation", "Removed"),
            *("[CLS]", "[CLS], effective", "[SEP]", "[SEP], effective"),
        )
    )
    shown = ["pearson", "removed", "cls", "cls_effective", "sep", "sep_effective"]
    rows = [
        (str(sizes), count(int(part["n"].iloc[0])), *(decimal(part[name].mean()) for name in shown))
        for sizes, part in heads.groupby("sizes")
    ]
    return TextTable.of("Attention and effective attention by length of text, mean over heads", columns, rows)
