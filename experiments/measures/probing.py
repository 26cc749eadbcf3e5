"""Probes of layers: trees, sentences and properties in states, relations in the attention of all heads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read, tables_of
from reports.blocks.block import Block, Paragraph, TableBlock, Terms, by_layer
from reports.formats import count, percent, signed
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.classifiers import RANK
from reports.tables.shared_columns import (
    CORRELATIONS,
    SPLITS,
    N,
    difference,
    ends,
    fraction,
    number,
    place,
    run_table,
    text,
    whole,
)

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.scoring.aligned import Aligned

ATTACHED: Final = "undirected attachment"

LAYER_PROBES: Final = run_table(
    "One row for each task, measure and layer: what a linear probe of the layer's states achieves on the report split.",
    ("task", "measure", "layer"),
    (
        text(
            "task",
            "tree distances, tree depths: the structural probe (Hewitt and Manning 2019); the others are about whole "
            "sentences, from the mean of their words' states (Jawahar et al. 2019).",
        ),
        text(
            "measure",
            "undirected attachment, rank correlation, root (accuracy) of the structural probe; accuracy of the others.",
            (ATTACHED, "rank correlation", "root", "accuracy"),
        ),
        place("layer", "0 is what the first layer reads; layer l is the output of the l-th layer."),
        number("value", "What the measure comes to on the report split.", CORRELATIONS, ""),
        *ends("", "the measure"),
        N,
        number(
            "held_out", "The same on held-out documents of the selection split; missing of sentences.", CORRELATIONS
        ),
        number(
            "baseline",
            "Of tree distances: how far words stand apart. Of sentences: the accuracy of the most frequent label.",
            CORRELATIONS,
        ),
    ),
)

PAIR_PROBES: Final = run_table(
    "One row for each task about two words: a linear classifier sees the attention of all heads from one to the other, "
    "and back (Reif et al. 2019).",
    ("task",),
    (
        text(
            "task",
            "relation or not: whether one word is the other's head, as in half of the pairs; which relation: of that "
            "half.",
            ("relation or not", "which relation"),
        ),
        whole("labels", "Number of labels."),
        number("value", "Accuracy on the report split.", (0.0, 1.0), "", percent),
        *ends("", "the accuracy", percent),
        N,
        fraction("distance", "Accuracy of a classifier that sees how far apart the words stand."),
        fraction("majority", "Accuracy of the most frequent label of the selection split."),
    ),
)

AMNESIC: Final = run_table(
    "One row for each property of words that is removed from the states of the last layer (Elazar et al. 2021).",
    ("property",),
    (
        text("property", "What is removed: part of speech, dependency label, start of a noun's phrase."),
        whole("directions", "Directions that were removed until no linear classifier could predict the property."),
        fraction("accuracy", "Accuracy of a linear classifier of the property, before.", "accuracy"),
        *ends("accuracy", "the accuracy", percent),
        fraction("majority", "Accuracy of the most frequent label."),
        fraction("left", "Accuracy of the last classifier of the property."),
        fraction("intact", "Accuracy with which frequent words are predicted from the intact states."),
        fraction("amnesic", "The same without the directions of the property."),
        fraction("random", "The same without as many random directions, the mean over several sets."),
        difference("effect", "random minus amnesic.", "effect"),
        *ends("effect", "the effect", signed),
        difference("lost", "intact minus amnesic.", "lost"),
        *ends("lost", "the loss", signed),
        N,
    ),
)

TERMS: Final = {
    "structural probe": "A linear map of states after which distances between words are their distances in the tree, "
    "or lengths their depths; undirected attachment is the share of arcs of the minimum spanning tree that are in the "
    "gold tree (Hewitt and Manning 2019).",
    "amnesic probing": "All directions from which a linear classifier predicts a property are projected out of the "
    "states of the last layer; the effect is how much more this costs than as many random directions (Elazar et al. "
    "2021).",
}


class ProbingMeasure(Measure):
    """Probes of layers, and of the attention of all heads, on sentences with trees; nothing where none are wanted."""

    name = "probing"
    title = "Probes of layers"
    place = 220
    switch = "sentences"
    tables = {"layer_probes": LAYER_PROBES, "pair_probes": PAIR_PROBES, "amnesic": AMNESIC}
    methods = (
        Method(
            f"Structural probes (Hewitt and Manning 2019) of rank {RANK} learned from {{sentences}} sentences at the "
            "most, linear classifiers of sentences (Jawahar et al. 2019) from {labelled}, of pairs of words (Reif et "
            "al. 2019) from {pairs} arcs and as many pairs without. Directions of a property were removed from the "
            "last layer by iterative nullspace projection (Elazar et al. 2021), and as many random ones."
        ),
    )

    sentences: int = Field(default=0, ge=0)
    "Sentences of each split whose words are probed, at the most; 0 for none."
    labelled: int = Field(default=2000, ge=0)
    "Sentences of each split that are probed as wholes, at the most; 0 for none."
    pairs: int = Field(default=2000, ge=0)
    "Arcs of each split, and as many pairs without, at the most; 0 for none."

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the tables; a note, and none of them, where the corpora have no trees."""
        from probes.states.amnesic import PROPERTIES, amnesic
        from probes.states.pair_relations import probe_pairs
        from probes.states.structural import probe_trees
        from probes.states.trees import is_tree
        from probes.states.word_states import WordStates

        aligned, seed = self._aligned(run, self.sentences), run.config.seed
        if not all(any(is_tree(one) for one in part.texts.take(part.kept)) for part in aligned):
            run.note("probing: the corpora have no trees")
            return {}
        with run.journal.stage("probing: read"):
            select, report = (WordStates.of(run.model, one, run.settings) for one in aligned)
        with run.journal.stage("probing: trees"):
            layers, pairs = [probe_trees(select, report, seed)], list[pd.DataFrame]()
        with run.journal.stage("probing: properties"):
            removed = amnesic(select, report, seed, run.counter("properties removed", len(PROPERTIES)))
        if self.pairs:
            with run.journal.stage("probing: pairs"):
                clusters = (select.clusters, report.clusters)
                pairs.append(probe_pairs(run.model, aligned, clusters, run.settings, most=self.pairs, seed=seed))
        if self.labelled:
            with run.journal.stage("probing: sentences"):
                layers.append(self._of_sentences(run))
        return tables_of(layer_probes=layers, pair_probes=pairs, amnesic=[removed])

    def _aligned(self, run: RunContext, most: int) -> tuple[Aligned, Aligned]:
        from probes.states.word_states import whole_texts

        select, report = (whole_texts(run.model, texts, most) for texts in run.texts("sentence"))
        for split, one in zip(SPLITS, (select, report), strict=True):
            run.note_dropped(split, "sentence", self.name, one.dropped)
        return select, report

    def _of_sentences(self, run: RunContext) -> pd.DataFrame:
        from probes.states.sentences import TASKS, probe_sentences

        step = run.counter("tasks about sentences", len(TASKS))
        return probe_sentences(
            run.model, self._aligned(run, self.labelled), run.settings, seed=run.config.seed, step=step
        )

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield tasks by layer, pairs of words, and what is lost without a property."""
        layers, pairs, removed = (run.last(name) for name in cls.tables)
        for best in layers[layers["measure"] == ATTACHED].nlargest(1, "value").to_dict("records"):
            yield Paragraph(
                "Structural probes recover trees best from "
                f"{'layer ' + count(best['layer']) if best['layer'] else 'the input'}: {percent(best['value'])} % of "
                f"arcs, where words in a row have {percent(best['baseline'])} %."
            )
        yield Terms(TERMS.items())
        yield TableBlock(by_layer("Probes of layers, with 95 % intervals", layers, ["task", "measure"]))
        if len(pairs):
            title = "Pairs of words, from the attention of all heads between them"
            yield TableBlock(PAIR_PROBES.beside(pairs, title, "task", "labels", "value", "distance", "majority"))
        if len(removed):
            columns = ("property", "directions", "accuracy", "left", "intact", "amnesic", "effect")
            yield TableBlock(AMNESIC.beside(removed, "Accuracy lost without a property", *columns))
