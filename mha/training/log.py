"""The log of a training: one JSON object a line, and never a line of a step that a resumed training will take again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mha.messages import naming
from mha.training.settings import TrainingError

LOG = "log.jsonl"


def truncate_log(path: Path, step: int) -> None:
    """Remove the lines of later steps, and one that was only half written."""
    if not path.is_file():
        return
    kept = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except (ValueError, KeyError, TypeError, RecursionError):
            break  # nothing behind a broken line is older than it
    partial = path.with_name(f".{path.name}-partial")
    partial.write_text("".join(kept), encoding="utf-8")
    os.replace(partial, path)


class TrainingLog:
    """Events appended to a file as they happen; `step` is part of each."""

    def __init__(self, path: Path, writes: bool = True) -> None:
        """Open the file; only the process that `writes` does anything."""
        self.path = path
        self._file = path.open("a", encoding="utf-8") if writes else None

    def write(self, event: str, step: int, **numbers: Any) -> None:
        """Append an event; raises OSError, which names the file, where the disk is full."""
        if self._file is None:
            return
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with naming(self.path):
            self._file.write(json.dumps({"event": event, "step": step, **numbers, "time": when}) + "\n")
            self._file.flush()

    def force(self) -> None:
        """Force what was written to the disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; what could not be written was said when it was."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


def check_trackers(names: Sequence[str]) -> None:
    """Raise TrainingError for a tracker that `accelerate` would leave out with a warning, or not at all."""
    from accelerate.tracking import get_available_trackers

    there = [str(tracker.value) for tracker in get_available_trackers()]
    for name in names:
        if name not in there:
            raise TrainingError(
                f"tracker {name!r} is not known or not installed; here are {', '.join(there) or 'none'}"
            )
