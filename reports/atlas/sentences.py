"""What came out of an atlas, in a few sentences, and a line of what was run."""

from __future__ import annotations

from collections.abc import Iterator

from reports.atlas.across import role_cases
from reports.atlas.across import sentences as across_sentences
from reports.atlas.pooled import AtlasRow, pooled_rows
from reports.atlas.record import AtlasRecord
from reports.formats import names
from reports.scores.plain_names import task

MOST = 4
"Runs, models or groups that a sentence names."


def overview(record: AtlasRecord) -> tuple[str, ...]:
    """Return what was run, in parts of one line: failed runs first."""
    runs = _counted(len(record.runs), "run")
    kinds = (("model", [run.model for run in record.runs]), ("corpus", [run.corpus for run in record.runs]))
    counts = [_counted(len({*titles}), kind) for kind, titles in kinds]
    seeds = _counted(len({run.seed for run in record.runs}), "seed")
    first = f"{len(record.failed)} of {runs} failed" if record.failed else runs
    return tuple(filter(None, (first, *counts, seeds, record.made)))


def _counted(number: int, thing: str) -> str:
    plural = {"corpus": "corpora"}.get(thing, f"{thing}s")
    return f"{number:,} {thing if number == 1 else plural}"


def summary(record: AtlasRecord) -> tuple[str, ...]:
    """Return failed runs, specialised heads, models without, the most graded pair, and corpora for each model."""
    return tuple(_sentences(record))


def _sentences(record: AtlasRecord) -> Iterator[str]:
    if record.failed:
        failed = names([run.name for run in record.failed], MOST)
        yield f"{len(record.failed)} of {_counted(len(record.runs), 'run')} failed: {failed}."
    if not record.finished:
        yield "No run was finished, so nothing was scored."
        return
    with_heads = [run for run in record.finished if run.specialised]
    finished = _counted(len(record.finished), "finished run")
    rule = "a grade in a role of language"
    if not with_heads:
        yield f"None of {finished} has a specialised head, one with {rule}."
    else:
        have = "has" if len(with_heads) == 1 else "have"
        yield f"{len(with_heads)} of {finished} {have} a specialised head, one with {rule}."
        specialised = {run.model for run in with_heads}
        without = [model for model in dict.fromkeys(run.model for run in record.finished) if model not in specialised]
        if without:
            yield f"Models without a specialised head in any run: {names(without, MOST)}."
    rows = pooled_rows(record)
    if rows and (most := max(rows, key=lambda row: row.graded)).graded:
        ties = sum(row.graded == most.graded for row in rows) - 1
        yield _most_graded(most, ties)
    yield from across_sentences(record.across, role_cases(record.across))


def _most_graded(row: AtlasRow, ties: int) -> str:
    """Say in how many runs a label and direction has a grade, and by model and corpus which head is selected."""
    also = f" (as for {_counted(ties, 'other pair')})" if ties else ""
    heads = [
        f"{model} on {corpus} {pooled.head}" + (f" in {pooled.agreeing} of {pooled.seeds} seeds" * (pooled.seeds > 1))
        for (model, corpus), pooled in row.by_group.items()
        if any(pooled.highest)
    ]
    return (
        f"The label–direction pair with a grade in most runs is “{task(row.probe, row.label, row.variant)}” "
        f"({row.title}): {row.graded} of {_counted(row.runs, 'run')}{also}; selected "
        f"heads in such runs: {names(heads, MOST)}."
    )
