"""An atlas: its runs are done, those that are there already are kept, and what they found is one table and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from experiments.compare.across import across
from experiments.compare.answers import selected_row
from experiments.compare.grid import Atlas, GridRun
from experiments.config.config import Config, ConfigError, resolved
from experiments.record.job import delete_parts
from experiments.run.cluster import failure, one_call, open_workers
from experiments.run.config import checked
from experiments.run.folder import check_free, is_done
from experiments.run.run import resume_or_run
from experiments.statements.rule import CONTROLS
from mha import Model, load_model
from mha.hooks import HookError
from mha.models.folders import find_model, settings_sha256, weights_sha256
from mha.parallel import threads
from reports import Run
from reports.compare.atlas import ATLAS_PAGE
from reports.compare.atlas_record import ACROSS, ATLAS, AtlasRecord, AtlasRun
from reports.heads.grid import kinds_of_sinks
from reports.progress import Progress, each, silent
from reports.run.folder import RunFolderError
from reports.run.record import RunRecord
from reports.scores.best_heads import best_heads, page_scores, probes
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts, find_all


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    kept: bool = False
    "Whether it was there already."
    failed: str = ""
    "What is wrong with what it was given."


def do_run(values: Mapping[str, Any], out: str, number: int) -> Done:
    """Do the run of a resolved config in the folder `out`, with so many threads, or torch's own number for 0.

    A complete run of that config is kept if it can be read and its weights and texts are still those that it read; an
    interrupted one is resumed.

    A mistake of the user ends in `failed`; any other error is raised.
    """
    config = checked(dict(values), Path(), Path("config.toml"))
    if is_done(Path(out) / config.name, config) and _can_be_read(Path(out) / config.name):
        delete_parts(Path(out) / config.name)  # of a run that was killed when it was complete
        return Done(kept=True)
    try:
        with one_call(), threads(number or torch.get_num_threads()):
            resume_or_run(config, Path(out), overwrite=True, model=_model(config), page=False)
    except (ValueError, FileNotFoundError, HookError) as error:
        return Done(failed=" ".join(str(error).split()))
    return Done()


def _can_be_read(folder: Path) -> bool:
    try:
        Run.open(folder)
    except (FileNotFoundError, RunFolderError):
        return False
    return True


def _model(config: Config) -> Model | None:
    """Return the model of a run, the one that this process loaded last where it is the same; None for a checkpoint."""
    section = config.model
    if section.source == "checkpoint":
        return None
    seed = config.seed if section.source in CONTROLS else 0
    folder = find_model(section.reference)
    hashes = weights_sha256(folder), settings_sha256(folder)
    loaded = _loaded(section.reference, section.source, seed, section.device, hashes)
    return replace(loaded, precision=section.precision)


@lru_cache(maxsize=1)
def _loaded(reference: str, source: str, seed: int, device: str, hashes: tuple[str, str]) -> Model:
    """Return a model; the sha256 of its weights and settings are among what two calls must share."""
    return load_model(reference, source, seed, device=device)


def atlas_run(cell: GridRun, run: Run) -> AtlasRun:
    """Return the counts of a run, the same as its own page has."""
    heads = int(run.scores["name"].nunique())
    counts = Verdicts(RunThresholds(), find_all(run.scores), kinds_of_sinks(run))
    return AtlasRun(
        cell.name,
        cell.model,
        cell.corpus,
        cell.seed,
        heads=heads,
        grades=(heads - sum(counts.by_grade), *counts.by_grade[::-1]),
        position=counts.position,
        verdicts=tuple(counts.answers.values()),
        seconds=run.record.wall_seconds or 0.0,
    )


def answers(cell: GridRun, run: Run) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of `ATLAS` of a run, and a sentence for everything that one page cannot show."""
    scores, left_out = page_scores(run.scores)
    about = {"run": cell.name, "model": cell.model, "corpus": cell.corpus, "seed": cell.seed}
    best = (row for probe in probes(scores) for row in best_heads(scores, probe) if row.n and row.name)
    rows = [selected_row(row, scores, ATLAS.names, about) for row in best]
    return pd.DataFrame(rows, columns=[*ATLAS.names]), left_out


RUNS = "runs"
"The folder of the runs in that of an atlas."


class AtlasError(ValueError):
    """Runs of an atlas that failed."""


def make_atlas(atlas: Atlas, out: Path, *, overwrite: bool = False, progress: Progress = silent) -> Path:
    """Do the runs of a grid that are not there yet in `out`/<name>/runs, and write the table and page of all of them.

    A run of another config is replaced only with `overwrite`. Killed at any moment, it is gone on with by the same
    call. Return the page. Raises ClusterError, and ConfigError before anything is run; AtlasError, when all others are
    done and the page is written, where runs failed.
    """
    folder = out / atlas.name
    if (folder / "scores.parquet").is_file():
        raise ConfigError(f"{folder} is a run folder; choose another --out or name")
    for cell in atlas.cells:
        check_free(folder / RUNS / cell.name, cell.config, overwrite)
    done, described = _done(atlas, folder / RUNS, progress)
    page = ATLAS_PAGE.write(folder, _record(atlas, folder, done, described, progress), progress)
    if failed := {name: one.failed for name, one in done.items() if one.failed}:
        name, message = next(iter(failed.items()))
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise AtlasError(f"{len(failed)} of {len(done)} runs failed: {name}: {message}{more}; all are on {page}")
    return page


def _done(atlas: Atlas, runs: Path, progress: Progress) -> tuple[dict[str, Done], str]:
    """Do every run; return how each ended, and who did them."""
    calls = [(resolved(cell.config), str(runs.resolve()), atlas.cluster.each_threads) for cell in atlas.cells]
    done: dict[str, Done] = {}
    progress("runs", 0, len(calls))  # before a cluster is waited for
    with open_workers(atlas.cluster) as workers:
        for number, ended in workers.each(do_run, calls):
            name = atlas.cells[number].name
            done[name] = ended if isinstance(ended, Done) else Done(failed=failure(ended))
            progress("runs", len(done), len(calls), note=name)
        return {cell.name: done[cell.name] for cell in atlas.cells}, workers.described


def _record(atlas: Atlas, folder: Path, done: Mapping[str, Done], described: str, progress: Progress) -> AtlasRecord:
    runs: list[AtlasRun] = []
    frames: list[pd.DataFrame] = []
    opened: list[tuple[GridRun, RunRecord]] = []
    notes: list[str] = []
    for cell in each("runs opened", atlas.cells, progress):
        if done[cell.name].failed:
            runs.append(AtlasRun(cell.name, cell.model, cell.corpus, cell.seed, failed=done[cell.name].failed))
            continue
        run = Run.open(folder / RUNS / cell.name)
        runs.append(atlas_run(cell, run))
        rows_of_run, left_out = answers(cell, run)
        frames.append(rows_of_run)
        notes += [f"{cell.name}: {sentence}" for sentence in left_out]
        opened.append((cell, run.record))
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*ATLAS.names])
    notes += _notes(atlas.cells, folder, done) + _differences(opened)
    between, left_out = _across(atlas.cells, folder, done, progress)
    version = ", ".join(dict.fromkeys(filter(None, (record.headscope for _, record in opened))))
    return AtlasRecord(version, atlas.name, described, (*notes, *left_out), tuple(runs), rows, between)


def _across(
    cells: tuple[GridRun, ...], folder: Path, done: Mapping[str, Done], progress: Progress
) -> tuple[pd.DataFrame, list[str]]:
    """Compare the corpora of each model and seed; return the rows, and what is left out."""
    groups: dict[tuple[str, int], list[GridRun]] = {}
    for cell in cells:
        if not done[cell.name].failed:
            groups.setdefault((cell.model, cell.seed), []).append(cell)
    several = [group for group in groups.values() if len(group) > 1]
    compared = [
        across([(cell, Run.open(folder / RUNS / cell.name)) for cell in group])
        for group in each("corpora compared", several, progress)
    ]
    rows = [rows for rows, _ in compared] or [pd.DataFrame(columns=[*ACROSS.names])]
    sentences = [sentence for _, left_out in compared for sentence in left_out]
    return pd.concat(rows, ignore_index=True), list(dict.fromkeys(sentences))


def _notes(cells: tuple[GridRun, ...], folder: Path, done: Mapping[str, Done]) -> list[str]:
    """Say what was there already, and what lies beside the runs of the grid."""
    kept = sum(one.kept for one in done.values())
    others = sorted(path.name for path in (folder / RUNS).glob("[!.]*") if path.name not in done)
    notes = [f"{kept} of {len(cells)} runs were there already and were kept."] if kept else []
    return notes + ([f"Not part of the grid, and left as they are: {', '.join(others)}."] if others else [])


def _differences(runs: Sequence[tuple[GridRun, RunRecord]]) -> list[str]:
    """Say where runs that were kept are of other code, other weights or other texts than those beside them."""
    again = "delete the folders of the older runs and repeat the command"
    made_by = {(record.headscope, record.git_commit, *sorted(record.versions.items())) for _, record in runs}
    notes = [f"The runs were made by different versions of headscope or its packages; {again}."] * (len(made_by) > 1)
    weights: dict[str, set[object]] = {}
    texts: dict[str, set[object]] = {}
    for cell, record in runs:
        weights.setdefault(f"model {cell.model}, seed {cell.seed}", set()).add(record.model.sha256)
        texts.setdefault(f"corpus {cell.corpus}", set()).add(tuple(one.fingerprint for one in record.corpora.values()))
    changed = [what for what, found in {**weights, **texts}.items() if len(found) > 1]
    return notes + ([f"Changed between runs: {'; '.join(changed)}; {again}."] if changed else [])
