"""Where the numbers of a report come from: what run.json says of the run, as the page lays it out.

Its tables are lists of run.json (`reports.run.record`), which has no tables with columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Final

from reports.formats import MISSING, count, day, duration
from reports.run.folder import RunFolder
from reports.run.record import Lost, ReadTexts
from reports.scores.glossary import MAPS
from reports.tables.cells import TextColumn
from reports.tables.text_table import TextTable

ScoredTexts = tuple[str, str, ReadTexts]
"(split, scope, what was read) of one thing that was scored."


def _counted(name: str, row: ScoredTexts) -> str:
    return count(getattr(row[2], name))


SCORED: Final = (
    TextColumn("Split", itemgetter(0), "row"),
    TextColumn("Scope", itemgetter(1), "text"),
    *(TextColumn(name.capitalize(), partial(_counted, name)) for name in ("windows", "words", "pieces")),
    TextColumn("Unknown words", partial(_counted, "unknown")),
)

DROPPED: Final = (
    TextColumn("Split", lambda lost: lost.split, "row"),
    TextColumn("Scope", lambda lost: lost.scope, "text"),
    TextColumn("Reason", lambda lost: lost.reason, "text", "wrapping"),
    TextColumn("Count", lambda lost: count(lost.count)),
    TextColumn(*("For example", lambda lost: ", ".join(lost.examples), "text", "muted wrapping"), plain="examples"),
)


@dataclass(frozen=True)
class Provenance:
    """What a run says of itself."""

    date: str
    corpora: Mapping[str, str]
    "Split -> name of its corpus."
    dropped: tuple[Lost, ...]
    scored: tuple[ScoredTexts, ...]

    @property
    def scored_table(self) -> TextTable:
        """Coverage of the data."""
        return TextTable.of("Coverage of the data", SCORED, self.scored)

    @property
    def dropped_table(self) -> TextTable:
        """Dropped items, with the reason."""
        return TextTable.of("Dropped items, with the reason", DROPPED, self.dropped)

    command: str
    "The command that was typed; empty where the run does not know one."
    facts: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]


def provenance(run: RunFolder, maps: str) -> Provenance:
    """Return what run.json says; `maps` is what was read of the heads, a key of `reports.scores.glossary.MAPS`."""
    record = run.record
    return Provenance(
        date=day(record.started),
        corpora={split: corpus.name or MISSING for split, corpus in record.corpora.items()},
        dropped=record.dropped,
        scored=tuple(
            (split, scope, counts) for split, scopes in record.scored.items() for scope, counts in scopes.items()
        ),
        command=record.command or "",
        facts=_facts(run, maps),
        versions=tuple(sorted(record.versions.items())),
    )


def _facts(run: RunFolder, maps: str) -> tuple[tuple[str, str], ...]:
    """Where the numbers come from, as (term, value) pairs; only what run.json says, and the maps."""
    record, model, memory = run.record, run.record.model, run.record.peak_memory_mb
    corpora = [
        (
            f"corpus ({split})",
            f"{corpus.name or MISSING}: {count(corpus.sentences)} sentences, {count(corpus.documents)} documents, "
            f"{count(corpus.words)} words; fingerprint {corpus.fingerprint or MISSING}",
        )
        for split, corpus in record.corpora.items()
    ]
    facts = [
        ("run", run.name),
        ("headscope", record.headscope),
        ("started", record.started),
        ("model", f"{model.name or MISSING} ({model.source or MISSING}, {model.architecture or MISSING})"),
        ("model sha256", model.sha256),
        ("tokenizer sha256", model.tokenizer_sha256),
        ("revision on the hub", model.revision),
        ("longest input", f"{count(model.max_pieces)} pieces" if model.max_pieces is not None else None),
        *corpora,
        ("wall time", duration(record.wall_seconds)),
        ("resumed", f"parts taken: {len(record.resumed)}; times are of the last attempt" if record.resumed else None),
        ("read by workers", record.workers),
        ("stages", ", ".join(f"{name} {duration(took)}" for name, took in record.stages.items())),
        ("peak memory", f"{memory:,.0f} MB" if memory is not None else None),
        *((key, getattr(record, key)) for key in ("seed", "device", "threads", "python", "platform", "git_commit")),
        ("precision", ", ".join(f"{of} {precision}" for of, precision in record.precision.items())),
        ("maps", MAPS.get(maps, maps)),
    ]
    return tuple((term.replace("_", " "), str(value)) for term, value in facts if value not in (None, ""))
