"""What a run notes about itself: stages and their times, what was scored, what was dropped."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from mha.parallel import return_freed
from probes.scoring.aligned import UNKNOWN, Dropped
from probes.scoring.score import Outcome
from reports.progress import Course
from reports.run.record import Lost, ReadTexts, RunRecord


@dataclass
class Journal:
    """What a run notes about itself while it goes on."""

    command: str = ""
    "What was typed."
    stages: dict[str, float] = field(default_factory=dict)
    "Seconds."
    dropped: list[Lost] = field(default_factory=list)
    scored: dict[str, dict[str, ReadTexts]] = field(default_factory=dict)
    "Split -> scope -> what was read."
    notes: list[str] = field(default_factory=list)
    "What came of it, that a reader should know."
    inputs: list[str] = field(default_factory=list)
    "What a reader should know of its texts and its model, and how they were read."
    facts: Mapping[str, Mapping[str, Any]] | None = None
    "By measure: what holds for all heads together."
    questions: dict[str, str] = field(default_factory=dict)
    "By probe of your own: the sha256 of what it asks about the report split."
    lines: list[dict[str, Any]] = field(default_factory=list)
    "Of log.jsonl."
    course: Course = field(default_factory=Course, repr=False)
    "Is told which stage begins."

    def begin(self, name: str) -> None:
        """Tell whoever watches that a stage begins; what the one before has freed is returned to the system."""
        return_freed()
        self.course.begin(name)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage of the run."""
        start = time.perf_counter()
        self.begin(name)
        yield
        self._spend(name, time.perf_counter() - start)

    def share(self, seconds: Mapping[str, float], wall: float) -> None:
        """Note stages that were worked on side by side, in `wall` seconds: each has its part of them, by its own."""
        for name, own in seconds.items():
            self._spend(name, wall * own / sum(seconds.values()))

    def _spend(self, name: str, seconds: float) -> None:
        """Add to the time of a stage, with a line for the log."""
        spent, now = round(seconds, 3), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.stages[name] = round(self.stages.get(name, 0) + spent, 3)
        self.lines.append({"time": now, "what": name, "seconds": spent})

    def count(self, split: str, scope: str, outcome: Outcome) -> None:
        """Note what was scored and what was dropped."""
        unknown = outcome.odd.counts.get(UNKNOWN, 0)
        self.scored.setdefault(split, {})[scope] = ReadTexts(outcome.texts, outcome.words, outcome.pieces, unknown)
        for reason, number in outcome.odd.counts.items():
            share = f"{number / outcome.words:.1%}".replace("%", " %")
            named = ", ".join(outcome.odd.examples[reason])
            self.note_input(f"{split} ({scope}): of {outcome.words:,} words {number:,} ({share}) {reason} ({named})")
        self.drop(split, scope, outcome.dropped)

    def note(self, text: str) -> None:
        """Note something that a reader of the run should know, once."""
        if text not in self.notes:
            self.notes.append(text)

    def note_input(self, text: str) -> None:
        """Note something about texts or model, once."""
        if text not in self.inputs:
            self.inputs.append(text)

    def drop(self, split: str, scope: str, dropped: Dropped, what: str = "") -> None:
        """Note what was left out, of `what` where that is named, and why; the same only once."""
        prefix = f"{what}: " if what else ""
        for reason, count in dropped.counts.items():
            lost = Lost(split, scope, prefix + reason, count, tuple(dropped.examples[reason]))
            if lost not in self.dropped:  # several measures may read the same
                self.dropped.append(lost)

    def take(self, record: RunRecord) -> None:
        """Take over what an interrupted run had noted."""
        for note in record.notes:
            self.note(note)
        self.dropped += [lost for lost in record.dropped if lost not in self.dropped]
        if record.facts is not None:
            self.facts = record.facts

    def complete(self, record: RunRecord) -> RunRecord:
        """Return the record of a run with what was noted."""
        return replace(
            record,
            stages=self.stages,
            dropped=tuple(self.dropped),
            scored=self.scored,
            notes=(*(note for note in self.notes if note not in self.inputs), *self.inputs),
            command=self.command or None,
            facts=self.facts,
            questions=self.questions or None,
        )
