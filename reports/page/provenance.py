"""Where the numbers of a report come from: what run.json says of the run, as the page lays it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, Final

from reports.formats import MISSING, count, day, duration
from reports.run.folder import RunFolder
from reports.scores.glossary import MAPS
from reports.tables.cells import TextColumn
from reports.tables.text_table import TextTable


def _counted(name: str, row: tuple[str, str, Mapping[str, Any]]) -> str:
    return count(row[2].get(name))


SCORED: Final = (
    TextColumn("Split", itemgetter(0), "row"),
    TextColumn("Scope", itemgetter(1), "text"),
    *(TextColumn(name.capitalize(), partial(_counted, name)) for name in ("windows", "words", "pieces")),
)

DROPPED: Final = (
    TextColumn("Split", lambda drop: drop.get("split", MISSING), "row"),
    TextColumn("Scope", lambda drop: drop.get("scope", MISSING), "text"),
    TextColumn("Reason", lambda drop: drop.get("reason", MISSING), "text", "wrapping"),
    TextColumn("Count", lambda drop: count(drop.get("count"))),
    TextColumn(
        *("For example", lambda drop: ", ".join(drop.get("examples", [])), "text", "muted wrapping"), plain="examples"
    ),
)


@dataclass(frozen=True)
class Provenance:
    """What a run says of itself."""

    date: str
    corpora: Mapping[str, str]
    "Split -> name of its corpus."
    dropped: tuple[Mapping[str, Any], ...]
    scored: tuple[tuple[str, str, Mapping[str, Any]], ...]
    "(split, scope, counts) of everything that was scored."

    @property
    def scored_table(self) -> TextTable:
        """What was scored."""
        return TextTable.of("What was scored", SCORED, self.scored)

    @property
    def dropped_table(self) -> TextTable:
        """What was dropped, and why."""
        return TextTable.of("What was dropped, and why", DROPPED, self.dropped)

    command: str
    "The command that was typed; empty where the run does not know one."
    facts: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]


def provenance(run: RunFolder, maps: str) -> Provenance:
    """Return what run.json says; `maps` is what was read of the heads, a key of `reports.scores.glossary.MAPS`."""
    record = run.record
    scopes = part_of(record, "scored").items()
    return Provenance(
        date=day(record.get("started")),
        corpora={split: str(corpus.get("name", MISSING)) for split, corpus in part_of(record, "corpora").items()},
        dropped=tuple(record.get("dropped") or ()),
        scored=tuple((split, scope, counts) for split, of_split in scopes for scope, counts in of_split.items()),
        command=str(record.get("command") or ""),
        facts=_facts(run, maps),
        versions=tuple((package, str(version)) for package, version in sorted(part_of(record, "versions").items())),
    )


def part_of(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return one object of run.json; empty where an older run did not write it."""
    part = record.get(key)
    return part if isinstance(part, dict) else {}


def _facts(run: RunFolder, maps: str) -> tuple[tuple[str, str], ...]:
    """Where the numbers come from, as (term, value) pairs; only what run.json says, and the maps."""
    record, model = run.record, part_of(run.record, "model")
    memory, stages = record.get("peak_memory_mb"), part_of(record, "stages")
    corpora = [
        (
            f"corpus ({split})",
            f"{corpus.get('name', MISSING)}: {count(corpus.get('sentences'))} sentences, "
            f"{count(corpus.get('documents'))} documents, {count(corpus.get('words'))} words; "
            f"fingerprint {corpus.get('fingerprint', MISSING)}",
        )
        for split, corpus in part_of(record, "corpora").items()
    ]
    facts = [
        ("run", run.name),
        ("headscope", record.get("headscope")),
        ("started", record.get("started")),
        (
            "model",
            f"{model.get('name', MISSING)} ({model.get('source', MISSING)}, {model.get('architecture', MISSING)})",
        ),
        ("model sha256", model.get("sha256")),
        ("longest input", f"{count(model['max_pieces'])} pieces" if "max_pieces" in model else None),
        *corpora,
        ("wall time", duration(record.get("wall_seconds"))),
        ("stages", ", ".join(f"{stage} {duration(seconds)}" for stage, seconds in stages.items())),
        ("peak memory", f"{memory:,.0f} MB" if isinstance(memory, int | float) else None),
        *((key, record.get(key)) for key in ("seed", "device", "threads", "python", "platform", "git_commit")),
        ("maps", MAPS.get(maps, maps)),
    ]
    return tuple((term.replace("_", " "), str(value)) for term, value in facts if value not in (None, ""))
