"""Clark, Khandelwal, Levy and Manning 2019: what BERT's heads attend to."""

from __future__ import annotations

from experiments.findings.clark_2019 import places, relations, separators, wholes
from experiments.statements.finding import Paper

PAPER = Paper(
    "clark-2019",
    "Clark, Khandelwal, Levy and Manning 2019",
    "What Does BERT Look At? An Analysis of BERT's Attention",
)

FINDINGS = (*relations.FINDINGS, *wholes.FINDINGS, *separators.FINDINGS, *places.FINDINGS)
