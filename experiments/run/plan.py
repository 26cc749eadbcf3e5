"""The stages of a run in their order, and how much work each is, for the estimate of how long the run takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from experiments.run.context import RunContext

WORK: Final = {
    **{"learn baselines": 0.05, "score select": 1.0, "score report": 1.0, "first page": 0.4, "statistics": 0.4},
    **{"control": 0.15, "trained probes": 3.0, "agreement of metrics": 2.0, "examples": 0.1, "measure": 0.3},
    **{"tables": 0.6, "page": 2.0},
}
"""Seconds of stages, in those that scoring the heads on one split of one scope takes: as the quickstart's record has
them, and roughly for others. "control" and "measure" are for each of them."""


def stages(run: RunContext, measures: Sequence[str], *, first: bool, page: bool) -> list[tuple[str, float]]:
    """Return name and work of the stages that follow when corpora and model are open, in their order."""
    config, found = run.config, list[tuple[str, float]]()
    controls = config.controls
    for _ in run.scopes:
        found += [_of("learn baselines"), _of("score select"), _of("score report"), *[_of("first page")] * first]
        if models := controls.random + controls.permuted + controls.orders:
            found.append(("controls", models * WORK["control"]))
        found += [_of("statistics"), *[_of("trained probes")] * config.probes.trained]
        found += [*[_of("agreement of metrics")] * config.scoring.metrics, _of("examples")]
    found += [(name, WORK["measure"]) for name in measures]
    return [*found, _of("tables"), *[_of("page")] * page]


def _of(name: str) -> tuple[str, float]:
    return name, WORK[name]
