"""Where the numbers of a report come from: what run.json says of the run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from typing import Final

from reports.blocks.block import Block, Facts, Paragraph, TableBlock
from reports.formats import MISSING, count, duration
from reports.run.folder import RunFolder
from reports.run.record import ReadTexts, RunRecord
from reports.scores.glossary import MAPS
from reports.tables.cells import TextColumn
from reports.tables.text_table import TextTable


def _counted(name: str, row: tuple[str, str, ReadTexts]) -> str:
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


def coverage_tables(record: RunRecord) -> Iterator[Block]:
    """Yield what was scored, and what was dropped with the reason."""
    if scored := [(split, scope, read) for split, of in record.scored.items() for scope, read in of.items()]:
        yield TableBlock(TextTable.of("Coverage of the data", SCORED, scored), caption=False)
    dropped = TextTable.of("Dropped items, with the reason", DROPPED, record.dropped)
    yield TableBlock(dropped) if record.dropped else Paragraph("Nothing was dropped.")


def provenance_facts(run: RunFolder, maps: str) -> Facts:
    """Return what is known of where the numbers come from; `maps` is a key of `reports.scores.glossary.MAPS`."""
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
        ("versions", ", ".join(f"{package} {version}" for package, version in sorted(record.versions.items()))),
    ]
    return Facts([(term.replace("_", " "), str(value)) for term, value in facts if value not in (None, "")])
