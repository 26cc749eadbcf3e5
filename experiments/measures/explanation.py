"""Attention as explanation: classifiers that attend to the states of the model's last layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import pandas as pd
from pydantic import Field

from experiments.config.section import GRAMMAR
from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Paragraph, TableBlock, Terms
from reports.formats import count, decimal, percent
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import columns_of
from reports.tables.shared_columns import (
    NOT_NEGATIVE,
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

MEASURES: Final[Mapping[str, str]] = {
    "accuracy": "accuracy on held-out sentences",
    "accuracy, uniform attention": "accuracy of a classifier that is trained with uniform attention",
    "highest weight": "mean of the highest attention weight of a sentence",
    "change, permuted": "median change of the output where attention is permuted",
    "divergence, adversarial": "mean Jensen-Shannon divergence of adversarial attention, in nats",
    "flips, most attended alone": "share that flip without the most attended piece, not without a random one",
    "flips, random alone": "share that flip without a random piece, not without the most attended one",
    "flips, most attended": "share that flip without the most attended piece",
    "erased, by attention": "mean share of pieces erased until the decision flips, those with most attention first",
    "erased, at random": "the same in random order",
    "erased, by attention and gradient": "the same, those first that speak most for the decision",
    "accuracy, guided: trained": "accuracy of a network without context that is given the classifier's attention",
    "accuracy, guided: uniform": "the same, given uniform attention",
    "accuracy, guided: adversarial": "the same, given adversarial attention",
}
"Measure -> what it is."

PAIRS: Final[Mapping[str, str]] = {
    "attention and gradient": "attention, and the gradient at a piece while attention is held as it is",
    "attention and leaving out": "attention, and how the output changes where the model does not read a piece",
    "gradient and leaving out": "gradient and leaving out, of which neither knows of attention: the reference",
}
"What is correlated -> what it is."


def _meanings(of: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in of.items()) + "."


EXPLANATION: Final = run_table(
    "One row for each classifier and measure: a classifier attends to the states of the last layer, which stay as they "
    "are, and decides on the number of the main subject.",
    ("seed", "measure"),
    (
        place("seed", "Number of the classifier, from 0."),
        text("measure", _meanings(MEASURES), tuple(MEASURES)),
        number("value", "Its value on held-out sentences.", NOT_NEGATIVE),
        whole("n", "Number of held-out sentences."),
    ),
)

EXPLANATION_RANKS: Final = run_table(
    "One row for each classifier and pair of measures of the importance of word pieces: their rank correlation.",
    ("seed", "pair"),
    (
        place("seed", "Number of the classifier, from 0."),
        text("pair", _meanings(PAIRS), tuple(PAIRS)),
        correlation("tau", "Kendall's tau over the pieces of a sentence, mean over held-out sentences.", ""),
        *ends("", "the mean over held-out sentences"),
        fraction("significant", "Share of held-out sentences with p of 0.05 at most; it grows with their length."),
        whole("n", "Number of held-out sentences that have a tau: neither measure is the same for all pieces."),
    ),
)

TERMS: Final = {
    "permuted": "The classifier’s attention to the pieces of a sentence is shuffled 100 times; the output changes by "
    "the total variation distance, here of the probability of the plural (Jain and Wallace 2019).",
    "adversarial": "Attention as far from the classifier’s as was found while the output moves by 0.01 at most; the "
    "divergence is at most ln 2, about 0.69 nats (Jain and Wallace 2019).",
    "erased": "Pieces get no attention, that of the others is scaled to sum to 1, until the decision flips; 1 where it "
    "never does (Serrano and Smith 2019).",
    "guided": "A network that sees each piece by itself is trained with attention of another classifier, or uniform, "
    "in the place of its own (Wiegreffe and Pinter 2019).",
    "rank correlation": "Kendall’s tau over the word pieces of a sentence: 1 where two measures of importance have "
    "them in one order, 0 where their orders have nothing to do with each other. Gradients hold attention as it is; a "
    "piece that is left out is not read by the model (Jain and Wallace 2019).",
}


class ExplanationMeasure(Measure):
    """Whether attention of a small classifier over the model's states explains it; for models of the BERT family."""

    name = "explanation"
    title = "Attention as explanation"
    place = 90
    tables = {"explanation": EXPLANATION, "explanation_ranks": EXPLANATION_RANKS}
    methods = (
        Method(
            "{classifiers} classifiers with tanh attention (Bahdanau et al. 2015) were trained on the states of the "
            "last layer, each of {sentences} sentences of the grammar (seed {seed}) whose verb is masked, to decide on "
            "the number of the main subject, and measured on half as many others: attention permuted and adversarial "
            "(Jain and Wallace 2019), pieces erased (Serrano and Smith 2019), and attention as the guide of a network "
            "without context (Wiegreffe and Pinter 2019). Attention is ranked beside gradients at the embeddings, with "
            "attention held, and beside the change of the output where a piece is not read (Kendall’s tau)."
        ),
    )

    switch = "sentences"

    sentences: int = Field(default=0, ge=0)
    "Sentences of the grammar that a classifier is trained on, and half as many that it is measured on; 0 for none."
    classifiers: int = Field(default=5, ge=2)
    "Classifiers that are trained: each has sentences of its own, to train on and to be measured on."
    seed: int = 101
    "Of the sentences to train on; those to measure on are of the next seed."

    def wanted(self, run: RunContext) -> bool:
        """Return whether sentences are wanted; raises CircuitError for other than BERT's family."""
        from mha.models.circuits import encoder_of

        return self.sentences > 0 and encoder_of(run.model, "attention as explanation") is not None

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return a row a measure and classifier, and a row a rank correlation and classifier."""
        from probes.explanation.measure import explanation_tables, read_task

        measured = -(-self.sentences // 2)
        train = read_task(run.model, self.classifiers * self.sentences, self.seed)
        test = read_task(run.model, self.classifiers * measured, self.seed + 1)
        step = run.counter("classifiers that attend", self.classifiers)
        table, ranks = explanation_tables(run.model, train, test, self.classifiers, run.config.seed, step)
        found = {"explanation": table.assign(n=measured), "explanation_ranks": ranks}
        return {name: one.assign(corpus=GRAMMAR) for name, one in found.items()}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield measures and rank correlations, mean and range over classifiers."""
        table, ranks = run.last("explanation"), run.last("explanation_ranks")
        values = table.groupby("measure")["value"].agg(["mean", "min", "max"]).reindex([*MEASURES])
        yield Paragraph(
            f"{count(int(table['seed'].nunique()))} classifiers that attend to the states of the last layer decide on "
            f"the number of the main subject, {percent(values['mean']['accuracy'])} % correct on "
            f"{count(int(table['n'].max()))} held-out sentences. Without the piece that gets most attention "
            f"{percent(values['mean']['flips, most attended'])} % of the decisions flip."
        )
        yield Terms(TERMS.items())
        rows = [(MEASURES[str(name)].capitalize(), *map(decimal, of)) for name, *of in values.itertuples()]
        columns = columns_of(("Measure", "Mean", "Lowest", "Highest"))
        yield TableBlock(TextTable.of("Mean and range over classifiers", columns, rows))
        if len(ranks):
            yield TableBlock(_ranks(ranks))


def _ranks(table: pd.DataFrame) -> TextTable:
    taus = table.groupby("pair")["tau"].agg(["mean", "min", "max"]).reindex([*PAIRS])
    significant = table.groupby("pair")["significant"].mean()
    rows = [
        (str(name).capitalize(), *map(decimal, of), f"{percent(significant.get(name, float('nan')))} %")
        for name, *of in taus.itertuples()
    ]
    columns = columns_of(("Rank correlation of", "Tau", "Lowest", "Highest", "Significant"))
    return TextTable.of("Rank correlations over word pieces, mean and range over classifiers", columns, rows)
