"""The page of the sandbox: what its record says, in words, tables and curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reports.blocks.block import Block, Charts, Facts, Fold, Heading, Paragraph, Points, Section, TableBlock, Terms
from reports.blocks.made import listed, made_facts
from reports.blocks.page import Page, columns_fold, write_page
from reports.formats import count, day, duration, percent
from reports.progress import Step, each, silent
from reports.sandbox.charts import coverage_charts, false_charts, power_charts
from reports.sandbox.claims import BESIDE, COVERAGE_GOAL, PROMISED, PROMISED_ALONE, ROUGH, allowed, claims, lead
from reports.sandbox.record import (
    FalseFinds,
    Power,
    Record,
    alpha,
    coverage_rows,
    kind,
    mixed_rows,
    not_a_record,
    null_rows,
    power_rows,
    rate_names,
    read_record,
    tested_margin,
)
from reports.sandbox.shortcut import comparisons
from reports.sandbox.tables import SANDBOX_TABLES
from reports.sandbox.text_tables import by_model, false_finds, needed_words, shown
from reports.sandbox.words import (
    ABOUT,
    BESIDE_TEXT,
    COVERAGE_TEXT,
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
    conservative,
)


def write_sandbox_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html and report.md into `folder` from its sandbox.json; return the path of the page.

    `step` is told how far it is. Where anything fails, an older page stays as it was. Raises FileNotFoundError where
    there is no record, ValueError where it cannot be understood.
    """
    folder = Path(folder)
    record = read_record(folder)
    try:
        for page in each("page: texts", (sandbox_page(record),), step):
            write_page(folder, page)
    except (KeyError, TypeError, AttributeError) as error:
        raise not_a_record(folder / "sandbox.json", error) from error
    return folder / "index.html"


def sandbox_page(record: Record) -> Page:
    """Return the page of a record; what it lacks is said to be missing."""
    power, nulls = power_rows(record), null_rows(record)
    sections = {
        ("claims", "Claims of the statistics, and which are kept"): _claims(record),
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
    )


def _claims(record: Record) -> Iterator[Block]:
    made = claims(record)
    yield Paragraph(" ".join(lead(made, record)) or "The record holds nothing that a claim could be tested on.")
    if made:
        yield TableBlock(shown("claims", made), caption=False)
    yield Heading("The study")
    yield from map(Paragraph, ABOUT)
    yield Paragraph(RULE.format(margin=percent(tested_margin(record)), level=percent(alpha(record))))


def _power(power: Sequence[Power], record: Record) -> Iterator[Block]:
    if not power:
        yield Paragraph("The record holds no power.")
        return
    yield Paragraph(POWER_TEXT.format(margin=percent(tested_margin(record)), level=percent(alpha(record))))
    yield from _charts(power_charts(power, tested_margin(record)))
    yield Fold(f"All cells: {len(power)}", [TableBlock(shown("power", power), caption=False, sorts=True)])


def _charts(charts: Sequence[Any]) -> Iterator[Block]:
    if charts:
        yield Charts(charts)


def _needed(record: Record) -> Iterator[Block]:
    if not record.get("needed"):
        yield Paragraph("The record holds no such numbers.")
        return
    yield Paragraph(NEEDED_TEXT)
    yield TableBlock(needed_words(record["needed"]), caption=False)


def _false(nulls: Sequence[FalseFinds], record: Record) -> Iterator[Block]:
    mixed, level = mixed_rows(record), alpha(record)
    if nulls:
        goal = allowed(level, min(row.runs for row in nulls))
        yield Paragraph(FALSE_TEXT.format(level=percent(level), goal=percent(goal)))
        yield Terms([(name, _counted(name)) for name in rate_names([*nulls, *mixed])], folded=False)
        yield from _charts(false_charts(nulls, level))
    else:
        yield Paragraph("The record holds no null hypothesis.")
    for name in dict.fromkeys(row.where for row in nulls):
        rows = [row for row in nulls if row.where == name]
        yield Heading(name)
        yield Paragraph(f"{NULLS.get(name, '')} {conservative(rows, level)}".strip())
        yield Paragraph(f"{count(rows[0].heads)} heads, {count(rows[0].labels)} labels.", note=True)
        yield TableBlock(false_finds(rows, f"Rates: {name}"), caption=False, sorts=True)
    if mixed:
        yield Heading("Beside real finds")
        said = (claim.measured for claim in claims(record) if claim.name.endswith(BESIDE))
        yield Paragraph(" ".join((BESIDE_TEXT, *said)))
        table = false_finds(mixed, "All cells of mixed runs", "Planted at")
        yield Fold(f"All cells of mixed runs: {len(mixed)}", [TableBlock(table, caption=False, sorts=True)])


def _counted(name: str) -> str:
    """Say what a rate counts, and whether it is claimed to stay at the level."""
    unclaimed = "" if kind(name) in {**PROMISED, **PROMISED_ALONE} else "; not claimed to stay at the level"
    return RATES.get(kind(name), "") + unclaimed


def _coverage(power: Sequence[Power]) -> Iterator[Block]:
    rows = coverage_rows(power)
    if not rows:
        yield Paragraph("The record holds no coverage.")
        return
    low, high = map(percent, COVERAGE_GOAL)
    yield Paragraph(COVERAGE_TEXT.format(low=low, high=high))
    yield from _charts(coverage_charts(rows))
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


def _made(record: Record) -> Iterator[Block]:
    scale, population = record.get("scale", {}), record.get("population", {})
    quick = " --quick" if scale and scale.get("runs", 0) < ROUGH else ""
    facts = made_facts(
        record,
        record.get("command", f"headscope sandbox{quick} --seed {record.get('seed', 0)}"),
        stages=", ".join(f"{name} {duration(seconds)}" for name, seconds in record.get("stages", {}).items()),
        population=listed({name: value for name, value in population.items() if isinstance(value, int)}),
        scale=listed(scale),
        effort=listed(record.get("effort", {})),
    )
    yield Facts(facts)
    yield Heading("What differs from a real run")
    yield Points(DIFFERENT)
    yield columns_fold(SANDBOX_TABLES, "the record")
