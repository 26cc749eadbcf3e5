"""What was measured beside scores, in words for an appendix, with the settings of a run's config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reports.measures.method import Method
from reports.measures.registry import measures
from reports.run.folder import RunFolder

LIVES: Final = Method(
    ("biographies",),
    "Biographies",
    "biographies",
    "Heads were scored at every checkpoint of the training run (steps: {steps}; labels: {labels}) with {replicates} "
    "resamples of clusters and seeds; the maps of heads of all seeds were matched on {match_texts} sentences.",
)


def of_studies(run: RunFolder, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield heading and sentences of what the run measured beside scores."""
    for measure in measures():
        yield from measure.written(run, config)
    if run.biographies is not None:
        yield LIVES.written(config)
