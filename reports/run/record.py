"""What run.json says of a run, typed: it is written and read as this."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Lost:
    """Items that were left out for one reason."""

    split: str
    scope: str
    reason: str
    count: int
    examples: tuple[str, ...] = ()
    "The first few of them."

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in run.json."""
        return asdict(self) | {"examples": list(self.examples)}


@dataclass(frozen=True)
class ReadTexts:
    """How much text a model has read."""

    windows: int
    "Sentences, or windows of several."
    words: int
    pieces: int
