"""States of words: their geometry by layer, outlier dimensions, and what is lost without these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Paragraph, TableBlock, Terms, by_layer
from reports.formats import count, decimal3, percent
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.column import Column, Write
from reports.tables.shared_columns import CORRELATIONS, SPLITS, N, ends, number, place, run_table, text, whole

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.scoring.aligned import Aligned
    from probes.states.word_states import WordStates

GEOMETRY: Final = (
    "random words",
    "self-similarity",
    "self-similarity, adjusted",
    "intra-sentence similarity",
    "intra-sentence similarity, adjusted",
    "intra-sentence similarity, beyond random sentences",
    "explained variance",
    "explained variance, adjusted",
)

KINDS: Final = ("intact", "outliers", "random", "outliers beyond random")


def _values(meaning: str, write: Write = decimal3) -> tuple[Column, ...]:
    """Return a number in [-1, 1] with its interval, and what it is a mean over."""
    return (number("value", meaning, CORRELATIONS, "", write), *ends("", "the value", write), N)


STATES: Final = run_table(
    "One row for each layer and measure of the states of words, on the report split (Ethayarajh 2019).",
    ("layer", "measure"),
    (
        place("layer", "0 is what the first layer reads; layer l is the output of the l-th layer."),
        text(
            "measure",
            "random words: mean cosine of two words of different texts; self-similarity: of two occurrences of a word; "
            "intra-sentence similarity: of a word and the mean of its text; explained variance: share of a word's "
            "occurrences on their first principal component. Adjusted: minus what random words have; beyond random "
            "sentences: minus the cosine of as many words of other texts and their mean.",
            GEOMETRY,
        ),
        *_values("Cosine, share or difference."),
    ),
)

OUTLIER_DIMENSIONS: Final = run_table(
    "One row for each dimension whose scaling factor or bias in the LayerNorm at the end of a layer is more than three "
    "standard deviations from the mean in at least half of the layers (Kovaleva et al. 2021).",
    ("dimension",),
    (
        place("dimension", "Dimension of the states, counted from 0."),
        whole("scale_layers", "Layers in which the scaling factor is an outlier."),
        whole("bias_layers", "Layers in which the bias is an outlier."),
        whole("state_layers", "Layers in which the mean of the states of words is an outlier."),
        whole("size", "Dimensions of the states."),
    ),
)

ABLATED_DIMENSIONS: Final = run_table(
    "One row for each measure and kind of dimensions that are zero in the output of every layer, on the report split.",
    ("measure", "kind"),
    (
        text(
            "measure",
            "part of speech: accuracy of a classifier that learned from the last layer of the intact model; masked "
            "word: accuracy of the masked-LM head at one masked piece a text.",
            ("part of speech", "masked word"),
        ),
        text(
            "kind",
            "intact; outliers: all outlier dimensions are zero; random: as many others, the mean over several sets; "
            "outliers beyond random: how much more accuracy the outliers cost.",
            KINDS,
        ),
        *_values("Accuracy, or a difference of accuracies.", percent),
    ),
)

TERMS: Final = {
    "self-similarity": "Mean cosine of the states of one word in different sentences; adjusted: minus the mean cosine "
    "of random words of different sentences, which is the anisotropy of the layer (Ethayarajh 2019).",
    "outlier dimension": "A dimension whose scaling factor or bias in the LayerNorm at the end of a layer is more than "
    "three standard deviations from the mean in at least half of the layers (Kovaleva et al. 2021).",
}


class StatesMeasure(Measure):
    """The geometry of words' states by layer, and outlier dimensions; nothing where no texts are wanted."""

    name = "states"
    title = "States of words"
    place = 210
    switch = "texts"
    tables = {"states": STATES, "outlier_dimensions": OUTLIER_DIMENSIONS, "ablated_dimensions": ABLATED_DIMENSIONS}
    methods = (
        Method(
            "Over {texts} sentences a split at the most. Cosines are of word states, means over subwords, and adjusted "
            "by what random words of different sentences have (Ethayarajh 2019, section 3.3); words with {contexts} "
            "contexts at least are compared with themselves. Outlier dimensions (Kovaleva et al. 2021) were set to "
            "zero in all layers, and as many random ones {sets} times."
        ),
    )

    texts: int = Field(default=0, ge=0)
    "Sentences of each split that are read, at the most: those with the smallest hash of their ids; 0 for none."
    contexts: int = Field(default=20, ge=2)
    "Sentences that a word stands in at least to be compared with itself."
    sets: int = Field(default=10, ge=1)
    "Sets of random dimensions that outlier dimensions are compared with."

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the tables; without those of outlier dimensions, and a note, where LayerNorms are not known."""
        from mha.hooks import HookError
        from probes.states.geometry import geometry
        from probes.states.word_states import WordStates, whole_texts

        select, report = (whole_texts(run.model, texts, self.texts) for texts in run.texts("sentence"))
        for split, one in zip(SPLITS, (select, report), strict=True):
            run.note_dropped(split, "sentence", self.name, one.dropped)
        if not (select.pieces and report.pieces):
            run.note("states: the corpora have no sentence that the model can read")
            return {}
        with run.journal.stage("states: read"):
            states = (WordStates.of(run.model, select, run.settings), WordStates.of(run.model, report, run.settings))
        with run.journal.stage("states: geometry"):
            tables = {"states": geometry(states[1], run.config.seed, contexts=self.contexts)}
        with run.journal.stage("states: outlier dimensions"):
            try:
                tables |= self._outliers(run, (select, report), states)
            except HookError as error:
                run.note(f"states: {error}")
        return {name: table for name, table in tables.items() if len(table)}

    def _outliers(
        self, run: RunContext, aligned: tuple[Aligned, Aligned], states: tuple[WordStates, WordStates]
    ) -> dict[str, pd.DataFrame]:
        """Return the outlier dimensions, and what is lost without them where there are any."""
        from probes.states.outliers import Outliers, ablated

        outliers = Outliers.of(run.model, states[1])
        tables = {"outlier_dimensions": outliers.table().assign(size=states[1].vectors.shape[-1])}
        if len(found := outliers.dimensions):
            step = run.counter("states: passes without dimensions", self.sets + 2)
            tables["ablated_dimensions"] = ablated(
                run.model,
                aligned,
                states,
                found.tolist(),
                run.settings,
                sets=self.sets,
                seed=run.config.seed,
                step=step,
            )
        return tables

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield the geometry by layer, and what outlier dimensions are worth."""
        rows, ablated = run.last("states"), run.last("ablated_dimensions")
        random = rows[rows["measure"] == GEOMETRY[0]].sort_values("layer")["value"].iloc[-1]
        yield Paragraph(
            f"{count(len(run.last('outlier_dimensions')))} dimensions of the states are outliers. The random words of "
            f"the last layer have a mean cosine of {random:.3f}."
        )
        yield Terms(TERMS.items())
        yield TableBlock(by_layer("Cosines of states by layer, with 95 % intervals", rows, ["measure"]))
        if len(ablated):
            title = "Accuracy with dimensions set to zero in the output of every layer"
            yield TableBlock(ABLATED_DIMENSIONS.beside(ablated, title, "measure", "kind", "value"))
