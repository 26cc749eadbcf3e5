"""Elazar, Ravfogel, Jacovi and Goldberg 2021: what a probe finds is not what a model uses."""

from __future__ import annotations

import pandas as pd

from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, minus, rows
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

DIFFERS = (
    "What is lost is the accuracy of a linear classifier that tells the 100 most frequent words from their states in "
    "the last layer, as a masked-LM head does of words that are not masked, since MiniLM has no such head; it has "
    "learned from the intact states. Phrase starts are those of the phrases of nouns in the tree."
)


def _row(evidence: Evidence, name: str) -> pd.Series | None:
    found = rows(evidence["probing"].studies.get("amnesic", pd.DataFrame(columns=["property"])), property=name)
    return found.iloc[0] if len(found) else None


def _estimate(row: pd.Series, name: str) -> Estimate:
    return estimate_of(row, name, f"{name}_low", f"{name}_high")


def _effects(evidence: Evidence) -> Numbers:
    return {name: _effect(_row(evidence, name), name) for name in (TAGS, LABELS)}


def _effect(row: pd.Series | None, name: str) -> Measured | Missing:
    if row is None:
        return Missing(f"no words with a {name}")
    if row["left"] > row["majority"] + REMOVED:
        return Missing(f"a linear probe still finds the {name}: {row['left']:.1%}, most frequent {row['majority']:.1%}")
    return Measured(_estimate(row, "effect"), note=_told(row))


def _told(row: pd.Series) -> str:
    accuracies = f"words {row['intact']:.1%}, without it {row['amnesic']:.1%}, without random ones {row['random']:.1%}"
    probe = f"probe {row['accuracy']:.1%}, after {row['left']:.1%}, most frequent label {row['majority']:.1%}"
    return f"{row['directions']} directions; {accuracies}; {probe}"


def _order(evidence: Evidence) -> Numbers:
    """Return for two pairs of properties how much more is lost without the one that probes tell less well."""
    tags, labels, starts = (_row(evidence, name) for name in (TAGS, LABELS, STARTS))
    return {"dependency labels": _more_lost(labels, tags), "phrase starts": _little_lost(starts)}


def _more_lost(less_told: pd.Series | None, better_told: pd.Series | None) -> Measured | Missing:
    if less_told is None or better_told is None:
        return Missing("no words with both properties")
    if less_told["accuracy"] >= better_told["accuracy"]:
        return Missing("probes tell dependency labels as well as parts of speech")
    lost, other = _estimate(less_told, "lost"), _estimate(better_told, "lost")
    note = f"probes {less_told['accuracy']:.1%} and {better_told['accuracy']:.1%}"
    return Measured(minus(lost, other), lost, other.value, note=note)


def _little_lost(row: pd.Series | None) -> Measured | Missing:
    if row is None:
        return Missing("no phrase starts")
    return Measured(_estimate(row, "effect"), note=_told(row))


def _drawn(evidence: Evidence) -> Figure:
    known = [(name, row) for name in (TAGS, LABELS, STARTS) if (row := _row(evidence, name)) is not None]
    series: dict[str, list[Point]] = {
        kind: [(place, float(row[column])) for place, (_, row) in enumerate(known)]
        for kind, column in (("probe of it", "accuracy"), ("words, intact", "intact"), ("words, without it", "amnesic"))
    }
    series["words, random"] = [(place, float(row["random"])) for place, (_, row) in enumerate(known)]
    return Figure("bars", "Without a property", "", "accuracy", series, [name for name, _ in known])


FACT = (
    "a word's form says much about its part of speech and relation, so without the directions of these words are told "
    "less well also from the states of randomly initialised weights"
)


FINDINGS = (
    Finding(
        id="elazar-properties-used",
        claim="Parts of speech and dependencies are used: without them more is lost than without random directions.",
        where="section 4, table of removed properties",
        model="BERT base, uncased",
        data="Penn Treebank; OntoNotes for phrases",
        metric=METRIC,
        stands_in="UD English EWT, 800 sentences of train, 800 of dev",
        differs=DIFFERS,
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
            )
            for name in (TAGS, LABELS)
        ],
        fact=FACT,
        readings=("probing",),
        measure=_effects,
        figure=_drawn,
    ),
    Finding(
        id="elazar-probes-do-not-tell",
        claim="Probing accuracy does not predict causal importance.",
        where="section 4, on probing accuracy and importance",
        model="BERT base, uncased",
        data="Penn Treebank; OntoNotes for phrases",
        metric=METRIC,
        stands_in="UD English EWT, 800 sentences of train, 800 of dev",
        differs=DIFFERS,
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
            ),
        ],
        fact=FACT,
        readings=("probing",),
        measure=_order,
        figure=_drawn,
    ),
)
