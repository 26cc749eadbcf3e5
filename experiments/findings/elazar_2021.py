"""Elazar, Ravfogel, Jacovi and Goldberg 2021: what a probe finds is not what a model uses."""

from __future__ import annotations

from functools import partial

import pandas as pd

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import compared, estimate_of, table
from experiments.statements.rule import Rule

PAPER = Paper(
    "elazar-2021",
    "Elazar, Ravfogel, Jacovi and Goldberg 2021",
    "Amnesic Probing: Behavioral Explanation with Amnesic Counterfactuals",
)

TAGS, LABELS, STARTS = "part of speech", "dependency label", "phrase start"
"Properties of the table `amnesic`."

INTACT = 0.9412
"Accuracy of the masked-LM head at words that are not masked, from memory as all numbers of this paper."

WITHOUT = {TAGS: 0.6192, LABELS: 0.0705, STARTS: 0.9421}
"The same without the property, by property; parts of speech are the 12 coarse ones."

RANDOM = {TAGS: 0.8965, LABELS: 0.1231, STARTS: 0.9375}
"The same without as many random directions."

PROBES = {TAGS: 0.9234, LABELS: 0.7600, STARTS: 0.8512}
"Accuracy of the probes."

REMOVED = 0.02
"How far above the share of the most frequent label a probe may be where a property counts as removed."

METRIC = "Directions of a property are removed from the states by iterative nullspace projection until a linear "
METRIC += "classifier no longer tells it; the effect is the accuracy without as many random directions minus that "
METRIC += "without these."

FACT = (
    "a word's form says much about its part of speech and relation, so without the directions of these words are told "
    "less well also from the states of randomly initialised weights"
)


def _row(evidence: Evidence, name: str) -> pd.Series:
    return table(evidence, "probing", "amnesic", f"no words with a {name}", property=name).iloc[0]


def _estimate(row: pd.Series, name: str) -> Estimate:
    return estimate_of(row, name, f"{name}_low", f"{name}_high")


def _effect(name: str, evidence: Evidence) -> Measured:
    row = _row(evidence, name)
    if name != STARTS and row["left"] > row["majority"] + REMOVED:
        raise Missing(f"a linear probe still finds the {name}: {row['left']:.1%}, most frequent {row['majority']:.1%}")
    accuracies = f"words {row['intact']:.1%}, without it {row['amnesic']:.1%}, without random ones {row['random']:.1%}"
    probe = f"probe {row['accuracy']:.1%}, after {row['left']:.1%}, most frequent label {row['majority']:.1%}"
    return Measured(_estimate(row, "effect"), note=f"{row['directions']} directions; {accuracies}; {probe}")


def _more_lost(evidence: Evidence) -> Measured:
    """Return how much more is lost without the labels, which probes tell less well, than without parts of speech."""
    labels, tags = (_row(evidence, name) for name in (LABELS, TAGS))
    if labels["accuracy"] >= tags["accuracy"]:
        raise Missing("probes tell dependency labels as well as parts of speech")
    note = f"probes {labels['accuracy']:.1%} and {tags['accuracy']:.1%}"
    return compared(_estimate(labels, "lost"), _estimate(tags, "lost"), note=note)


finding = partial(
    Finding,
    model="BERT base, uncased",
    data="Penn Treebank; OntoNotes for phrases",
    metric=METRIC,
    stands_in="UD English EWT, 800 sentences of train, 800 of dev",
    differs="What is lost is the accuracy of a linear classifier that tells the 100 most frequent words from their "
    "states in the last layer, as a masked-LM head does of words that are not masked, since MiniLM has no such head; "
    "it has learned from the intact states. Phrase starts are those of the phrases of nouns in the tree.",
    readings=("probing",),
)

FINDINGS = (
    finding(
        id="elazar-properties-used",
        claim="Parts of speech and dependencies are used: without them more is lost than without random directions.",
        where="section 4, table of removed properties",
        statements=[
            Statement(
                name=name,
                text=f"Without the {name} words are told less well than without as many random directions.",
                number="accuracy without random directions minus that without the property",
                rule=Rule(above=round(RANDOM[name] - WITHOUT[name], 4)),
                weaker=Rule(above=0.0),
                published=Published(
                    round(RANDOM[name] - WITHOUT[name], 4), text=f"all of it: {INTACT:.1%}", provenance="memory"
                ),
                shown="points",
                measure=partial(_effect, name),
            )
            for name in (TAGS, LABELS)
        ],
        fact=FACT,
    ),
    finding(
        id="elazar-probes-do-not-tell",
        claim="Probing accuracy does not predict causal importance.",
        where="section 4, on probing accuracy and importance",
        statements=[
            Statement(
                name="dependency labels",
                text="Probes tell dependency labels less well than parts of speech, and yet more is lost without them.",
                number="accuracy lost without dependency labels minus that lost without parts of speech",
                rule=Rule(above=0.0),
                published=Published(
                    round(WITHOUT[TAGS] - WITHOUT[LABELS], 4),
                    text=f"probes {PROBES[LABELS]:.1%} and {PROBES[TAGS]:.1%}",
                    provenance="memory",
                ),
                shown="points",
                measure=_more_lost,
            ),
            Statement(
                name="phrase starts",
                text="Probes tell where phrases start, and yet nothing is lost without it beyond random directions.",
                number="accuracy without random directions minus that without phrase starts",
                rule=Rule(above=-0.02, below=0.02),
                published=Published(
                    round(RANDOM[STARTS] - WITHOUT[STARTS], 4),
                    text=f"probe {PROBES[STARTS]:.1%}",
                    provenance="memory",
                ),
                shown="points",
                measure=partial(_effect, STARTS),
            ),
        ],
        fact=FACT,
    ),
)
