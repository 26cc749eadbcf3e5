"""The table [biographies] of a config: what is asked of the heads at every checkpoint of a training."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from experiments.config.section import ConfigTable, ProbeNames


class BiographiesSection(ConfigTable):
    """What is asked at every checkpoint; the report corpus is read."""

    probes: ProbeNames = ("position", "dependency", "agreement")
    "Probes that are scored at every checkpoint."
    labels: Literal["all"] | tuple[str, ...] = "all"
    "Labels that are kept."
    steps: Literal["all"] | tuple[int, ...] = "all"
    "Steps whose checkpoints are scored, the first of them in the place of random weights; there must be two or more."
    first: int | None = Field(default=None, ge=1)
    "Take that many texts of the report corpus only."
    replicates: int = Field(default=200, ge=10)
    "Resamples of clusters (and seeds) for intervals."
    match_texts: int = Field(default=100, ge=0)
    "Sentences on which the maps of heads are compared; 0 to match no heads."
    within_layers: bool = False
    "Whether heads are matched within their layer only."

    @model_validator(mode="after")
    def _several_steps(self) -> Self:
        if isinstance(self.steps, tuple) and len(set(self.steps)) < 2:
            raise ValueError('steps: expected "all" or two steps or more')
        return self
