"""Bondarenko, Nagel and Blankevoort 2023: outliers in activations come from heads that want to do nothing."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.rule import Rule

PAPER = Paper(
    "bondarenko-2023",
    "Bondarenko, Nagel and Blankevoort 2023",
    "Quantizable Transformers: Removing Outliers by Helping Attention Heads Do Nothing",
)

finding = partial(Finding, model="BERT base, masked-LM", data="text for masked-LM")

FINDINGS = (
    finding(
        id="bondarenko-outliers",
        claim="Outliers in activations stand at the tokens to which heads turn that do nothing.",
        where="analysis of outliers",
        metric="Share of the outliers of activations that stand at [SEP], periods and commas.",
        statements=[
            Statement(
                name="at delimiters",
                text="More than nine in ten outliers stand at [SEP], a period or a comma.",
                number="share of outliers",
                rule=Rule(above=0.9, unit="%"),
                published=Published(0.97, text="more than 97 %", provenance="second-hand"),
            )
        ],
        missing="outliers of activations are not measured; how much attention delimiters get is",
    ),
    finding(
        id="bondarenko-clipped",
        claim="Where the softmax can give exactly nothing, the outliers are gone and the model is no worse.",
        where="clipped softmax",
        metric="Largest activation and perplexity, with the usual softmax and with a clipped one.",
        statements=[
            Statement(
                name="largest activation",
                text="With a clipped softmax the largest activation is less than half as large.",
                number="largest activation with a clipped softmax over that with the usual one",
                rule=Rule(below=0.5, unit="times"),
                published=Published(21.5, 735.0, text="clipped; the usual softmax", provenance="second-hand"),
                shown="",
            ),
            Statement(
                name="perplexity",
                text="With a clipped softmax perplexity is no more than 5 % higher.",
                number="perplexity with a clipped softmax over that with the usual one, minus 1",
                rule=Rule(below=0.05, unit="%"),
                published=Published(4.39, 4.49, text="clipped; the usual softmax", provenance="second-hand"),
                shown="",
            ),
        ],
        missing="no encoder here is trained with a clipped softmax",
    ),
)
