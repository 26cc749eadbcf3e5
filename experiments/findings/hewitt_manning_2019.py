"""Hewitt and Manning 2019: distances between words in a projection of their states are distances in the tree."""

from __future__ import annotations

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.rule import Rule

PAPER = Paper(
    "hewitt-manning-2019",
    "Hewitt and Manning 2019",
    "A Structural Probe for Finding Syntax in Word Representations",
)

TREES = {
    "ELMo, layer 1": 0.770,
    "BERT base, layer 7": 0.798,
    "BERT large, layer 15": 0.825,
    "BERT large, layer 16": 0.817,
    "baseline: decaying recurrence (Decay0)": 0.517,
    "baseline: random recurrence (Proj0)": 0.598,
    "baseline: words in a row (linear)": 0.489,
}
"What is projected -> undirected attachment."

CONFIRMED = "BERT base, layer 7"
"The number that Clark et al. 2019 quote as well, rounded to 80."

FINDINGS = (
    Finding(
        id="hewitt-structural-probe",
        claim="A linear projection of a model's states holds whole trees, and one of untrained states does not.",
        where="main results",
        model="ELMo, BERT base and large",
        data="Penn Treebank",
        metric="Undirected attachment (UUAS) of the minimum spanning tree of distances between projected words.",
        statements=[
            Statement(
                name=name,
                text=f"{name}: trees are found as well as in the paper.",
                number="undirected attachment",
                rule=Rule(above=value - 0.05, below=value + 0.05),
                unit="%",
                published=Published(
                    value, text="80 in Clark et al. 2019" if name == CONFIRMED else "", provenance="memory"
                ),
            )
            for name, value in TREES.items()
        ],
        missing="there is no structural probe here: our parsers see attention, or how far words stand apart",
    ),
)
