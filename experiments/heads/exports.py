"""A run's numbers and figures in the forms that other tools and papers take."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from reports import Run
from reports.blocks.block import Charts, every_block
from reports.compare.page import COMPARISON_PAGE, change_table
from reports.drawing.charts import FORMATS, save_pictures
from reports.measures.registry import measures_of, run_tables
from reports.notebook.run_charts import run_pictures
from reports.page.dataset_card import EXPORTED_SCORES, dataset_card, with_canonical_names
from reports.tables.files import replace_file
from reports.tables.shared_columns import SPLITS
from reports.tables.table import json_schema
from reports.tables.text_table import TextTable

SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "latex": ".tex", "markdown": ".md", "dataset": ""}
"What a table can be exported as -> the ending of its file; a data set is a folder."

BEST, SCORES = "best", "scores"
"The table of best heads, and that of all heads; every other is named as the run's file is."


class ExportError(ValueError):
    """Something that a run does not have, or that cannot be written."""


def export(
    run: Run | str | Path,
    to: str,
    out: str | Path | None = None,
    *,
    table: str = "",
    probes: Sequence[str] = (),
    labels: Sequence[str] = (),
    rows: int | None = None,
) -> Path:
    """Write a table of a run, its figures, or the changes of a comparison, and return the file or folder.

    `to` is csv, parquet, latex (booktabs), markdown, dataset (a `datasets.DatasetDict` with a card), or, for the
    charts of all probes and of the page's sections, pdf, png or svg. `table` is "best" (as papers print it: the default
    of latex and markdown), "scores" (of every head: the default of the others), or that of a measure. `probes` and
    `labels` keep only theirs, `rows` the first so many. Of a comparison latex and markdown have the roles that changed
    and every significant difference. Without `out` it is named after the run, in the current folder. Raises ExportError
    with what there is, and what `Run.open` raises for what is no run folder; no folder is replaced.
    """
    if not isinstance(run, Run) and (Path(run) / COMPARISON_PAGE.file).is_file():
        return _export_comparison(Path(run), to, out, rows)
    opened = run if isinstance(run, Run) else Run.open(Path(run))
    try:
        if to in FORMATS:
            folder = _free(Path(out or f"{opened.name}-figures"))
            save_pictures(_pictures(opened, probes), folder, to)
            return folder
        if to not in SUFFIXES:
            raise ExportError(f"unknown form {to!r}; known are {', '.join((*SUFFIXES, *FORMATS))}")
        name = table or (BEST if to in ("latex", "markdown") else SCORES)
        found = _table(opened, name, probes, labels)[:rows]
    except ValueError as error:
        raise ExportError(str(error)) from error
    path = Path(out or f"{opened.name}-{name}{SUFFIXES[to]}")
    if to == "dataset":
        return _save_dataset(opened, name, found.frame, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if to in ("latex", "markdown"):
        path.write_text(found.latex() if to == "latex" else found.markdown(), encoding="utf-8")
        return path
    if path.suffix != SUFFIXES[to]:
        raise ExportError(f"{path}: a table as {to} is a file that ends in {SUFFIXES[to]}")
    return replace_file(found.frame, path)


def _pictures(run: Run, probes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return charts of a run in Vega-Lite: of its probes, and where none is named those of its page's sections."""
    found = run_pictures(run, probes)
    for measure in () if probes else measures_of(run):
        drawn = [
            chart for block in every_block(measure.page(run)) if isinstance(block, Charts) for chart in block.charts
        ]
        found |= {f"{measure.name}-{place}": chart.spec for place, chart in enumerate(drawn, 1)}
    return found


def _export_comparison(folder: Path, to: str, out: str | Path | None, rows: int | None) -> Path:
    """Write what changed between the runs of a comparison, a table for each pair."""
    if to not in ("latex", "markdown"):
        raise ExportError(f"{folder}: a comparison is exported as latex or markdown; its CSV files lie there")
    record = COMPARISON_PAGE.read(folder)
    tables = [
        replace(change_table(pair), title=f"{pair.one} → {pair.other}", note=" ".join(pair.sentences))[:rows]
        for pair in record.each_pair
    ]
    path = Path(out or f"{folder.resolve().name}{SUFFIXES[to]}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(one.latex() if to == "latex" else one.markdown() for one in tables), encoding="utf-8")
    return path


def _table(run: Run, name: str, probes: Sequence[str], labels: Sequence[str]) -> TextTable:
    """Return a table of the run, of these probes and labels alone where any are named."""
    if name == BEST:
        best = run.best(probes[0] if len(probes) == 1 else None, labels or None)
        keep = [place for place, row in enumerate(best.frame["probe"]) if not probes or row in probes]
        rows = tuple(best.rows[place] for place in keep)
        return TextTable(best.title, best.columns, rows, best.frame.iloc[keep], best.note)
    tables = {SCORES: run.scores, **run.tables}
    if name not in tables:
        raise ExportError(f"{run.folder}: no table {name!r}; there are {', '.join((BEST, *tables))}")
    frame = tables[name]
    for column, wanted in (("probe", probes), ("label", labels)):
        for one in wanted:
            if column not in frame or not (frame[column] == one).any():
                raise ExportError(f"{run.folder}: table {name!r} has no rows of {column} {one!r}")
        frame = frame[frame[column].isin(wanted)] if wanted else frame
    return run_tables()[name].shown(frame, f"{run.name}: {name}")


def _save_dataset(run: Run, name: str, frame: pd.DataFrame, path: Path) -> Path:
    """Write a table as a data set on disk, a split a split, with its card, and as one file with its JSON Schema."""
    from datasets import Dataset, DatasetDict, disable_progress_bars, enable_progress_bars, is_progress_bar_enabled

    frame = with_canonical_names(frame) if name == SCORES else frame
    parts = {split: frame[frame["split"] == split] for split in SPLITS} if "split" in frame else {"all": frame}
    splits = {split: Dataset.from_pandas(rows, preserve_index=False) for split, rows in parts.items() if len(rows)}
    target, shown = _free(path), is_progress_bar_enabled()
    disable_progress_bars()
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as unfinished:
            folder = Path(unfinished) / "dataset"
            DatasetDict(splits).save_to_disk(str(folder))
            sizes = {split: len(rows) for split, rows in parts.items() if len(rows)}
            (folder / "README.md").write_text(dataset_card(run, name, [*frame.columns], sizes), encoding="utf-8")
            _write_schema(name, frame, folder)
            shutil.move(folder, target)
    finally:
        if shown:
            enable_progress_bars()
    return target


def _write_schema(name: str, frame: pd.DataFrame, folder: Path) -> None:
    """Write the table as NAME.parquet, and what its columns mean as NAME.schema.json."""
    replace_file(frame, folder / f"{name}.parquet")
    tables = {**run_tables(), SCORES: EXPORTED_SCORES}
    if name in tables:  # the best heads are a choice of columns of the scores
        schema = json.dumps(json_schema(name, tables[name]), indent=2, ensure_ascii=False)
        (folder / f"{name}.schema.json").write_text(schema + "\n", encoding="utf-8")


def _free(folder: Path) -> Path:
    """Return a folder that is not there yet, in one that is; raises ExportError where it is there."""
    if folder.exists():
        raise ExportError(f"{folder} exists; name another with --out (out=)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    return folder
