"""What is published of a folder: its short page with figures, its settings, and its numbers as small Parquet files."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from reports.blocks.block import Block, Charts, TableBlock
from reports.blocks.page import Page
from reports.formats import named_file
from reports.progress import Step
from reports.run.record import RunRecord, read_record
from reports.run.replacing import replace_text

if TYPE_CHECKING:
    from reports.compare.page_record import RecordPage

FIGURES: Final = 2
"Charts that a published page shows at the most."

MOST_ROWS: Final = 200_000
"Of a table beside the scores that is published; a row a checkpoint, label and head makes more."

PAGE_SECTIONS: Final = ("opening", "heads", "best", "controls", "meaning", "methods", "provenance")
"Of the page of a run, those that its published page has; the others make it several times as large."

LEFT_OUT: Final = "without examples and further measures"
"What that page says above its title."

PLACE: Final = re.compile(r"(?:file://|(?<![\w./:~-]))/(?:[^\s/'\"]+/)+([^\s/'\"]+)")
"An absolute path, which is of one machine."

OWN: Final = re.compile(r" (?:--out[= ]\S+|--overwrite|--resume|-q)(?=\s|$)")
"Options of a command that say where and how loudly, and not what."


class PublishingError(ValueError):
    """A folder that cannot be published where one wants."""


@dataclass(frozen=True)
class FolderKind:
    """One kind of folder that headscope makes."""

    mark: str
    "Pattern of the file that tells it from others."
    write_page: Callable[[Path, Step], Path]
    "Makes its page anew, in the folder."
    page: Callable[[Path], Page]
    "Returns that page as it is published."
    tables: Callable[[Path], Mapping[str, pd.DataFrame]]
    "Returns the tables that people read, by name."
    records: tuple[str, ...]
    "Patterns of its files of settings and facts."


def kind_of(folder: Path) -> FolderKind:
    """Return what kind of folder it is; that of a run where it has a file of one, or is none.

    Raises FileNotFoundError, which says what folders there are, for a folder of another kind.
    """
    *others, run = every = kinds()
    found = next((kind for kind in others if any(folder.glob(kind.mark))), run)
    if found is run and folder.is_dir() and not any((folder / name).exists() for name in (run.mark, *run.records)):
        marks = ", ".join(kind.mark for kind in every)
        one_claim = f"; this is one claim, take {folder.parent}" * (folder / "claim.json").is_file()
        raise FileNotFoundError(f"{folder}: no page is made of it; folders with a page hold {marks}{one_claim}")
    return found


def kinds() -> tuple[FolderKind, ...]:
    """Return all kinds of folders, that of runs last."""
    from reports.compare.atlas import ATLAS_PAGE
    from reports.compare.page import COMPARISON_PAGE
    from reports.compare.targets import TARGET_PAGE
    from reports.page.page import write_report

    records = (_of_record(one) for one in (COMPARISON_PAGE, TARGET_PAGE, ATLAS_PAGE))
    run = FolderKind("scores.parquet", write_report, _run_page, _run_tables, ("config.toml", "run.json"))
    return (*_statements(), *records, run)


def _of_record(one: RecordPage[Any]) -> FolderKind:
    return FolderKind(
        *(one.file, one.write_page),
        lambda folder: one.page(one.read(folder), folder),
        lambda folder: one.frames(one.read(folder)),
        (one.file,),
    )


def _statements() -> Iterator[FolderKind]:
    """Yield the kinds of folders with statements: the sandbox, claims and findings."""
    from reports.statements import claim_page, claim_record, finding_page, finding_record, sandbox_page, sandbox_record

    sandbox, claim, findings = "sandbox.json", f"*/{claim_record.RECORD}", finding_record.RECORD
    yield FolderKind(
        *(sandbox, sandbox_page.write_sandbox_page),
        lambda folder: sandbox_record.read_record(folder, sandbox_page.sandbox_page),
        lambda folder: sandbox_record.read_record(folder, lambda study: study.tables),
        (sandbox,),
    )
    yield FolderKind(
        *(claim, claim_page.write_claims_page),
        lambda folder: claim_page.claims_page(claim_record.read_claims(folder)),
        lambda folder: claim_record.claim_tables(claim_record.read_claims(folder)),
        (claim,),
    )
    yield FolderKind(
        *(findings, finding_page.write_findings_page),
        lambda folder: finding_page.findings_page(finding_record.read_findings(folder)),
        lambda folder: {"findings": finding_record.read_findings(folder).table()},
        (findings,),
    )


def publish(folder: Path, out: Path, *, page: bool = False) -> list[str]:
    """Write what is published of `folder` into `out`, and return a line for every file with its size.

    That is the short page report.md with at most two charts in figures/, the settings and facts without the places of
    this machine, and the tables that people read as Parquet. With `page` also index.html, of a
    run with `PAGE_SECTIONS` alone. No sentence of a corpus is in it. What else lies in `out` stays, but for figures.
    Raises PublishingError where `out` is `folder`, and what the page of the folder raises.
    """
    if out.resolve() == folder.resolve():
        raise PublishingError(f"{out}: the folder itself; name another one to publish it in")
    kind = kind_of(folder)
    made, tables = kind.page(folder), kind.tables(folder)
    records = [path for pattern in kind.records for path in sorted(folder.glob(pattern))]
    written = [_write_record(path, out / path.relative_to(folder)) for path in records]
    written += [_write_table(frame, out / f"{name}.parquet") for name, frame in tables.items()]
    written += _write_page(made, out, tables, whole=page)
    return [f"{path}: {path.stat().st_size:,} bytes" for path in written]


def placeless(text: str) -> str:
    """Return a text in which of every absolute path only the last name is left.

    >>> placeless("headscope run /home/me/a.toml, see https://x.org/a/b and docs/index.md")
    'headscope run a.toml, see https://x.org/a/b and docs/index.md'
    """
    return PLACE.sub(r"\1", text)


def _write_record(path: Path, out: Path) -> Path:
    if path.name == "run.json":
        return replace_text(out, _own_record(read_record(path)).text)
    text = placeless(path.read_text(encoding="utf-8"))
    if path.suffix == ".json":
        text = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    return replace_text(out, text)


def _own_record(record: RunRecord) -> RunRecord:
    """Return the record of a run without examples of what was dropped, which are of a corpus, and without places."""
    dropped = tuple(replace(one, examples=()) for one in record.dropped)
    command = OWN.sub("", record.command) if record.command else None
    return RunRecord.of(placeless(replace(record, dropped=dropped, command=command).text))


def _write_table(frame: pd.DataFrame, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    placeless_texts(frame).to_parquet(path, index=False, compression="zstd", compression_level=19)
    return path


def placeless_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts are `placeless`: models, corpora and runs may be named by their folder."""
    texts = [str(name) for name, dtype in frame.dtypes.items() if dtype.kind == "O"]
    return frame.assign(**{name: frame[name].map(_placeless) for name in texts})


def _placeless(value: object) -> object:
    return placeless(value) if isinstance(value, str) else value


def _in_32_bits(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose measurements take half as much room: no page is made of it again."""
    return frame.astype({name: np.float32 for name, of in frame.dtypes.items() if of == np.float64})


def _write_page(page: Page, out: Path, tables: Iterable[str], *, whole: bool) -> list[Path]:
    """Write the short page with its figures, and the `whole` one where it is asked for; return the files.

    What it says of the CSV files of `tables` is said of those that are published.
    """
    shutil.rmtree(out / "figures", ignore_errors=True)
    written: list[Path] = []
    short: list[Block] = []
    for block in page.short:
        if isinstance(block, Charts):
            charts = block.charts[: FIGURES - len(written)]
            files = [_figure(chart.title, chart.spec, out) for chart in charts]
            written += files
            block = replace(block, charts=charts, files=[f"{path.parent.name}/{path.name}" for path in files])
        short.append(block)
    text = replace(page, short=short).markdown
    for name in tables:
        text = text.replace(f"{name}.csv", f"{name}.parquet")
    written.append(replace_text(out / "report.md", text))
    return [*written, *([replace_text(out / "index.html", page.html)] if whole else [])]


def _figure(title: str, spec: Mapping[str, Any], out: Path) -> Path:
    """Write a chart as that of two kinds of pictures that is smaller, and return the file."""
    from reports.drawing.charts import picture

    drawn = {form: picture(spec, form) for form in ("svg", "png")}
    form = min(drawn, key=lambda form: len(drawn[form]))
    path = out / "figures" / f"{named_file(title).lower()}.{form}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawn[form])
    return path


def _run_page(folder: Path) -> Page:
    """Return the page of a run as it is published: without what is of this machine, or of a corpus."""
    from reports.notebook.run import Run
    from reports.page.page import run_page
    from reports.page.short import answers_figure

    run = Run.open(folder)
    record = _own_record(run.record)
    made = run_page(replace(run, record=record, config=placeless(run.config)))
    kept = [section for section in made.sections if section.name in PAGE_SECTIONS]
    sections = tuple(replace(section, blocks=[*map(_without_folds, section.blocks)]) for section in kept)
    head, table, *rest = made.short
    short = (head, table, Charts([answers_figure(run)]), *rest)
    return replace(made, sections=sections, short=short, kicker=f"{made.kicker} {LEFT_OUT}")


def _without_folds(block: Block) -> Block:
    return replace(block, table=block.table.opened) if isinstance(block, TableBlock) else block


def _run_tables(folder: Path) -> Mapping[str, pd.DataFrame]:
    """Return the tables of a run that people read, of the report split, but for those of more than MOST_ROWS rows.

    Of heads that were neither selected nor have a grade, scores have the accuracy alone.
    """
    from reports.measures.registry import run_tables
    from reports.notebook.run import Run

    run = Run.open(folder)
    tables = {"scores": run.scores, **run.tables}
    found = {name: tables[name] for name, table in run_tables().items() if table.csv and name in tables}
    found = {name: frame[frame["split"] == "report"] if "split" in frame else frame for name, frame in found.items()}
    found = {name: frame for name, frame in found.items() if name == "scores" or len(frame) <= MOST_ROWS}
    scores = found["scores"]
    plain = ~scores["selected"] & (scores["grade"] == 0)
    numbers = [name for name, dtype in scores.dtypes.items() if dtype == np.float64 and name != "accuracy"]
    found["scores"] = scores.assign(**{str(name): scores[name].mask(plain) for name in numbers})
    return {name: _in_32_bits(frame) for name, frame in found.items()}
