"""The trainings that were followed, as rows of tables: checkpoints, profiles and lives of heads."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.training.checkpoints import Checkpoint
from probes.training.biography import Biography
from probes.training.concentration import LifeRule, Profiles, life_of


@dataclass(frozen=True)
class Followed:
    """One training that was read."""

    biography: Biography
    profiles: Profiles
    checkpoints: list[Checkpoint]
    behaviour: list[float]

    def roles(self, rule: LifeRule) -> dict[int, list[str]]:
        """Step -> main role of every head, empty for none."""
        main = self.profiles.main(rule)
        names = [*(f"{probe}: {label}" for probe, label in self.profiles.roles), ""]
        return {step: [names[role] for role in row] for step, row in zip(self.biography.steps, main, strict=True)}


def step_rows(life: Followed) -> pd.DataFrame:
    """Return loss and behaviour, one row a checkpoint."""
    return pd.DataFrame(
        {
            "seed": life.biography.seed,
            "step": life.biography.steps,
            "tokens": life.biography.tokens,
            "loss": [one.loss for one in life.checkpoints],
            "evaluation_loss": [one.evaluation_loss for one in life.checkpoints],
            "behaviour": life.behaviour,
        }
    )


def _heads(biography: Biography) -> dict[str, object]:
    """Return the columns that name all heads of a training."""
    layer, head = np.divmod(np.arange(biography.layers * biography.heads), biography.heads)
    names = [f"{one + 1}-{other + 1}" for one, other in zip(layer, head, strict=True)]
    return {"seed": biography.seed, "layer": layer, "head": head, "name": names}


def profile_rows(life: Followed, rule: LifeRule) -> pd.DataFrame:
    """Return effective roles, main role and its margin, one row a checkpoint and head."""
    effective, roles = life.profiles.effective(rule), life.roles(rule)
    margins = life.profiles.margins
    top = margins.max(2) if margins.shape[2] else np.full(margins.shape[:2], np.nan)
    rows = {"effective": effective, "margin": top}
    return pd.concat(
        [
            pd.DataFrame(
                _heads(life.biography)
                | {"step": step, "role": roles[step]}
                | {name: values[place] for name, values in rows.items()}
            )
            for place, step in enumerate(life.biography.steps)
        ],
        ignore_index=True,
    )


def life_rows(life: Followed, rule: LifeRule) -> pd.DataFrame:
    """Return what became of every head, one row each."""
    effective, main = life.profiles.effective(rule), life.profiles.main(rule)
    told = [life_of(main[:, head].tolist(), effective[:, head].tolist(), rule) for head in range(main.shape[1])]
    names = [*(f"{probe}: {label}" for probe, label in life.profiles.roles), ""]
    steps = life.biography.steps
    return pd.DataFrame(
        _heads(life.biography)
        | {
            "life": [one.life for one in told],
            "narrows": [one.narrows for one in told],
            "first_role": [names[one.first] for one in told],
            "last_role": [names[one.last] for one in told],
            "since": pd.array([None if one.since < 0 else steps[one.since] for one in told], dtype="Int64"),
            "widest": [float(np.nanmax(column)) if np.isfinite(column).any() else math.nan for column in effective.T],
            "last_effective": effective[-1],
        }
    )
