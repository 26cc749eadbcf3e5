"""Jawahar, Sagot and Seddah 2019: surface features in low layers, syntax in the middle, semantics on top."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pandas as pd

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import average, by_depth, minus, points, rows
from experiments.statements.rule import LearnedRule
from reports.statements.figure import Figure

PAPER = Paper("jawahar-2019", "Jawahar, Sagot and Seddah 2019", "What Does BERT Learn about the Structure of Language?")

LOW, MIDDLE, HIGH = "low", "middle", "high"

THIRDS = {LOW: (0.0, 1 / 3), MIDDLE: (1 / 3, 2 / 3), HIGH: (2 / 3, 1.0)}
"Thirds of the depth; the input is in none."


@dataclass(frozen=True)
class LayerTrend:
    """Which third of the layers is better at a task than which others."""

    task: str
    better: str
    than: tuple[str, ...]
    published: str
    "Where the paper finds the task solved best."


SURFACE = (
    LayerTrend("sentence length", LOW, (HIGH,), "best in layer 3 of 12, 96.2 %"),
    LayerTrend("word content", LOW, (HIGH,), "best in layer 4 of 12, about 70 %"),
)

SYNTAX = (
    LayerTrend("tree depth", MIDDLE, (LOW, HIGH), "best in layers 5 and 6 of 12, about 41 %"),
    LayerTrend("bigram shift", MIDDLE, (LOW,), "best in layer 9 of 12, 87 %"),
)

SEMANTICS = (
    LayerTrend("tense", HIGH, (LOW,), "best in layer 9 of 12, about 90 %"),
    LayerTrend("subject number", HIGH, (LOW,), "best in layer 6 of 12, about 88 %, and higher above than below"),
)
"Object number is left out: in the paper's table it is as good in the low as in the high layers."


def _layers(evidence: Evidence, task: str) -> pd.DataFrame:
    """Return the rows of a task from the first layer on, whose `layer` counts from 0 as everywhere."""
    found = rows(evidence["probing"].tables.get("layer_probes"), task=task)
    found = found[found["layer"] > 0] if len(found) else found
    if len(found) < len(THIRDS):
        raise Missing(f"{task}: no classifier, or fewer than three layers")
    return found.assign(layer=found["layer"] - 1)


def _ahead(course: LayerTrend, evidence: Evidence) -> Measured:
    """Return how far the better third is ahead of the best of the others."""
    layers = _layers(evidence, course.task)
    thirds = {name: average(by_depth(layers, *ends), low="low", high="high") for name, ends in THIRDS.items()}
    other = max((thirds[name] for name in course.than), key=lambda one: one.value)
    told = ", ".join(f"{name} {one.value:.1%}" for name, one in thirds.items())
    baseline, ours = float(layers["baseline"].iloc[0]), thirds[course.better]
    return Measured(minus(ours, other), ours, baseline, note=f"{told}; the most frequent label {baseline:.1%}")


def _drawn(courses: tuple[LayerTrend, ...], evidence: Evidence) -> Figure:
    found = {course.task: _layers(evidence, course.task) for course in courses}
    series = {task: points(layers, "layer", "value", "low", "high", first=1) for task, layers in found.items()}
    return Figure("lines", "Tasks by layer", "layer", "accuracy", series=series)


def _statement(course: LayerTrend) -> Statement:
    others = " and in the ".join(course.than)
    return Statement(
        name=course.task,
        text=f"The task {course.task!r} is solved better in the {course.better} third of the layers than in the "
        f"{others} third.",
        number="accuracy of the third minus that of the best of the others",
        rule=LearnedRule(above=0.0),
        published=Published(text=course.published, provenance="memory"),
        measure=partial(_ahead, course),
    )


def _finding(name: str, claim: str, courses: tuple[LayerTrend, ...], untrained: str = "") -> Finding:
    return Finding(
        id=name,
        claim=claim,
        where="section 4, table 2",
        model="BERT base, uncased",
        data="The probing tasks of SentEval (Conneau et al. 2018), 100,000 sentences each",
        metric="Accuracy of a classifier of a sentence's vector, by layer; here a logistic regression, and means over "
        "thirds of the layers.",
        stands_in="UD English EWT, 1,000 sentences of train and of dev; the mean of the states of words",
        differs="The paper takes the state of the first token, and a network with a hidden layer. Tree depth is told "
        "apart among sentences of one length, tense and numbers from their trees; far fewer sentences; classes are "
        "balanced where there are two.",
        untrained=untrained,
        statements=tuple(map(_statement, courses)),
        readings=("probing",),
        figure=partial(_drawn, courses),
    )


FINDINGS = (
    _finding(
        "jawahar-surface",
        "Surface features are encoded in the low layers.",
        SURFACE,
        untrained="permuted weights in one of three seeds",
    ),
    _finding("jawahar-syntax", "Syntactic features are encoded in the middle layers.", SYNTAX),
    _finding("jawahar-semantics", "Semantic features are encoded in the high layers.", SEMANTICS),
)
