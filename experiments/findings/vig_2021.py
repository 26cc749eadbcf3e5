"""Vig, Madani, Varshney, Xiong, Socher and Rajani 2021: a head of a protein model looks at what touches in space."""

from __future__ import annotations

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.rule import Rule

PAPER = Paper(
    "vig-2021",
    "Vig, Madani, Varshney, Xiong, Socher and Rajani 2021",
    "BERTology Meets Biology: Interpreting Attention in Protein Language Models",
)

FINDINGS = (
    Finding(
        id="vig-contacts",
        claim="One head of a model of proteins attends to amino acids that touch in the folded protein.",
        where="results on contacts",
        model="TapeBert",
        data="5,000 protein sequences",
        metric="Share of a head's attention that is between amino acids in contact.",
        statements=[
            Statement(
                name="contacts",
                text="One head gives ten times more of its attention to contacts than uniform attention would.",
                number="share of the attention of the best head that is between amino acids in contact, over uniform "
                "attention",
                rule=Rule(above=10.0, unit="times"),
                shown="%",
                published=Published(0.447, 0.013, text="head 12-4", provenance="memory"),
            )
        ],
        missing="no model, no reader and no corpus of proteins; the method is that of probes of pairs",
    ),
)
