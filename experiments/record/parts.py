"""Finished parts of a study: kept until it is complete, so that an interrupted study can be resumed."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.record.provenance import git_commit


@dataclass(frozen=True)
class Parts:
    """The finished parts of one study, a file each."""

    folder: Path
    study: Mapping[str, Any]
    "What parts must have in common: scale, effort, rule and seed."
    made_by: dict[str, dict[str, Any]] = field(default_factory=dict)
    "Name -> title, seconds and commit of each part."

    @classmethod
    def open(cls, out: Path, study: Mapping[str, Any], *, resume: bool) -> Parts:
        """Return the parts that are kept for `out`; without `resume` there are none."""
        parts = cls(out.with_name(f".{out.name}-parts"), json.loads(json.dumps(study)))
        if not resume:
            parts.clear()
        parts.folder.mkdir(parents=True, exist_ok=True)
        return parts

    def made(self, name: str, title: str, make: Callable[[], Any]) -> Any:
        """Return a part: as it is kept, if it is of this study, else made and kept."""
        path = self.folder / f"{name}.json"
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if kept.get("study") != self.study:
            begun = time.perf_counter()
            result = make()
            by = {"title": title, "seconds": round(time.perf_counter() - begun, 1), "git_commit": git_commit()}
            kept = {"study": self.study, "by": by, "result": result}
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_text(json.dumps(kept), encoding="utf-8")
            unfinished.replace(path)
        self.made_by[name] = kept["by"]
        return kept["result"]

    def entry(self) -> dict[str, Any]:
        """Return what the record says of the parts; `wall_seconds` is the sum of them."""
        seconds = {by["title"]: by["seconds"] for by in self.made_by.values()}
        commits = {by["title"]: by["git_commit"] for by in self.made_by.values()}
        return {"wall_seconds": round(sum(seconds.values()), 1), "stages": seconds, "commits": commits}

    def clear(self) -> None:
        """Delete all parts."""
        delete_parts(self.folder)


def delete_parts(folder: Path) -> None:
    """Delete the parts in a folder: under another name, so that half of them are never taken for all."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        deleted = folder.with_name(f"{folder.name}.deleted")
        shutil.rmtree(deleted, ignore_errors=True)
        folder.rename(deleted)
        shutil.rmtree(deleted, ignore_errors=True)
