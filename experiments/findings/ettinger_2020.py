"""Ettinger 2020: BERT hears roles in part, and does not hear "not"."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.numbers import preferred
from experiments.statements.rule import LearnedRule
from probes.pairs.negation_and_roles import AFFIRMED, NEGATED

PAPER = Paper(
    "ettinger-2020",
    "Ettinger 2020",
    "What BERT Is Not: Lessons from a New Suite of Psycholinguistic Diagnostics for Language Models",
)

READING = "negation-and-roles"

MOSTLY, HARDLY = 0.9, 0.1
"Shares from which on nearly all, and nearly none, of the true words are preferred; the paper has all and none."

finding = partial(Finding, model="bert-base-uncased and bert-large-uncased", readings=(READING,))

FINDINGS = (
    finding(
        id="ettinger-negation",
        claim="BERT completes sentences with the same word whether they are negated or not.",
        where="the table of NEG-88, simple items",
        data="NEG-88, after Fischler et al. 1983: 18 affirmed and 18 negated simple sentences",
        metric="The share of sentences whose true completion is more probable than the false one.",
        stands_in="Sentences of our own: what 36 words are a kind of, against 5 other kinds, with and without not.",
        differs="“is a kind of” in the place of “is a”, so that both completions fit the article.",
        statements=[
            Statement(
                name=AFFIRMED,
                text="Without not, the true word is nearly always preferred.",
                number="share of pairs whose true sentence is preferred, affirmed",
                rule=LearnedRule(above=MOSTLY, unit="%"),
                weaker=LearnedRule(above=0.5),
                published=Published(1.0, text="large 100", provenance="memory"),
                measure=lambda evidence: preferred(evidence[READING], "negation", condition=AFFIRMED),
            ),
            Statement(
                name=NEGATED,
                text="With not, it hardly ever is: the same word is preferred as without.",
                number="share of pairs whose true sentence is preferred, negated",
                rule=LearnedRule(below=HARDLY, unit="%"),
                weaker=LearnedRule(below=0.5),
                published=Published(0.0, text="large 0", provenance="memory"),
                measure=lambda evidence: preferred(evidence[READING], "negation", condition=NEGATED),
            ),
        ],
    ),
    finding(
        id="ettinger-roles",
        claim="BERT is sensitive to the reversal of roles in part.",
        where="the table of sensitivity, ROLE-88",
        data="ROLE-88, after Chow et al. 2016: 88 sentences, each with two orders of the same words",
        metric="The share of items whose verb is more probable in the order that it suits than in the other.",
        stands_in="Sentences of our own: 15 pairs of nouns in four openings, in either order.",
        differs="Each noun is the agent of one of two verbs: who prefers one noun is right in half of them.",
        statements=[
            Statement(
                name="roles",
                text="In three quarters of the pairs the verb is more probable in the order that it suits.",
                number="share of pairs whose verb is more probable in the order that it suits",
                rule=LearnedRule(above=0.75, unit="%"),
                weaker=LearnedRule(above=0.5),
                published=Published(0.75, text="large 86", provenance="memory"),
            )
        ],
        measure=lambda evidence: preferred(evidence[READING], "role-reversal"),
    ),
)
