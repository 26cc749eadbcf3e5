"""How concentrated a head's roles are, and what became of it: heads that commit, change, narrow or have no role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probes.registry import Probe
from probes.scoring.tally import Numbers, Question
from probes.training.biography import Biography
from reports.tables.grades import ROLE_ITEMS, stands_alone

LIVES = ("never", "commits", "changes", "loses", "wavers")
"What `life` can be."


COVERED = {"agreement": "dependency"}
"Probe -> probe among whose roles its own are already (subjects of verbs that show number are subjects)."


@dataclass(frozen=True)
class LifeRule:
    """The thresholds by which roles and lives are told."""

    margin: float = 0.1
    "A head has a role if its margin (`Profiles.margins`) is at least this (Voita et al. 2019, section 5.2)."
    floor: float = 0.05
    "Margins below this count as none in a profile: among many labels noise alone looks like a little of everything."
    hold: int = 2
    "A head holds a role if it is its main role at this many checkpoints in a row."
    wide: float = 3.0
    "A head with at least so many effective roles is a generalist ..."
    narrow: float = 1.5
    "... and one with at most so many a specialist."


@dataclass(frozen=True)
class Profiles:
    """What every head of a training is good at, at every checkpoint."""

    roles: tuple[tuple[str, str], ...]
    "Probe and label (`is_role`); a role is told by its best variant, and those of probes in COVERED are left out."
    margins: Numbers
    """[step, head, role] Accuracy minus that of the strongest baseline, or minus the head's own at the first checkpoint
    if that is higher: what random weights do already is no role that came by training."""

    @classmethod
    def of(cls, biography: Biography, probes: Sequence[Probe]) -> Profiles:
        """Collect the margins of all roles that have a baseline."""
        names = {probe.name for probe in probes}
        variants: dict[tuple[str, str], list[Numbers]] = {}
        for question, course in biography.courses.items():
            told = COVERED.get(question[0]) not in names
            if told and course.baseline and is_role(question, int(course.n.sum())):
                baseline = np.maximum(course.accuracy[:1], course.baseline_accuracy)
                variants.setdefault((question[0], question[2]), []).append(course.accuracy - baseline)
        shape = (len(biography.steps), biography.layers * biography.heads, len(variants))
        best = [np.max(found, axis=0) for found in variants.values()]
        return cls(tuple(variants), np.stack(best, 2) if best else np.zeros(shape))

    def effective(self, rule: LifeRule) -> Numbers:
        """[step, head] Effective number of roles: exp of the entropy of the positive margins' shares.

        In [1, roles]; 1 for a head with one role, R for one that is equally good at R. Margins below `rule.floor`
        count as none; NaN for a head without any.
        """
        positive = np.where(self.margins >= rule.floor - 1e-12, np.maximum(self.margins, 0), 0)
        total = positive.sum(2, keepdims=True)
        share = np.divide(positive, total, out=np.zeros_like(positive), where=total > 0)
        logs = np.log(share, out=np.zeros_like(share), where=share > 0)
        return np.where(total[..., 0] > 0, np.exp(-(share * logs).sum(2)), np.nan)

    def main(self, rule: LifeRule) -> npt.NDArray[np.int64]:
        """[step, head] Index of the role with the largest margin, the first of equals; -1 below `rule.margin`."""
        if not self.roles:
            return np.full(self.margins.shape[:2], -1)
        best = self.margins.argmax(2)
        return np.where(self.margins.max(2) >= rule.margin - 1e-12, best, -1)


def is_role(question: Question, n: int) -> bool:
    """Return whether a label stands for itself and has ROLE_ITEMS: "nsubj" does, "nsubj:*" and "all" pool labels."""
    return n >= ROLE_ITEMS and stands_alone(question[0], question[2])


@dataclass(frozen=True)
class Life:
    """What became of one head."""

    life: str
    """One of LIVES. never: never held a role, and has none at the end. commits: holds a role at the end, and never held
    another. changes: holds a role at the end, and held another one before. loses: held a role, but has none at the last
    checkpoint. wavers: has a role at the end, but does not (yet) hold it."""
    first: int
    "Index of the role first held, -1 if none."
    last: int
    "Index of the main role at the last checkpoint, -1 if none."
    since: int
    "Index of the checkpoint since which the last role has been the main one without a break, -1 if none."
    narrows: bool
    "Whether a generalist became a specialist: wide at some checkpoint, narrow and with a role at the last one."


def life_of(main: Sequence[int], effective: Sequence[float], rule: LifeRule) -> Life:
    """Return the life of a head from its main role [step] (-1 for none) and its effective number of roles [step]."""
    runs: list[tuple[int, int, int]] = []
    for place, role in enumerate(main):
        if runs and runs[-1][0] == role:
            runs[-1] = (role, runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((role, place, 1))
    held = [role for role, _, length in runs if role >= 0 and length >= rule.hold]
    last, start, length = runs[-1]
    wide = bool((np.asarray(effective[:-1]) >= rule.wide).any())
    narrows = last >= 0 and wide and effective[-1] <= rule.narrow
    since = start if last >= 0 else -1
    if last < 0:
        life = "loses" if held else "never"
    elif length < rule.hold:
        life = "wavers"
    else:
        life = "commits" if set(held) == {last} else "changes"
    return Life(life, held[0] if held else -1, last, since, narrows)
