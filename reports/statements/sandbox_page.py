"""The page of the sandbox: what its record says, in words, tables and curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from reports.blocks.block import Block, Charts, Facts, Fold, Heading, Paragraph, Points, Section, TableBlock, Terms
from reports.blocks.page import Page, columns_fold, listed, made_facts, write_page
from reports.blocks.short import short_form, short_table
from reports.drawing.charts import Chart
from reports.formats import count, day, duration, percent, points, signed
from reports.progress import Step, silent
from reports.statements import sandbox_text as texts
from reports.statements.claim_page import STATED, telling_first
from reports.statements.drawn import figure_chart
from reports.statements.figure import Figure, Point
from reports.statements.sandbox_goals import (
    COVERAGE_GOAL,
    GRADES,
    PROMISED,
    PROMISED_ALONE,
    ROUGH,
    allowed,
    answer,
    comparisons,
    goals,
)
from reports.statements.sandbox_record import (
    SANDBOX_TABLES,
    Record,
    Row,
    alpha,
    coverage_rows,
    drawn_rates,
    kind,
    mixed_rows,
    power_rows,
    rate_names,
    read_record,
    tested_margin,
    with_estimates,
)
from reports.statements.statement import STATEMENTS
from reports.tables.estimate import Estimate
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


def sandbox_page(record: Record) -> Page:
    """Return the page of what sandbox.json holds; what it lacks is said to be missing."""
    record = with_estimates(record)
    power, nulls, opening = power_rows(record), record.get("false", ()), tuple(_opening(record))
    sections: Sequence[tuple[str, str, Iterable[Block], str]] = (
        ("claims", "Summary", opening, ""),
        ("power", "Power", _power(power, record), "no power"),
        ("needed", "Scored words needed", _needed(record), "no such numbers"),
        ("false", "False positives", _false(nulls, record), ""),
        ("coverage", "Coverage of the 95 % intervals", _coverage(power), "no coverage"),
        ("shortcut", "The shortcut checked", _shortcut(record), "no whole runs"),
        ("models", "Heads planted by weights, and models without knowledge", _models(record), "none"),
        ("made", "How it was made", _made(record), ""),
    )
    version = str(record.get("headscope", ""))
    return Page(
        title="Sandbox: the statistics where the truth is known",
        sections=[
            Section(name, title, tuple(blocks) or [Paragraph(f"The record holds {absent}.")])
            for name, title, blocks, absent in sections
        ],
        byline=(day(record.get("started")), ("headscope", version)),
        kicker="headscope sandbox",
        version=version,
        short=tuple(
            short_form(
                opening,
                _measured(record),
                _command(record),
                "power, false positives and how often intervals hold the truth, by size; sandbox.json has all rates",
                _telling_charts(power, nulls, record),
            )
        ),
    )


def _opening(record: Record) -> Iterator[Block]:
    """Yield how many statements hold, how that was tested, and the statements, those that do not hold first."""
    made = goals(record)
    yield Paragraph(" ".join(answer(made, record)) or "The record holds nothing that a statement could be tested on.")
    yield Paragraph(texts.CRITERION)
    if made:
        yield short_table(TextTable.of("Statements", KEPT, telling_first(made)), "sandbox.json")


def _measured(record: Record) -> Iterator[str]:
    """Yield how much was simulated."""
    scale = {name: value for name, value in record.get("scale", {}).items() if name.endswith("runs")}
    if scale:
        yield f"Simulated: {listed(scale)}; of a population of {listed(_sizes(record))}."


def _sizes(record: Record) -> dict[str, int]:
    return {name: value for name, value in record.get("population", {}).items() if isinstance(value, int)}


def _telling_charts(power: Sequence[Row], nulls: Sequence[Row], record: Record) -> list[Chart]:
    """Return the first chart of power and the first of false positives."""
    drawn = [*power_figures(power, tested_margin(record))][:1] + [*false_figures(nulls, alpha(record))][:1]
    return [figure_chart(one) for one in drawn]


def _power(power: Sequence[Row], record: Record) -> Iterator[Block]:
    if not power:
        return
    yield Paragraph(texts.POWER_TEXT.format(margin=percent(tested_margin(record)), level=percent(alpha(record))))
    yield from _charts(power_figures(power, tested_margin(record)))
    table = TextTable.of("Power", texts.POWER, power)
    yield Fold(f"All cells: {len(power)}", [TableBlock(table, caption=False, sorts=True)])


def _charts(figures: Iterator[Figure]) -> Iterator[Block]:
    if charts := [figure_chart(one) for one in figures]:
        yield Charts(charts)


def power_figures(power: Sequence[Row], tested: float) -> Iterator[Figure]:
    """Yield for each role and grade the share of runs in which its head has the grade by size, a line a true lead.

    Leads that were set no higher than the margin that is `tested` are dashed.
    """
    for role, grade in dict.fromkeys((row["role"], row["grade"]) for row in power):
        series: dict[str, list[Point]] = {}
        dashed: dict[str, None] = {}
        for row in power:
            if (row["role"], row["grade"]) == (role, grade) and row["graded"].known:
                name = f"{signed(row['true_margin'])} (set: {points(row['margin'])})"
                series.setdefault(name, []).append(_point(row["documents"], row["graded"]))
                dashed |= {name: None} if row["margin"] <= tested + 1e-9 else {}
        if series:
            title = f"{role}, {GRADES.get(grade, f'grade {grade}')}"
            yield Figure("lines", title, "documents", "runs, %", series, log="x", dashed=tuple(dashed))


def false_figures(nulls: Sequence[Row], level: float) -> Iterator[Figure]:
    """Yield for each null hypothesis the rates of false positives, a bar a size, beside the nominal level."""
    for where in dict.fromkeys(row["null"] for row in nulls):
        rows = [row for row in nulls if row["null"] == where]
        names = drawn_rates(rows)
        series = {
            f"{count(row['documents'])} documents": [
                _point(names.index(name), row["rates"][name]) for name in drawn_rates([row])
            ]
            for row in rows
        }
        yield Figure("bars", where, "", "rate, %", series, names, level=100 * level, level_name="nominal level")


def coverage_figures(coverage: Sequence[Row]) -> Iterator[Figure]:
    """Yield for each quantity how often its 95 % intervals hold the true value, by size."""
    for quantity in dict.fromkeys(row["quantity"] for row in coverage):
        series: dict[str, list[Point]] = {"all cells": [], "lowest cell": [], "highest cell": []}
        for row in (row for row in coverage if row["quantity"] == quantity):
            ends = row["cells"][0][1], row["cells"][-1][1]
            for points_of, rate in zip(series.values(), (row["pooled"], *ends), strict=True):
                points_of.append(_point(row["documents"], rate))
        up = "intervals that cover, %"
        yield Figure("lines", quantity, "documents", up, series, level=95.0, level_name="95 %", log="x")


def _point(place: float, rate: Estimate) -> Point:
    return place, 100 * rate.value, 100 * rate.low, 100 * rate.high


def _needed(record: Record) -> Iterator[Block]:
    if record.get("needed"):
        yield Paragraph(texts.NEEDED_TEXT)
        yield TableBlock(texts.needed_words(record["needed"]), caption=False)


def _false(nulls: Sequence[Row], record: Record) -> Iterator[Block]:
    mixed, level = mixed_rows(record), alpha(record)
    if nulls:
        goal = allowed(level, min(row["runs"] for row in nulls))
        yield Paragraph(texts.FALSE_TEXT.format(level=percent(level), goal=percent(goal)))
        yield Terms([(name, _counted(name)) for name in rate_names([*nulls, *mixed])], folded=False)
        yield from _charts(false_figures(nulls, level))
    else:
        yield Paragraph("The record holds no null hypothesis.")
    for name in dict.fromkeys(row["null"] for row in nulls):
        rows = [row for row in nulls if row["null"] == name]
        yield Heading(name)
        yield Paragraph(f"{texts.NULLS.get(name, '')} {texts.conservative(rows, level)}".strip())
        yield Paragraph(f"{count(rows[0]['heads'])} heads, {count(rows[0]['labels'])} labels.", note=True)
        yield TableBlock(texts.false_finds(rows, f"Rates: {name}"), caption=False, sorts=True)
    if mixed:
        yield Heading("Beside real finds")
        yield Paragraph(texts.BESIDE_TEXT)
        table = texts.false_finds(mixed, "All cells of mixed runs", "Planted at")
        yield Fold(f"All cells of mixed runs: {len(mixed)}", [TableBlock(table, caption=False, sorts=True)])


def _counted(name: str) -> str:
    """Say what a rate counts, and whether it is claimed to stay at the level."""
    unclaimed = "" if kind(name) in (*PROMISED, *PROMISED_ALONE) else "; not claimed to stay at the level"
    return texts.RATES.get(kind(name), "") + unclaimed


def _coverage(power: Sequence[Row]) -> Iterator[Block]:
    rows = coverage_rows(power)
    if not rows:
        return
    low, high = map(percent, COVERAGE_GOAL)
    yield Paragraph(texts.COVERAGE_TEXT.format(low=low, high=high))
    yield from _charts(coverage_figures(rows))
    yield TableBlock(TextTable.of("Coverage", texts.COVERAGE, rows), caption=False)


def _shortcut(record: Record) -> Iterator[Block]:
    if rows := comparisons(record):
        yield Paragraph(texts.SHORTCUT_TEXT)
        yield TableBlock(TextTable.of("Whole and simulated runs", texts.COMPARED, rows), caption=False, sorts=True)


def _models(record: Record) -> Iterator[Block]:
    if weights := record.get("weights"):
        yield Paragraph(texts.WEIGHTS_TEXT)
        yield TableBlock(TextTable.of("Heads planted by weights", texts.WEIGHTS, weights), caption=False)
    if runs := record.get("null_runs"):
        yield Paragraph(texts.NULL_RUNS_TEXT)
        table = TextTable.of("Runs on models without knowledge", texts.NULL_RUNS, texts.by_model(runs))
        yield TableBlock(table, caption=False)


def _command(record: Record) -> str:
    scale = record.get("scale", {})
    quick = " --quick" if scale and scale.get("runs", 0) < ROUGH else ""
    return f"headscope sandbox{quick} --seed {record.get('seed', 0)}"


def _made(record: Record) -> Iterator[Block]:
    yield from map(Paragraph, texts.ABOUT)
    yield Paragraph(texts.RULE.format(margin=percent(tested_margin(record)), level=percent(alpha(record))))
    facts = made_facts(
        record,
        _command(record),
        stages=", ".join(f"{name} {duration(seconds)}" for name, seconds in record.get("stages", {}).items()),
        population=listed(_sizes(record)),
        scale=listed(record.get("scale", {})),
        effort=listed(record.get("effort", {})),
    )
    yield Facts(facts)
    yield Heading("What differs from a real run")
    yield Points(texts.DIFFERENT)
    yield columns_fold(SANDBOX_TABLES, "the record")
