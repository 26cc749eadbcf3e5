"""Tenney, Das and Pavlick 2019: layers solve the tasks of the classical pipeline in its order."""

from __future__ import annotations

import math
from functools import partial

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, table, together
from experiments.statements.rule import LearnedRule

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

METRIC = (
    "Expected layer: sum over layers of layer x gain over the sum of gains, where a gain is what a layer adds to the "
)
METRIC += "score of all layers below it (section 3.2, equation 4)."


def _later(first: str, second: str, evidence: Evidence) -> Measured:
    """Return how many layers later the second task is solved."""
    both = []
    for task in (first, second):
        row = table(evidence, "classifiers", "layers", f"no classifier of {task} was trained", task=task).iloc[0]
        both.append(estimate_of(row, "expected_layer", "expected_low", "expected_high"))
        if math.isnan(both[-1].value):
            raise Missing(f"all layers together tell no more about {task} than the embedding does")
    early, late = both
    later = together(lambda both: float(both[1] - both[0]), both)
    if math.isnan(early.low + late.low):
        later = Estimate(later.value, math.nan, math.nan, later.n)
    return Measured(later, note=f"layers {early.value:.2f} and {late.value:.2f}")


def _published(first: str, second: str) -> Published:
    """Return how many layers lie between two tasks of the paper."""
    names = [name.replace("dependency label", "dependencies") for name in (first, second)]
    early, late = (EXPECTED[name] for name in names)
    return Published(round(late - early, 2), text=f"layers {early} and {late}", provenance="memory")


finding = partial(
    Finding,
    model="BERT base",
    where="figure of expected layers",
    data="OntoNotes and other corpora of eight tasks",
    metric=METRIC,
)

FINDINGS = (
    finding(
        id="tenney-order",
        claim="Parts of speech are solved in lower layers than dependencies, these in lower layers than coreference.",
        stands_in="UD English GUM; the outputs of all heads of a layer in the place of its whole state",
        differs="Linear classifiers on single words or pairs of words, few examples.",
        statements=[
            Statement(
                name=f"{first} < {second}",
                text=f"The task {first!r} is solved in lower layers than {second!r}.",
                number="difference of the expected layers",
                rule=LearnedRule(above=0.0, unit="layers"),
                published=_published(first, second),
                measure=partial(_later, first, second),
            )
            for first, second in ORDER
        ],
        readings=("classifiers",),
    ),
    finding(
        id="tenney-other-tasks",
        claim="Constituents, entities and semantic roles have their places in the same order.",
        statements=[
            Statement(
                name=task,
                text=f"The expected layer of {task} lies between those of parts of speech and of coreference.",
                number="expected layer",
                rule=LearnedRule(above=EXPECTED["part of speech"], below=EXPECTED["coreference"], unit=""),
                published=Published(EXPECTED[task], provenance="memory"),
                shown="layers",
            )
            for task in ("constituents", "entities", "semantic roles")
        ],
        missing="no task of our classifiers is about constituents, entities or semantic roles",
    ),
)
