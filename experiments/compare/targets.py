"""What runs report of agreement, coreference and position, gathered for one page; and its summary on a terminal."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.compare.answers import model_titles, selected_row
from experiments.compare.effects import BEHAVIOURS, NamedRun, effects
from experiments.compare.sides import CompareError, shortened
from experiments.record.progress import Progress, silent
from probes import get_probe
from reports import Run
from reports.compare.target_sentences import spoken
from reports.compare.target_tables import ANSWERS, TARGETS, RoleTarget, TargetRecord, TargetRun
from reports.compare.targets import summary_table, write_targets
from reports.formats import count, day
from reports.progress import each
from reports.scores.best_heads import BestHead, best_heads, page_scores
from reports.scores.thresholds import RunThresholds


def write_target_page(names: Sequence[str], out: Path, progress: Progress = silent) -> tuple[Path, TargetRecord]:
    """Gather what runs say of the three targets, and write the page and its tables into `out`.

    Raises CompareError where `out` holds a run, and for what `open_runs` refuses.
    """
    if (out / "scores.parquet").is_file():
        raise CompareError(f"{out} is a run folder; choose another --out")
    runs = open_runs(names, progress)
    asked = answers(runs)
    version = ", ".join(sorted({run.run.record.headscope or "" for run in runs} - {""}))
    headless = tuple(dict.fromkeys(run.model for run in runs if run.run.record.model.masked_lm is False))
    about, notes = tuple(map(_about, runs)), tuple(_notes(runs))
    record = TargetRecord(version, about, notes, BEHAVIOURS, headless, asked, effects(asked, runs))
    return write_targets(out, record, progress), record


def open_runs(names: Sequence[str], progress: Progress = silent) -> list[NamedRun]:
    """Open run folders in the order in which they are given.

    Raises CompareError for what is given twice, or where none asked for any of the targets; RunFolderError and
    FileNotFoundError for what is no run folder.
    """
    folders = [Path(name) for name in names]
    if twice := [str(folder) for folder, times in Counter(map(Path.resolve, folders)).items() if times > 1]:
        raise CompareError(f"{twice[0]} is given twice")
    runs = [Run.open(folder) for folder in each("runs opened", folders, progress)]
    opened = []
    for title, model, run in zip(shortened(names), model_titles(runs), runs, strict=True):
        scores, left_out = page_scores(run.scores)
        opened.append(NamedRun(title, model, run, scores, tuple(f"{title}: {note}" for note in left_out)))
    if not any(one.asks for one in opened):
        probes = ", ".join(probe for target in TARGETS for probe in target.probes)
        raise CompareError(f"no run scored a target: [probes] names of its config takes one of {probes}")
    return opened


def answers(runs: Sequence[NamedRun]) -> pd.DataFrame:
    """Return the rows of `ANSWERS`: by target, by run as given, then by probe, label and variant."""
    rows = [row for target in TARGETS for run in runs for row in _of_run(target, run)]
    return pd.DataFrame(rows, columns=[*ANSWERS.names])


def _of_run(target: RoleTarget, run: NamedRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of a target: labels that lead in the first variant that was asked come first."""
    corpora = run.scores.loc[run.scores["split"] == "report", "corpus"]
    for probe in target.probes:
        variants = get_probe(probe).variants

        def place(row: BestHead, variants: Sequence[str] = variants) -> tuple[bool, int, int, str, int, str]:
            variant = (*variants, row.variant).index(row.variant)
            lead = (*target.leads, row.label).index(row.label)
            leads = row.label in target.leads
            return not leads, variant * leads, lead, row.label, variant, row.variant

        for row in sorted((row for row in best_heads(run.scores, probe) if row.n and row.name), key=place):
            about = {"target": target.name, "run": run.title, "model": run.model, "corpus": corpora.iloc[0]}
            yield selected_row(row, run.scores, ANSWERS.names, about)


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
    if len({RunThresholds.of(tomllib.loads(run.run.config)) for run in runs if run.asks}) > 1:
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
