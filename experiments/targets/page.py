"""The page of targets, made from runs; and its summary on a terminal."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.record.progress import Progress, silent
from experiments.targets.answers import answers
from experiments.targets.effects import BEHAVIOURS, effects
from experiments.targets.runs import NamedRun, TargetsError, open_runs
from reports.formats import count, day
from reports.scores.thresholds import RunThresholds
from reports.targets.page import write_targets
from reports.targets.record import TargetRecord, TargetRun
from reports.targets.sentences import spoken
from reports.targets.shown import summary_table


def write_target_page(names: Sequence[str], out: Path, progress: Progress = silent) -> tuple[Path, TargetRecord]:
    """Gather what runs say of the three targets, and write the page and its tables into `out`.

    Raises TargetsError where `out` holds a run, and for what `open_runs` refuses.
    """
    if (out / "scores.parquet").is_file():
        raise TargetsError(f"{out} is a run folder; choose another --out")
    runs = open_runs(names, progress)
    asked = answers(runs)
    versions = sorted({run.run.record.headscope or "" for run in runs} - {""})
    about = tuple(_about(run) for run in runs)
    headless = tuple(dict.fromkeys(run.model for run in runs if run.run.record.model.masked_lm is False))
    said, version = tuple(_notes(runs)), ", ".join(versions)
    record = TargetRecord(version, about, said, BEHAVIOURS, headless, asked, effects(asked, runs))
    return write_targets(out, record, progress), record


def _about(run: NamedRun) -> TargetRun:
    record = run.run.record
    texts = [record.corpus(split) for split in ("select", "report")]
    sizes = [f" ({count(one.sentences)} sentences)" if one.sentences is not None else "" for one in texts]
    text = " / ".join(f"{one.name or '–'}{size}" for one, size in zip(texts, sizes, strict=True))
    weights = f", weights {record.model.sha256[:12]}" if record.model.sha256 else ""
    parts = [name for name, there in (("targets", run.asks), ("effects", run.measures)) if there]
    made = f"{day(record.started)}, headscope {record.headscope or ''}{weights}"
    return TargetRun(run.title, run.model, text, made, ", ".join(parts) or "nothing that the page shows")


def _notes(runs: Sequence[NamedRun]) -> Iterator[str]:
    """Yield what is left out of runs, and in what they differ."""
    for run in runs:
        yield from run.notes
    rules = {RunThresholds.of(tomllib.loads(run.run.config)) for run in runs if run.asks}
    if len(rules) > 1:
        yield "The runs grade heads by different rules ([verdict] of their configs)."


def print_targets(record: TargetRecord) -> None:
    """Print the summary of the page."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for target, sentences in spoken(record):
        console.print(Text(target.title, style="bold"))
        console.print(summary_table(record, target))
        for sentence in sentences:
            console.print(Text(sentence))
        console.print()
