"""The null hypotheses of the study: populations in which no head has a grade by right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from experiments.sandbox.population import DECOYED, ROLES, Sandbox
from probes.evidence.simulation import GRADES, Pool
from probes.evidence.statistics import MARGIN

LENGTHS, SLOPE = 1.0, 0.1
"Spread of the logarithm of how many documents are joined, and hits an item that halving a document's length is worth."


def nulls(box: Sandbox, pool: Pool, drawings: int) -> Iterator[tuple[str, Pool]]:
    """Yield the name and the population of every null hypothesis; `pool` is that of the sandbox.

    Right answers are drawn `drawings` times for the null of random ones.
    """
    layout, dependency = box.layout, ("dependency", "dependent->head")
    first = {role: layout.planted[role, 1, MARGIN] for role in ROLES}
    planted = [*layout.bystanders, *(head for (_, grade, _), head in layout.planted.items() if grade == 1)]
    yield "random weights", pool.columns(layout.bystanders)
    random = box.random_pool(drawings).only([*ROLES.values()])
    yield "random right answers", random.columns(planted)
    decoys = pool.columns([*layout.bystanders, *layout.decoys])
    yield "offset decoys", decoys.only([(*dependency, label) for label in DECOYED])
    places = {ROLES[role]: len(layout.bystanders) + place for place, role in enumerate(first)}
    alone = [*layout.bystanders, *first.values()]
    yield "one head at the margin", pool.only([*ROLES.values()]).columns(alone).level(1, MARGIN, places)
    yield "one head, random right answers", random.columns(alone).level(1, MARGIN, places)
    for grade in GRADES:
        yield from _at_the_margin(pool.columns(planted).only([*ROLES.values()]), grade, box.seed)


def _at_the_margin(pool: Pool, grade: int, seed: int) -> Iterator[tuple[str, Pool]]:
    """Yield populations in which all heads are at the border of one grade, of the questions that have the rivals."""
    name = f"grade {grade}"
    tested = [question for question in pool.heads if np.isfinite(pool.truth(question).leads[grade - 1, 0])]
    level = pool.only(tested).level(grade, MARGIN)
    yield f"{name}, all at the margin", level
    unequal = level.unequal(LENGTHS, seed)
    yield f"{name}, unequal lengths", unequal
    yield f"{name}, better in short documents", unequal.tilted(SLOPE)
