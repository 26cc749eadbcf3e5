"""Marvin and Linzen 2018: what stands between subject and verb makes agreement harder."""

from __future__ import annotations

from functools import partial

from experiments.findings.goldberg_2019 import across
from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import together
from experiments.statements.rule import LearnedRule

PAPER = Paper("marvin-2018", "Marvin and Linzen 2018", "Targeted Syntactic Evaluation of Language Models")

BETWEEN = ("prepositional phrase", "relative clause")


def _harder(name: str, evidence: Evidence) -> Measured:
    one, simple = across(name, evidence), across("simple", evidence)
    less = together(lambda right: float(right[0] - right[1]), [simple.decides, one.decides])
    return Measured(less, ours=one.decides, baseline=simple.decides.value, note=one.note)


FINDINGS = (
    Finding(
        id="marvin-between",
        claim="Agreement is harder across a prepositional phrase or a relative clause than beside the subject.",
        where="the table of results",
        model="LSTM language models",
        data="Stimuli made from templates",
        metric="The share of pairs whose right sentence is more probable.",
        stands_in="Sentences of Lin, Tan and Frank (2019) with does or do in the place of their auxiliaries.",
        differs="Other sentences, and masked language models; we have no numbers of the paper that somebody checked.",
        untrained="randomly initialised weights in two of three seeds, for they prefer some words to others",
        statements=[
            Statement(
                name=name,
                text=f"The right verb is preferred more often beside its subject than across a {name}.",
                number="accuracy beside the subject less that across",
                rule=LearnedRule(above=0.0),
                published=Published(text="lower across", provenance="memory"),
                measure=partial(_harder, name),
            )
            for name in BETWEEN
        ],
        readings=("constructions",),
    ),
)
