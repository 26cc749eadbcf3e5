"""Transfer in a run: what a head gave at the verb of another sentence, with the same answer or the other one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.config import StudySection
from experiments.config.section import EMBEDDING, LOSS, BehaviourNames
from experiments.run.behaviours import Behaviours
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.causal.behaviours import Behaviour
from probes.minimal_pairs import LeftOut
from probes.scoring.aligned import Dropped
from probes.transfer.donors import draw_donors, verb_numbers
from probes.transfer.margins import measure_transfer
from probes.transfer.table import transfer_table


class TransferSection(StudySection):
    """Whether what heads give at a verb serves other sentences whose verb has the same number."""

    table = "transfer"
    behaviours: BehaviourNames = ()
    """Minimal pairs of agreement as in [behaviour], for a model with a masked-LM head; those that differ in one piece
    are taken. Nothing is patched where nothing is said."""
    items: int = Field(default=500, ge=2)
    "Pairs at the most of each behaviour: those that receive, and those that give."
    seed: int = 97
    "Seed of which sentence gives to which."

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        for name in self.behaviours:
            if name in (LOSS, EMBEDDING):
                raise ValueError(f"{name!r} has no verb whose number could transfer; name minimal pairs of agreement")
        return self


@dataclass(frozen=True)
class TransferResult(Result):
    """The transfer of every head."""

    @property
    def transfers(self) -> pd.DataFrame:
        """A row a behaviour and head (`reports.studies.transfer`)."""
        return self.tables["transfer"]


@dataclass(frozen=True)
class TransferStudy(Study[TransferSection]):
    """The heads of a masked language model, each with what it gave in other sentences of a behaviour."""

    name = "transfer"
    reads, gives = TransferSection, TransferResult
    behaviours: Behaviours

    @classmethod
    def open(cls, run: RunContext, section: TransferSection) -> Self | None:
        """Return the study where its section names behaviours.

        Raises ModelError for a model without a masked-LM head, and BehaviourError for pairs that ask for no verb.
        """
        if not section.behaviours:
            return None
        behaviours = Behaviours.of(run, section.behaviours, section.items)
        for one in behaviours:
            draw_donors(verb_numbers(one)[0], section.seed)  # raises now what it would raise after all heads are scored
        return cls(run, section, behaviours)

    def measure(self, read: ReadOfStudy) -> TransferResult:
        """Return the transfer of every head; items that are not asked, or have no donors, are noted."""
        return TransferResult({"transfer": pd.concat(map(self._table, self.behaviours), ignore_index=True)})

    def _table(self, whole: Behaviour) -> pd.DataFrame:
        behaviour, unfit = verb_numbers(whole)
        donors, without = draw_donors(behaviour, self.section.seed)
        self._note(behaviour.name, [*unfit, *without])
        step = self.run.counter(f"transfer, {behaviour.name}", len(donors.recipients))
        margins = measure_transfer(behaviour, donors, step=step)
        return transfer_table(behaviour, donors, margins, self.run.effort, alpha=self.run.config.verdict.alpha)

    def _note(self, behaviour: str, left_out: list[LeftOut]) -> None:
        dropped = Dropped()
        for one in left_out:
            dropped.add(one.reason, one.source)
        self.run.note_dropped("report", behaviour, self.name, dropped)
