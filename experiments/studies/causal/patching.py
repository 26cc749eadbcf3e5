"""Activation patching in a run: which heads bring the answer back that a corrupted sentence has lost."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Self

import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.config.train_config import GRAMMAR
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.causal.patch_table import PatchingAgreement, direct_agreement, estimate_agreement, patch_table
from probes.causal.patching import Effects, PatchItem, measure_patching, patch_items
from probes.evidence.question import Effort
from probes.minimal_pairs import LeftOut
from probes.pairs.number_swaps import NumberSwap, number_swapped
from probes.scoring.aligned import Dropped
from reports.run.study_facts import PatchingFacts, QuickAgreement


class PatchingError(ValueError):
    """A model that cannot be asked about any sentence."""


class PatchingSection(StudySection):
    """Which heads bring an answer back that a corrupted sentence has lost; for models with a masked-LM head."""

    table = "patching"
    enabled: bool = False
    "Whether heads are patched at all."
    items: int = Field(default=200, ge=2)
    "Sentences of the grammar that are patched at the most."
    seed: int = 83
    "Seed of these sentences, which should be none of a grammar that the model was trained on."


@dataclass(frozen=True)
class PatchingResult(Result):
    """What each head restores."""

    @property
    def restored(self) -> pd.DataFrame:
        """A row a head and role (`reports.studies.patching`)."""
        return self.tables["patching"]


@dataclass(frozen=True)
class PatchingStudy(Study[PatchingSection]):
    """The heads of a masked language model, patched in sentences of the embedded grammar."""

    name = "patching"
    reads, gives = PatchingSection, PatchingResult

    @classmethod
    def open(cls, run: RunContext, section: PatchingSection) -> Self | None:
        """Return the study where it is switched on; raises ModelError for a model without a masked-LM head."""
        if not section.enabled:
            return None
        run.lm  # noqa: B018  # raises now what it would raise after all heads have been scored
        return cls(run, section)

    def measure(self, read: ReadOfStudy) -> PatchingResult:
        """Return what each head restores; note how far the model tells sentences apart, and what was left out."""
        swaps, left_out = _swaps(self.section.items, self.section.seed)
        items, unfit = patch_items(self.run.lm, swaps)
        dropped = Dropped()
        for one in (*left_out, *unfit):
            dropped.add(one.reason, one.source)
        self.run.note_dropped("report", "sentence", self.name, dropped)
        if not items:
            reasons = ", ".join(Counter(one.reason for one in unfit))
            raise PatchingError(f"patching: {self.run.model.name} can be tested on none of {len(swaps)}: {reasons}")
        effects = measure_patching(self.run.lm, items, step=self.run.counter("activation patching", len(items)))
        self.run.journal.patching = _facts(items, effects, self.run.effort)
        return PatchingResult({"patching": patch_table(items, effects, self.run.effort).assign(corpus=GRAMMAR)})


def _swaps(items: int, seed: int) -> tuple[list[NumberSwap], list[LeftOut]]:
    """Return so many sentences, and those that were passed over."""
    swaps: list[NumberSwap] = []
    left_out: list[LeftOut] = []
    for one in number_swapped(seed):
        if isinstance(one, LeftOut):
            left_out.append(one)
        else:
            swaps.append(one)
        if len(swaps) == items:
            break
    return swaps, left_out


def _facts(items: list[PatchItem], effects: Effects, effort: Effort) -> PatchingFacts:
    """Return what holds for all heads together."""
    direct = direct_agreement(items, effects, effort)
    return PatchingFacts(
        items=len(items),
        clusters=len({item.source for item in items}),
        clean=float(effects.clean.mean()),
        corrupted=float(effects.corrupted.mean()),
        right_clean=float((effects.clean > 0).double().mean()),
        right_corrupted=float((effects.corrupted > 0).double().mean()),
        estimate=_told(estimate_agreement(items, effects, effort)),
        direct=None if direct is None else _told(direct),
        why_no_direct=effects.why_not,
    )


def _told(agreement: PatchingAgreement) -> QuickAgreement:
    """Return it with None for what is no number."""
    return QuickAgreement(
        **{name: None if math.isnan(number) else float(number) for name, number in asdict(agreement).items()}
    )
