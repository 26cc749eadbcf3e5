"""The null hypotheses of the study: populations in which no head has a grade by right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from experiments.sandbox.population import DECOYED, ROLES, Sandbox
from probes.evidence.results import Split
from probes.evidence.simulation import GRADES, Pool
from probes.evidence.statistics import MARGIN
from probes.registry import RANDOM
from probes.scoring.tally import Numbers, Pooled, Question, Sums

WRONG = 0.02
"Share of documents in which heads of one population are wrong throughout."

FEW = 20
"Documents below which a real label is left out: its population would be a handful of documents."

LENGTHS, SLOPE = 1.0, 0.1
"Spread of the logarithm of how many documents are joined, and hits an item that halving a document's length is worth."


def nulls(box: Sandbox, pool: Pool, drawings: int) -> Iterator[tuple[str, Pool]]:
    """Yield the name and the population of every null hypothesis; `pool` is that of the sandbox.

    Gold is drawn `drawings` times for the null of permuted gold.
    """
    layout, dependency = box.layout, ("dependency", "dependent->head")
    first = {role: layout.planted[role, 1, MARGIN] for role in ROLES}
    planted = [*layout.bystanders, *(head for (_, grade, _), head in layout.planted.items() if grade == 1)]
    yield "random weights", pool.columns(layout.bystanders)
    random = box.random_pool(drawings).only([*ROLES.values()])
    yield "permuted gold", random.columns(planted)
    decoys = pool.columns([*layout.bystanders, *layout.decoys])
    yield "offset decoys", decoys.only([(*dependency, label) for label in DECOYED])
    places = {ROLES[role]: len(layout.bystanders) + place for place, role in enumerate(first)}
    alone = [*layout.bystanders, *first.values()]
    yield "one head at the margin", pool.only([*ROLES.values()]).columns(alone).level(1, MARGIN, places)
    yield "one head, permuted gold", random.columns(alone).level(1, MARGIN, places)
    for grade in GRADES:
        yield from _at_the_margin(pool.columns(planted).only([*ROLES.values()]), grade, box.seed)
    yield "heads and controls alike", _alike(pool.documents, box.seed)
    yield "rarely correct", _rarely_right(pool.documents, box.seed)
    yield "wrong in whole documents", _wrong_in_whole_documents(pool.documents, box.seed)


def real_null(split: Split) -> Pool:
    """Return the population in which all heads of a real run are at the margin, in every label that is asked enough."""
    pool = Pool.of(split)
    asked = [
        question
        for question, sums in pool.heads.items()
        if len(sums.n) >= FEW and np.isfinite(pool.truth(question).leads[0]).all()
    ]
    return pool.only(asked).level(1, MARGIN)


MADE: Question = ("made", "v", "all")
"The question of populations that are drawn without a corpus."

HEADS = 24
"How many heads those have."


def _alike(documents: int, seed: int) -> Pool:
    """Return heads and those of a control that are right equally often, but for one head at the margin."""
    random = np.random.default_rng(seed)
    hits, control = (random.binomial(4, 0.3, (documents, HEADS)).astype(np.float64) for _ in range(2))
    n = np.full(documents, 4.0)
    for values in (hits, control):
        values += n[:, None] * (0.3 - values.sum(0) / n.sum())
    hits[:, 0] += n * MARGIN
    return _made(n, hits, {}, {RANDOM: control})


def _rarely_right(documents: int, seed: int) -> Pool:
    """Return documents of one item, in which heads are right as rarely as the margin is small, and a baseline never."""
    random = np.random.default_rng(seed)
    hits = np.zeros((documents, HEADS))
    hits[: round(MARGIN * documents)] = 1
    return _made(np.ones(documents), random.permuted(hits, axis=0), {"offset": np.zeros((documents, 1))}, {})


def _wrong_in_whole_documents(documents: int, seed: int) -> Pool:
    """Return heads that are right in all words of most documents and in none of the others; they lead by the margin."""
    random = np.random.default_rng(seed)
    n = np.full(documents, 100.0)
    hits = np.full((documents, HEADS), 100.0)
    hits[: round(WRONG * documents)] = 0
    baseline = random.binomial(100, 1 - WRONG - MARGIN, (documents, 1)).astype(np.float64)
    hits = random.permuted(hits, axis=0)
    baseline += n[:, None] * (hits[:, 0].sum() / n.sum() - MARGIN - baseline.sum() / n.sum())
    return _made(n, hits, {"offset": baseline}, {})


def _made(n: Numbers, hits: Numbers, baselines: Mapping[str, Numbers], controls: Mapping[str, Numbers]) -> Pool:
    """Return the pool of one question with these hits [document, head]."""

    def sums(values: Numbers) -> Pooled:
        return {MADE: Sums.of_hits(tuple(range(len(n))), n, values, mass=values)}

    return Pool(
        len(n),
        sums(hits),
        {name: sums(values) for name, values in baselines.items()},
        {name: sums(values) for name, values in controls.items()},
    )


def _at_the_margin(pool: Pool, grade: int, seed: int) -> Iterator[tuple[str, Pool]]:
    """Yield populations in which all heads are at the border of one grade, of the questions that have the rivals."""
    name = f"grade {grade}"
    tested = [question for question in pool.heads if np.isfinite(pool.truth(question).leads[grade - 1, 0])]
    level = pool.only(tested).level(grade, MARGIN)
    yield f"{name}, all at the margin", level
    unequal = level.unequal(LENGTHS, seed)
    yield f"{name}, unequal lengths", unequal
    yield f"{name}, better in short documents", unequal.tilted(SLOPE)
