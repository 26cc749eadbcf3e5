"""The page of the sandbox: what its record says, in words, tables and curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from reports.blocks.block import Block, Charts, Facts, Fold, Heading, Paragraph, Points, Section, TableBlock, Terms
from reports.blocks.page import Page, columns_fold, listed, made_facts, write_page
from reports.blocks.short import ROWS, short_form, short_table
from reports.formats import count, day, duration, percent, points, signed
from reports.progress import Step, silent
from reports.statements import sandbox_text as texts
from reports.statements.claim_page import STATED, telling_first
from reports.statements.drawn import figure_chart
from reports.statements.figure import Figure, Point
from reports.statements.sandbox_goals import (
    COMPARED,
    COVERAGE_GOAL,
    GRADES,
    PROMISED,
    PROMISED_ALONE,
    ROUGH,
    allowed,
    answer,
    comparisons,
    goals,
    pooled_coverage,
)
from reports.statements.sandbox_record import (
    FDR,
    LABEL,
    RIGHT_NO,
    SANDBOX_TABLES,
    SandboxRecord,
    kind,
    read_record,
)
from reports.statements.statement import STATEMENTS
from reports.tables.table import Table
from reports.tables.text_table import TextTable

KEPT: Final = (
    *STATED[:2],
    STATEMENTS["value"].shown("Exceptions", "text", write=lambda row: str(row.estimate)),
    STATEMENTS["number"].shown("Most extreme value", css="wrapping"),
)


def write_sandbox_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html and report.md into `folder` from its sandbox.json; return the path of the page.

    Raises FileNotFoundError where there is no record, ValueError where it cannot be understood.
    """
    return write_page(folder, read_record(folder, sandbox_page), step)


def sandbox_page(study: SandboxRecord) -> Page:
    """Return the page of what sandbox.json holds; what it lacks is said to be missing."""
    opening, record = tuple(_opening(study)), study.record
    sections = (
        ("claims", "Summary", opening),
        ("power", "Power", _power(study)),
        ("needed", "Scored words needed", _rows(study, "needed", texts.NEEDED_TEXT)),
        ("false", "False positives", _false(study)),
        ("coverage", "Coverage of the 95 % intervals", _coverage(study)),
        ("shortcut", "The shortcut checked", _shown(COMPARED, comparisons(study), texts.SHORTCUT_TEXT)),
        ("models", "Heads planted by weights, and models without knowledge", _models(study)),
        ("made", "How it was made", _made(study)),
    )
    version = str(record.get("headscope", ""))
    return Page(
        title="Sandbox: the statistics where the truth is known",
        sections=[
            Section(name, title, tuple(blocks) or [Paragraph("The record holds none of it.")])
            for name, title, blocks in sections
        ],
        byline=(day(record.get("started")), ("headscope", version)),
        kicker="headscope sandbox",
        version=version,
        short=tuple(
            short_form(
                opening,
                _measured(study),
                _command(study),
                "power, false positives and how often intervals hold the truth, by size; sandbox.json has all rates",
                [figure_chart(one) for several in (power_figures, false_figures) for one in [*several(study)][:1]],
            )
        ),
    )


def _opening(study: SandboxRecord) -> Iterator[Block]:
    """Yield how many statements hold, how that was tested, and the statements, those that do not hold first."""
    made = goals(study)
    yield Paragraph(" ".join(answer(made, study)) or "The record holds nothing that a statement could be tested on.")
    yield Paragraph(texts.CRITERION)
    if made:
        yield short_table(TextTable.of("Statements", KEPT, telling_first(made)), "sandbox.json")


def _measured(study: SandboxRecord) -> Iterator[str]:
    """Yield how much was simulated."""
    scale = {name: value for name, value in study.record.get("scale", {}).items() if name.endswith("runs")}
    if scale:
        yield f"Simulated: {listed(scale)}; of a population of {listed(_sizes(study))}."


def _sizes(study: SandboxRecord) -> dict[str, int]:
    return {name: value for name, value in study.record.get("population", {}).items() if isinstance(value, int)}


def _shown(table: Table, rows: pd.DataFrame, said: str, figures: Iterable[Figure] = ()) -> Iterator[Block]:
    """Yield what is said of the rows of a declared table, its charts, and the table, folded where it is long."""
    if rows.empty:
        return
    yield Paragraph(said)
    if charts := [figure_chart(one) for one in figures]:
        yield Charts(charts)
    said_of_none = {one.name for one in table.columns if one.dtype == "bool" and not rows[one.name].any()}
    names = [name for name in table.names if name not in said_of_none]
    shown = TableBlock(table.beside(rows, table.about, *names), caption=False, sorts=True)
    yield shown if len(rows) <= ROWS else Fold(f"All {count(len(rows))} rows", [shown])


def _rows(study: SandboxRecord, name: str, said: str, figures: Iterable[Figure] = ()) -> Iterator[Block]:
    return _shown(SANDBOX_TABLES[f"sandbox.{name.replace('-', '.')}"], study.tables[name], said, figures)


def _power(study: SandboxRecord) -> Iterator[Block]:
    said = texts.POWER_TEXT.format(margin=percent(study.margin), level=percent(study.alpha))
    return _rows(study, "power", said, power_figures(study))


def power_figures(study: SandboxRecord) -> Iterator[Figure]:
    """Yield for each role and grade the share of runs in which its head has the grade by size, a line a true lead.

    Leads that were set no higher than the margin that is tested are dashed.
    """
    for _, rows in study.power.dropna(subset="graded").groupby(["role", "grade"], sort=False):
        series: dict[str, list[Point]] = {}
        dashed: dict[str, None] = {}
        for row in rows.to_dict("records"):
            name = f"{signed(row['true_margin'])} (set: {points(row['margin'])})"
            series.setdefault(name, []).append(_point(row["documents"], row, "graded"))
            dashed |= {name: None} if row["margin"] <= study.margin + 1e-9 else {}
        title = f"{row['role']}, {GRADES[row['grade']]}"
        yield Figure("lines", title, "documents", "runs, %", series, log="x", dashed=tuple(dashed))


def false_figures(study: SandboxRecord) -> Iterator[Figure]:
    """Yield for each null hypothesis the rates of false positives, a bar a size, beside the nominal level."""
    rates = study.null_rates
    for where, rows in rates[~rates["rate"].map(kind).isin((LABEL, FDR, RIGHT_NO))].groupby("null", sort=False):
        names = rows["rate"].unique().tolist()
        series: dict[str, list[Point]] = {}
        for row in rows.to_dict("records"):
            of = series.setdefault(f"{count(row['documents'])} documents", [])
            of.append(_point(names.index(row["rate"]), row, "share"))
        up, level = "rate, %", 100 * study.alpha
        yield Figure("bars", str(where), "", up, series, names, level=level, level_name="nominal level")


def coverage_figures(study: SandboxRecord) -> Iterator[Figure]:
    """Yield for each quantity how often its 95 % intervals hold the true value, by size."""
    lines: dict[str, dict[str, list[Point]]] = {}
    for one in pooled_coverage(study):
        series = lines.setdefault(one.quantity, {"all cells": [], "lowest cell": [], "highest cell": []})
        series["all cells"].append(one.pooled.point(one.documents))
        for name, place in (("lowest cell", 0), ("highest cell", -1)):
            series[name].append(_point(one.documents, one.cells[place], "held"))
    up = "intervals that cover, %"
    for quantity, series in lines.items():
        yield Figure("lines", quantity, "documents", up, series, level=95.0, level_name="95 %", log="x")


def _point(place: float, row: Mapping[Any, Any], rate: str) -> Point:
    """Return a rate of a row as a point, in percent."""
    return place, 100 * row[rate], 100 * row[f"{rate}_low"], 100 * row[f"{rate}_high"]


def _false(study: SandboxRecord) -> Iterator[Block]:
    rates, mixed, level = study.null_rates, study.mixed_rates, study.alpha
    if len(rates):
        goal = percent(allowed(level, rates["runs"].min()))
        told = texts.FALSE_TEXT.format(level=percent(level), goal=goal)
        yield Terms([(name, _counted(name)) for name in pd.concat([rates, mixed])["rate"].unique()], folded=False)
        yield Terms([(name, texts.NULLS.get(name, "")) for name in rates["null"].unique()], folded=False)
        yield from _rows(study, "false-rates", told, false_figures(study))
        yield from _rows(study, "false", texts.TESTED_TEXT)
    if len(mixed):
        yield Heading("Beside real finds")
        yield from _rows(study, "power-false", texts.BESIDE_TEXT)


def _counted(name: str) -> str:
    """Say what a rate counts, and whether it is claimed to stay at the level."""
    unclaimed = "" if kind(name) in (*PROMISED, *PROMISED_ALONE) else "; not claimed to stay at the level"
    return texts.RATES.get(kind(name), "") + unclaimed


def _coverage(study: SandboxRecord) -> Iterator[Block]:
    low, high = map(percent, COVERAGE_GOAL)
    said = texts.COVERAGE_TEXT.format(low=low, high=high)
    yield from _rows(study, "power-coverage", said, coverage_figures(study))
    yield from _rows(study, "false-coverage", texts.NULL_COVERAGE_TEXT)


def _models(study: SandboxRecord) -> Iterator[Block]:
    yield from _rows(study, "weights", texts.WEIGHTS_TEXT)
    yield from _rows(study, "null_runs", texts.NULL_RUNS_TEXT)


def _command(study: SandboxRecord) -> str:
    scale = study.record.get("scale", {})
    quick = " --quick" if scale and scale.get("runs", 0) < ROUGH else ""
    return f"headscope sandbox{quick} --seed {study.record.get('seed', 0)}"


def _made(study: SandboxRecord) -> Iterator[Block]:
    record = study.record
    yield from map(Paragraph, texts.ABOUT)
    yield Paragraph(texts.RULE.format(margin=percent(study.margin), level=percent(study.alpha)))
    facts = made_facts(
        record,
        _command(study),
        stages=", ".join(f"{name} {duration(seconds)}" for name, seconds in record.get("stages", {}).items()),
        population=listed(_sizes(study)),
        scale=listed(record.get("scale", {})),
        effort=listed(record.get("effort", {})),
    )
    yield Facts(facts)
    yield Heading("What differs from a real run")
    yield Points(texts.DIFFERENT)
    yield columns_fold(SANDBOX_TABLES, "the record")
