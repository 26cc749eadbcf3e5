"""Tenney, Das and Pavlick 2019: layers solve the tasks of the classical pipeline in its order."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import estimate_of, together

PAPER = Paper("tenney-2019", "Tenney, Das and Pavlick 2019", "BERT Rediscovers the Classical NLP Pipeline")

EXPECTED = {
    "part of speech": 3.39,
    "constituents": 3.79,
    "dependencies": 5.69,
    "entities": 4.64,
    "semantic roles": 6.54,
    "coreference": 9.47,
}
"Task -> expected layer of BERT base, from memory."

ORDER = (("part of speech", "dependency label"), ("dependency label", "coreference"))
"Tasks of ours that stand for those of the paper: what is solved before what."

MODEL = "BERT base"

DATA = "OntoNotes and other corpora of eight tasks"

METRIC = (
    "Expected layer: sum over layers of layer x gain over the sum of gains, where a gain is what a layer adds to the "
)
METRIC += "score of all layers below it (section 3.2, equation 4)."


def _layers(evidence: Evidence) -> dict[str, Estimate]:
    """Return the expected layer of every task."""
    table = evidence["classifiers"].studies.get("layers", pd.DataFrame(columns=["task"])).drop_duplicates("task")
    ends = ("expected_layer", "expected_low", "expected_high")
    return {str(row["task"]): estimate_of(row, *ends) for _, row in table.iterrows()}


def _order(evidence: Evidence) -> Numbers:
    layers = _layers(evidence)
    return {f"{first} < {second}": _later(layers, first, second) for first, second in ORDER}


def _later(layers: Mapping[str, Estimate], first: str, second: str) -> Measured | Missing:
    """Return how many layers later the second task is solved."""
    for task in (first, second):
        if task not in layers:
            return Missing(f"no classifier of {task} was trained")
        if math.isnan(layers[task].value):
            return Missing(f"all layers together tell no more about {task} than the embedding does")
    early, late = layers[first], layers[second]
    later = together(lambda both: float(both[1] - both[0]), [early, late])
    if math.isnan(early.low + late.low):
        later = Estimate(later.value, math.nan, math.nan, later.n)
    return Measured(later, note=f"layers {early.value:.2f} and {late.value:.2f}")


def _drawn(evidence: Evidence) -> Figure:
    layers, tasks = _layers(evidence), dict.fromkeys(task for pair in ORDER for task in pair)
    known = [task for task in tasks if task in layers and not math.isnan(layers[task].value)]
    found = [layers[task] for task in known]
    points: list[Point] = [(place, one.value, one.low, one.high) for place, one in enumerate(found)]
    return Figure("bars", "Where tasks are solved", "", "expected layer", {"ours": points}, known)


def _published(first: str, second: str) -> Published:
    """Return how many layers lie between two tasks of the paper."""
    names = [name.replace("dependency label", "dependencies") for name in (first, second)]
    early, late = (EXPECTED[name] for name in names)
    return Published(round(late - early, 2), text=f"layers {early} and {late}", provenance="memory")


FINDINGS = (
    Finding(
        id="tenney-order",
        claim="Parts of speech are solved in lower layers than dependencies, these in lower layers than coreference.",
        where="figure of expected layers",
        model=MODEL,
        data=DATA,
        metric=METRIC,
        stands_in="UD English GUM; the outputs of all heads of a layer in the place of its whole state",
        differs="Linear classifiers on single words or pairs of words, few examples; 6 layers where the paper has 12.",
        statements=[
            Statement(
                name=f"{first} < {second}",
                text=f"The task {first!r} is solved in lower layers than {second!r}.",
                number="difference of the expected layers",
                rule=LearnedRule(above=0.0),
                unit="layers",
                published=_published(first, second),
                shown="layers",
            )
            for first, second in ORDER
        ],
        readings=("classifiers",),
        measure=_order,
        figure=_drawn,
    ),
    Finding(
        id="tenney-other-tasks",
        claim="Constituents, entities and semantic roles have their places in the same order.",
        where="figure of expected layers",
        model=MODEL,
        data=DATA,
        metric=METRIC,
        statements=[
            Statement(
                name=task,
                text=f"The expected layer of {task} lies between those of parts of speech and of coreference.",
                number="expected layer",
                rule=LearnedRule(above=EXPECTED["part of speech"], below=EXPECTED["coreference"]),
                unit="",
                published=Published(EXPECTED[task], provenance="memory"),
                shown="layers",
            )
            for task in ("constituents", "entities", "semantic roles")
        ],
        missing="no task of our classifiers is about constituents, entities or semantic roles",
    ),
)
