"""Gu et al. 2025: attention sinks need attention that sums to one, and enough training."""

from __future__ import annotations

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.rule import Rule

PAPER = Paper("gu-2025", "Gu et al. 2025", "When Attention Sink Emerges in Language Models: An Empirical View")

MODEL = "Decoders, trained for this"

FINDINGS = (
    Finding(
        id="gu-sigmoid",
        claim="Heads that need not sum to one have no sink.",
        where="results without normalisation",
        model=MODEL,
        data="text",
        metric="Share of heads, over texts, whose attention to the first token is above a threshold.",
        statements=[
            Statement(
                name="sinks",
                text="With sigmoid attention that is not normalised, the share of sinks is less than a tenth.",
                number="share of sinks with sigmoid over that with softmax",
                rule=Rule(below=0.1),
                unit="times",
                published=Published(0.0044, 0.1818, text="sigmoid, not normalised; softmax", provenance="second-hand"),
            )
        ],
        missing="no model here has attention that does not sum to one",
    ),
    Finding(
        id="gu-emergence",
        claim="Sinks come early in the training, and not at all where there is little data.",
        where="results on training and data",
        model=MODEL,
        data="text",
        metric="Share of heads, over texts, whose attention to the first token is above a threshold.",
        statements=[
            Statement(
                name="step",
                text="Sinks come within the first 2,000 steps.",
                number="step at which there are sinks",
                rule=Rule(below=2000.0),
                unit="steps",
                published=Published(text="steps 1,000 to 2,000", provenance="second-hand"),
                shown="steps",
            ),
            Statement(
                name="little data",
                text="With 100 million tokens or fewer there are no sinks.",
                number="share of sinks",
                rule=Rule(below=0.01),
                unit="%",
                published=Published(text="none with 100 million tokens or fewer", provenance="second-hand"),
            ),
        ],
        missing="no decoder is trained here, and sinks at the first token are not followed over a training",
    ),
)
