"""The page of the sandbox: what its record says, in words, tables and curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from reports.blocks.block import Block, Charts, Facts, Fold, Heading, Paragraph, Points, Section, TableBlock, Terms
from reports.blocks.page import Page, columns_fold, listed, made_facts, write_page
from reports.blocks.short import short_form, short_table
from reports.drawing.charts import Chart
from reports.formats import count, day, duration, percent, points, signed
from reports.progress import Step, each, silent
from reports.statements.claim_page import STATED, statement_table, telling_first
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
    null_rows,
    power_rows,
    rate_names,
    read_record,
    tested_margin,
)
from reports.statements.sandbox_text import (
    ABOUT,
    BESIDE_TEXT,
    COVERAGE_TEXT,
    CRITERION,
    DIFFERENT,
    FALSE_TEXT,
    NEEDED_TEXT,
    NULL_RUNS_TEXT,
    NULLS,
    POWER_TEXT,
    RATES,
    RULE,
    SHORTCUT_TEXT,
    WEIGHTS_TEXT,
    by_model,
    conservative,
    false_finds,
    needed_words,
    shown,
)
from reports.statements.statement import STATEMENTS
from reports.tables.estimate import Estimate

KEPT: Final = (
    *STATED[:2],
    STATEMENTS["value"].shown("Exceptions", "text", write=lambda row: str(row.estimate)),
    STATEMENTS["number"].shown("Most extreme value", css="wrapping"),
)


def write_sandbox_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html and report.md into `folder` from its sandbox.json; return the path of the page.

    `step` is told how far it is. Where anything fails, an older page stays as it was. Raises FileNotFoundError where
    there is no record, ValueError where it cannot be understood.
    """
    folder = Path(folder)
    for page in each("page: texts", (read_record(folder, sandbox_page),), step):
        write_page(folder, page)
    return folder / "index.html"


def sandbox_page(record: Record) -> Page:
    """Return the page of a record; what it lacks is said to be missing."""
    power, nulls, opening = power_rows(record), null_rows(record), tuple(_opening(record))
    sections = {
        ("claims", "Summary"): opening,
        ("power", "Power"): _power(power, record),
        ("needed", "Scored words needed"): _needed(record),
        ("false", "False positives"): _false(nulls, record),
        ("coverage", "Coverage of the 95 % intervals"): _coverage(power),
        ("shortcut", "The shortcut checked"): _shortcut(record),
        ("models", "Heads planted by weights, and models without knowledge"): _models(record),
        ("made", "How it was made"): _made(record),
    }
    version = str(record.get("headscope", ""))
    return Page(
        title="Sandbox: the statistics where the truth is known",
        sections=[Section(*name, tuple(blocks)) for name, blocks in sections.items()],
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
    yield Paragraph(CRITERION)
    if made:
        yield short_table(statement_table("Statements", telling_first(made), KEPT), "sandbox.json")


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
        yield Paragraph("The record holds no power.")
        return
    yield Paragraph(POWER_TEXT.format(margin=percent(tested_margin(record)), level=percent(alpha(record))))
    yield from _charts(power_figures(power, tested_margin(record)))
    yield Fold(f"All cells: {len(power)}", [TableBlock(shown("power", power), caption=False, sorts=True)])


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
    for where in dict.fromkeys(row["where"] for row in nulls):
        rows = [row for row in nulls if row["where"] == where]
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
            ordered = sorted((rate for _, rate in row["cells"]), key=lambda rate: float(rate.value))
            for points_of, rate in zip(series.values(), (row["pooled"], ordered[0], ordered[-1]), strict=True):
                points_of.append(_point(row["documents"], rate))
        up = "intervals that cover, %"
        yield Figure("lines", quantity, "documents", up, series, level=95.0, level_name="95 %", log="x")


def _point(place: float, rate: Estimate) -> Point:
    return place, 100 * rate.value, 100 * rate.low, 100 * rate.high


def _needed(record: Record) -> Iterator[Block]:
    if not record.get("needed"):
        yield Paragraph("The record holds no such numbers.")
        return
    yield Paragraph(NEEDED_TEXT)
    yield TableBlock(needed_words(record["needed"]), caption=False)


def _false(nulls: Sequence[Row], record: Record) -> Iterator[Block]:
    mixed, level = mixed_rows(record), alpha(record)
    if nulls:
        goal = allowed(level, min(row["runs"] for row in nulls))
        yield Paragraph(FALSE_TEXT.format(level=percent(level), goal=percent(goal)))
        yield Terms([(name, _counted(name)) for name in rate_names([*nulls, *mixed])], folded=False)
        yield from _charts(false_figures(nulls, level))
    else:
        yield Paragraph("The record holds no null hypothesis.")
    for name in dict.fromkeys(row["where"] for row in nulls):
        rows = [row for row in nulls if row["where"] == name]
        yield Heading(name)
        yield Paragraph(f"{NULLS.get(name, '')} {conservative(rows, level)}".strip())
        yield Paragraph(f"{count(rows[0]['heads'])} heads, {count(rows[0]['labels'])} labels.", note=True)
        yield TableBlock(false_finds(rows, f"Rates: {name}"), caption=False, sorts=True)
    if mixed:
        yield Heading("Beside real finds")
        yield Paragraph(BESIDE_TEXT)
        table = false_finds(mixed, "All cells of mixed runs", "Planted at")
        yield Fold(f"All cells of mixed runs: {len(mixed)}", [TableBlock(table, caption=False, sorts=True)])


def _counted(name: str) -> str:
    """Say what a rate counts, and whether it is claimed to stay at the level."""
    unclaimed = "" if kind(name) in (*PROMISED, *PROMISED_ALONE) else "; not claimed to stay at the level"
    return RATES.get(kind(name), "") + unclaimed


def _coverage(power: Sequence[Row]) -> Iterator[Block]:
    rows = coverage_rows(power)
    if not rows:
        yield Paragraph("The record holds no coverage.")
        return
    low, high = map(percent, COVERAGE_GOAL)
    yield Paragraph(COVERAGE_TEXT.format(low=low, high=high))
    yield from _charts(coverage_figures(rows))
    yield TableBlock(shown("coverage", rows), caption=False)


def _shortcut(record: Record) -> Iterator[Block]:
    rows = comparisons(record)
    if not rows:
        yield Paragraph("The record holds no whole runs.")
        return
    yield Paragraph(SHORTCUT_TEXT)
    yield TableBlock(shown("compared", rows), caption=False, sorts=True)


def _models(record: Record) -> Iterator[Block]:
    weights, runs = record.get("weights", ()), record.get("null_runs", ())
    if weights:
        yield Paragraph(WEIGHTS_TEXT)
        yield TableBlock(shown("weights", weights), caption=False)
    if runs:
        yield Paragraph(NULL_RUNS_TEXT)
        yield TableBlock(shown("null_runs", by_model(runs)), caption=False)
    if not weights and not runs:
        yield Paragraph("The record holds none.")


def _command(record: Record) -> str:
    scale = record.get("scale", {})
    quick = " --quick" if scale and scale.get("runs", 0) < ROUGH else ""
    return str(record.get("command", f"headscope sandbox{quick} --seed {record.get('seed', 0)}"))


def _made(record: Record) -> Iterator[Block]:
    yield from map(Paragraph, ABOUT)
    yield Paragraph(RULE.format(margin=percent(tested_margin(record)), level=percent(alpha(record))))
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
    yield Points(DIFFERENT)
    yield columns_fold(SANDBOX_TABLES, "the record")
