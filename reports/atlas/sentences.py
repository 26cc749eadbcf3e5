"""What came out of an atlas, in sentences: what failed first."""

from __future__ import annotations

from collections.abc import Iterator

from reports.atlas.record import AtlasRecord, AtlasRun
from reports.scores.plain_names import task

GROUPS = 6
"Models on corpora that the summary tells, at most; the table of runs has all."

Group = tuple[str, str]
"Model and corpus."


def groups(record: AtlasRecord) -> dict[Group, list[AtlasRun]]:
    """Return the runs that did not fail by model and corpus: those of all seeds together."""
    found: dict[Group, list[AtlasRun]] = {}
    for run in record.done:
        found.setdefault((run.model, run.corpus), []).append(run)
    return found


def described(record: AtlasRecord) -> str:
    """Say what was run."""
    models, corpora, seeds = (len({getattr(run, what) for run in record.runs}) for what in ("model", "corpus", "seed"))
    return (
        f"{_many(len(record.runs), 'run')} of {_many(models, 'model')} on {_many(corpora, 'corpus', 'corpora')} with "
        f"{_many(seeds, 'seed')}, by {record.made}"
    )


def spoken(record: AtlasRecord) -> Iterator[str]:
    """Yield the sentences of the summary."""
    if failed := record.failed:
        yield f"{len(failed)} of {_many(len(record.runs), 'run')} failed: {', '.join(run.name for run in failed)}."
    if not record.done:
        return
    some = sum(run.specialised > 0 for run in record.done)
    yield f"{some} of {_many(len(record.done), 'run')} have a head that is specialised in a role of language."
    for (model, corpus), runs in [*groups(record).items()][:GROUPS]:
        low, high = (pick(run.specialised for run in runs) for pick in (min, max))
        seeds = f" ({_many(len(runs), 'seed')})" if len(runs) > 1 else ""
        number = f"{low} to {high}" if low < high else str(low)
        yield f"{model} on {corpus}: {number} of {runs[0].heads} heads are specialised{seeds}."
    yield from _widest(record)


def _widest(record: AtlasRecord) -> Iterator[str]:
    """Yield which label and direction has a head with a grade in most runs, and which heads these are."""
    graded = record.answers[record.answers["grade"] > 0]
    if graded.empty:
        return
    sizes = graded.groupby(["probe", "label", "variant"], sort=False).size()
    probe, label, variant = sizes.idxmax()
    rows = graded[(graded["probe"] == probe) & (graded["label"] == label) & (graded["variant"] == variant)]
    heads = rows.groupby("model", sort=False)["name"].unique()
    told = "; ".join(f"in {model} {', '.join(sorted(names))}" for model, names in heads.items())
    yield (
        f"Most runs have a graded head that {task(probe, label, variant)} ({len(rows)} of {len(record.done)}): {told}."
    )


def _many(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"
