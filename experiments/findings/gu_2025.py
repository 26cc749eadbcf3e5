"""Gu et al. 2025: attention sinks need attention that sums to one, and enough training."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.paper_sentence import sentence
from experiments.statements.rule import Rule

PAPER = Paper("gu-2025", "Gu et al. 2025", "When Attention Sink Emerges in Language Models: An Empirical View")

finding = partial(
    Finding,
    model="Decoders, trained for this",
    data="text",
    metric="Share of heads, over texts, whose attention to the first token is above a threshold.",
)

FINDINGS = (
    finding(
        id="gu-sigmoid",
        claim="Heads that need not sum to one have no sink.",
        where="results without normalisation",
        statements=[
            Statement(
                name="sinks",
                text="With sigmoid attention that is not normalised, the share of sinks is less than a tenth.",
                number="share of sinks with sigmoid over that with softmax",
                rule=Rule(below=0.1, unit="times"),
                shown="%",
                published=Published(0.0044, 0.1818, text="sigmoid, not normalised; softmax", provenance="second-hand"),
            )
        ],
        missing="no model here has attention that does not sum to one",
    ),
    finding(
        id="gu-little-data",
        untrained="before training there are no sinks either",
        claim="Where there is little data there are no sinks.",
        where="results on data",
        metric="Share of heads and texts whose mean attention to the first token is above 0.3.",
        stands_in="Decoders of two layers, trained here on 21 million pieces of English prose, three seeds.",
        differs="Two layers of four heads; the first token of each text is [CLS].",
        statements=[
            sentence(
                "induction",
                "little data",
                "With so few texts there are no attention sinks",
                "With 21 million pieces there are no sinks.",
                Rule(below=0.01, unit="%"),
                Published(text="none with 100 million tokens or fewer", provenance="second-hand"),
            )
        ],
        readings=("claim-induction",),
    ),
    finding(
        id="gu-emergence",
        claim="Sinks come early in the training.",
        where="results on training",
        statements=[
            Statement(
                name="step",
                text="Sinks come within the first 2,000 steps.",
                number="step at which there are sinks",
                rule=Rule(below=2000.0, unit="steps"),
                published=Published(text="steps 1,000 to 2,000", provenance="second-hand"),
            ),
        ],
        missing="decoders here read a hundredth of the texts after which the paper's have sinks",
    ),
)
