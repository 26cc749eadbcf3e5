"""What a run notes about itself: stages and their times, what was scored, what was dropped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from probes.scoring.score import Outcome


@dataclass
class Journal:
    """What a run notes about itself while it goes on."""

    record: dict[str, Any] = field(default_factory=lambda: {"stages": {}, "dropped": [], "scored": {}, "notes": []})
    lines: list[dict[str, Any]] = field(default_factory=list)

    def log(self, what: str, **details: Any) -> None:
        """Note that something happened."""
        self.lines.append({"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "what": what, **details})

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage of the run."""
        start = time.perf_counter()
        yield
        seconds = round(time.perf_counter() - start, 3)
        self.record["stages"][name] = round(self.record["stages"].get(name, 0) + seconds, 3)
        self.log(name, seconds=seconds)

    def count(self, split: str, scope: str, outcome: Outcome) -> None:
        """Note what was scored and what was dropped."""
        counts = {"windows": outcome.texts, "words": outcome.words, "pieces": outcome.pieces}
        self.record["scored"].setdefault(split, {})[scope] = counts
        for reason, count in outcome.dropped.counts.items():
            examples = outcome.dropped.examples[reason]
            dropped = {"split": split, "scope": scope, "reason": reason, "count": count, "examples": examples}
            self.record["dropped"].append(dropped)
