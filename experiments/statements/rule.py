"""The rules that turn an interval into a verdict; they are written down before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.statements.estimates import Estimate, mean_of
from probes.evidence.leads import independent_difference
from reports.statements.finding_record import UNMEASURED
from reports.statements.statement import FAILS as FAILS
from reports.statements.statement import HOLDS as HOLDS
from reports.statements.statement import OPEN as OPEN
from reports.statements.statement import Rule as Rule

SAME = Rule(above=0.999, below=1.001, unit="times")
"Products that are counted: a ratio of 1, but for rounding of a division."

CONTROLS = ("random", "permuted")
"Sources of weights that training did not make: initialised anew, and the trained ones permuted within each matrix."

SEEDS = 3
"Runs that each of them takes."


@dataclass(frozen=True)
class ControlNumbers:
    """What one kind of untrained weights has in the place of a number of a trained model."""

    values: tuple[Estimate, ...]
    "A number for every seed that has one."
    seeds: int
    "Seeds that were run."
    absent: int = 0
    "Of these the seeds in which what the number is about is not there, such as no head with a role."

    @property
    def enough(self) -> bool:
        """Whether as many runs as the rule asks for have a number, or lack what it is about."""
        return len(self.values) + self.absent >= SEEDS

    def mean(self) -> Estimate | None:
        """Return the mean over seeds with Student's t interval, or the only number; None where there is none."""
        if len(self.values) == 1:
            return self.values[0]
        return mean_of([one.value for one in self.values]) if self.values else None


Controls = Mapping[str, ControlNumbers]
"Kind of weights, of CONTROLS -> their numbers."


@dataclass(frozen=True)
class LearnedRule(Rule):
    """A rule that holds where the interval lies in the range, significantly beyond untrained and permuted weights.

    Beyond is above for a rule with a lower end alone, below for one with an upper end alone, and away from them, on
    the side where the number is, for one with both. Each of CONTROLS has to be run with SEEDS seeds.
    """

    def beyond(self, trained: Estimate, control: Estimate) -> Estimate:
        """Return how far the trained number is beyond that of the control, in the direction of the rule."""
        if self.below is None or (self.above is not None and trained.value >= control.value):
            return independent_difference(control, trained)[0]
        return independent_difference(trained, control)[0]

    def verdict_beside(self, trained: Estimate, controls: Controls) -> str:
        """Return the verdict on a trained model: that of the range, unless it holds and untrained weights are near."""
        plain = self.verdict(trained)
        if plain != HOLDS:
            return plain
        sentences = [self._against(trained, controls.get(kind)) for kind in CONTROLS]
        return next((verdict for verdict in (FAILS, UNMEASURED, OPEN) if verdict in sentences), HOLDS)

    def _against(self, trained: Estimate, control: ControlNumbers | None) -> str:
        if control is None or not control.enough:
            return UNMEASURED
        mean = control.mean()
        if mean is None:
            return HOLDS
        return Rule(above=0.0).verdict(self.beyond(trained, mean))

    def words(self) -> str:
        """Return the rule as a sentence."""
        kinds = "randomly initialised weights and of permuted weights"
        return f"{super().words()} To hold, it must be significantly beyond that of {kinds}, {SEEDS} seeds each."
