"""The page of the claims: what textbooks say, what was measured, and which verdict the interval gives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

from reports.blocks.block import Block, Charts, Code, Facts, Fold, Heading, Paragraph, Points, Section, TableBlock
from reports.blocks.page import Page, columns_fold, made_facts, write_page
from reports.blocks.short import CHARTS, linked, short_form, short_table
from reports.drawing.charts import Chart
from reports.formats import count, day
from reports.progress import Step, silent
from reports.statements.claim_record import (
    CLAIM_TABLES,
    MEANS,
    MEASURES,
    RECORD,
    ClaimMeasure,
    ClaimRecord,
    ConditionMean,
    read_claims,
)
from reports.statements.drawn import figure_chart
from reports.statements.figure import SCALE, Figure, Point
from reports.statements.statement import FAILS, HOLDS, OPEN, STATEMENTS, JudgedStatement, Number
from reports.tables.cells import Cell
from reports.tables.marks import verdict_cell
from reports.tables.text_table import TextTable

TEXTBOOKS = "Textbook claims about attention heads"

HEADINGS = {
    TEXTBOOKS: ("heads", "compute", "loop", "scaling", "emergence", "averaging", "mixing", "recurrence"),
    "Claims about attention heads in training": ("syntax", "patterns", "subnetworks"),
    "Claims about the heads of decoders": ("induction",),
    "Claims about one encoder of several languages": ("language-trees",),
}
"Heading of a page -> the claims that are its sections, in their order, where it has no others."

ORDER = tuple(claim for claims in HEADINGS.values() for claim in claims)

RULE = (
    "A statement holds where the whole 95 % interval of its number lies in the range of the statement; it does not "
    "hold where the whole interval lies outside, and otherwise it is not decided."
)

_COUNTED = {HOLDS: ("holds", "hold"), FAILS: ("does not hold", "do not hold"), OPEN: ("is undecided", "are undecided")}

DESCRIBED: Final = 4
"Claims of which the short form says what was measured, at most."


def number_cell(number: Number) -> Cell:
    """Return a number with its unit, its interval beside it."""
    return Cell(f"{number.shown} {number.unit}", number.interval)


STATED: Final = (
    STATEMENTS["text"].shown(kind="row", css="wrapping"),
    STATEMENTS["verdict"].shown(write=lambda row: verdict_cell(row.verdict)),
    STATEMENTS["value"].shown("Number", write=lambda row: number_cell(row.estimate), plain="number, 95 % interval"),
    STATEMENTS["number"].shown(
        "What the number is",
        write=lambda row: row.number + (f"; {count(row.estimate.n)} repeats" if row.estimate.n > 1 else ""),
        css="wrapping",
    ),
    STATEMENTS["rule"].shown(css="wrapping muted"),
)

UNCOUNTED: Final = (
    STATED[0],
    STATEMENTS["kind"].shown(),
    *STATED[2:4],
    STATEMENTS["why"].shown("Why it is not counted", css="wrapping"),
)


def _where(row: tuple[ClaimMeasure, ConditionMean]) -> str:
    measure, mean = row
    return "" if mean.at is None else f"{measure.axis} {mean.at:g}"


def _repeats(row: tuple[ClaimMeasure, ConditionMean]) -> str:
    measure, mean = row
    return f"{count(mean.number.n)} {measure.repeat}{'s' * (mean.number.n != 1)}"


NUMBERS: Final = (
    MEASURES["name"].shown("Measure", "row", write=lambda row: row[0].name),
    MEANS["condition"].shown(write=lambda row: row[1].condition),
    MEANS["at"].shown("Where", "text", write=_where),
    MEANS["value"].shown("Mean, 95 % interval", write=lambda row: number_cell(row[1].number)),
    MEANS["n"].shown("Repeats", write=_repeats),
)


def telling_first(statements: Iterable[JudgedStatement]) -> list[JudgedStatement]:
    """Return statements that do not hold first, then those that are not decided."""
    order = (FAILS, OPEN, HOLDS)
    return sorted(statements, key=lambda one: order.index(one.verdict))


def claim_charts(measures: Sequence[ClaimMeasure]) -> list[Chart]:
    """Return one chart a measure: lines over its axis, or its conditions beside each other where it has none."""
    return [figure_chart(_lines(one) if one.axis else _dots(one)) for one in measures if one.cells]


def _lines(measure: ClaimMeasure) -> Figure:
    """Return lines over the axis of a measure, which is logarithmic where it spans a factor of 8 or more.

    Values that have a unit lie by their logarithms where they span a factor of 20.
    """
    series: dict[str, list[Point]] = {name: [] for name in measure.conditions}
    for cell in measure.cells:
        if cell.at is not None:
            series[cell.condition].append(cell.number.point(cell.at))
    places, values = ({point[part] for points in series.values() for point in points} for part in (0, 1))
    log = ("x" * _spans(places, 8)) + ("y" * (_spans(values, 20) and bool(measure.unit)))
    return Figure("lines", measure.title, measure.axis, "", series, log=log)


def _spans(values: Iterable[float], factor: float) -> bool:
    known = [value for value in values if not math.isnan(value)]
    return bool(known) and min(known) > 0 and max(known) >= factor * min(known)


def _dots(measure: ClaimMeasure) -> Figure:
    """Return the means of conditions, and all repeats behind them."""
    scale, names = SCALE.get(measure.unit, 1.0), measure.conditions
    single: list[Point] = [(place, scale * one) for place, name in enumerate(names) for one in measure.repeats(name)]
    means: list[Point] = [cell.number.point(names.index(cell.condition)) for cell in measure.cells]
    series = {f"single {measure.repeat}s": single, "mean": means} if single else {"mean": means}
    return Figure("dots", measure.title, "", "", series, names)


def write_claims_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html and report.md into `folder` from the claims in its folders; return the page's path.

    Raises FileNotFoundError where there is no claim, ValueError where one cannot be understood.
    """
    claims = read_claims(folder)
    if not claims:
        raise FileNotFoundError(f"{folder}: no {RECORD} in any of its folders; 'headscope claim' makes them")
    return write_page(folder, claims_page(claims), step)


def claims_page(claims: Sequence[ClaimRecord]) -> Page:
    """Return the page of claims: their verdicts, then a section each, in ORDER; unknown ones stand at the end."""
    claims = sorted(claims, key=lambda one: ([*ORDER, one.claim].index(one.claim), one.name))
    version = ", ".join(sorted({str(one.record.get("headscope", "")) for one in claims} - {""}))
    newest = max((str(one.record.get("started", "")) for one in claims), default="")
    opening = tuple(_opening(claims))
    sections = [Section(one.name, one.title, tuple(_claim(one))) for one in claims]
    return Page(
        title=f"{heading(claims)}, measured",
        sections=(
            Section("summary", "Verdicts", opening),
            *linked("claims", "Each claim", sections),
            Section("columns", "Columns", (columns_fold(CLAIM_TABLES, "a claim’s record"),)),
        ),
        byline=(day(newest), ("headscope", version)),
        kicker="headscope claims",
        version=version,
        short=tuple(
            short_form(
                opening,
                _measured(claims),
                "\n".join(filter(None, map(_command, claims))),
                "what each number is and its rule, other measures and their charts, limits, configs and machines",
                claim_charts([measure for one in claims[:CHARTS] for measure in one.measures[:1]]),
            )
        ),
    )


def heading(claims: Sequence[ClaimRecord]) -> str:
    """Return what the claims are about."""
    asked = {one.claim for one in claims}
    return next((heading for heading, claims in HEADINGS.items() if asked <= {*claims}), TEXTBOOKS)


def _opening(claims: Sequence[ClaimRecord]) -> Iterator[Block]:
    """Yield how many statements hold, by which rule, and verdicts: of what holds the first statement of each claim."""
    yield Paragraph(_answer(claims))
    yield Paragraph(f"{RULE} {_beforehand(claims)}")
    by_place = zip_longest(*(one.counted for one in claims))
    rows = telling_first(statement for several in by_place for statement in several if statement)
    yield short_table(TextTable.of("Verdicts", STATED[:3], rows), f"the {RECORD} of each claim")


def _answer(claims: Sequence[ClaimRecord]) -> str:
    """Say how many statements hold."""
    verdicts = [statement.verdict for one in claims for statement in one.counted]
    others = sum(len(one.uncounted) for one in claims)
    apart = f" Not counted, as they hold by arithmetic or are numbers alone: {others}." if others else ""
    numbers = {verdict: verdicts.count(verdict) for verdict in _COUNTED}
    parts = [f"{number} {_COUNTED[verdict][number != 1]}" for verdict, number in numbers.items() if number]
    listed = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))) or "none was measured"
    return f"Of {_several(len(verdicts), 'statement')} of {_several(len(claims), 'claim')} {listed}.{apart}"


def _several(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _measured(claims: Sequence[ClaimRecord]) -> Iterator[str]:
    """Yield what was measured for the first claims, in a sentence each."""
    for one in claims[:DESCRIBED]:
        if one.about:
            first = one.about[0].partition(". ")[0].removesuffix(".")
            yield f"{one.title}{'' if one.title.endswith('?') else ':'} {first}."
    if len(claims) > DESCRIBED:
        yield f"{len(claims) - DESCRIBED} more claims are in index.html."


def _beforehand(claims: Sequence[ClaimRecord]) -> str:
    """Say when the ranges were written down, and which of them changed after first numbers had been seen."""
    revised = [said for one in claims if (said := str(one.record.get("revised", "")))]
    if not revised:
        return "The range was written down before anything was measured."
    return " ".join(("The ranges were written down before anything was measured, with these exceptions.", *revised))


def _claim(claim: ClaimRecord) -> Iterator[Block]:
    """Yield the section of one claim."""
    yield Paragraph(claim.sentence)
    yield Paragraph(f"After {claim.source}", note=True)
    yield TableBlock(TextTable.of(f"Statements: {claim.title}", STATED, claim.counted), caption=False)
    if claim.uncounted:
        yield TableBlock(TextTable.of("Identities and measurements, not counted", UNCOUNTED, claim.uncounted))
    yield from map(Paragraph, claim.noticed)
    yield Heading("How it was measured")
    yield from map(Paragraph, claim.about)
    if charts := claim_charts(claim.measures):
        yield Charts(charts)
    rows = ((measure, cell) for measure in claim.measures for cell in measure.cells)
    numbers = TextTable.of(f"All numbers: {claim.title}", NUMBERS, rows)
    yield Fold("All numbers", [TableBlock(numbers, caption=False, sorts=True)])
    yield Heading("Limits")
    yield Points(claim.limits)
    yield Fold("Config, machine and commit", [Facts(made_facts(claim.record, _command(claim))), Code(claim.config)])


def _command(claim: ClaimRecord) -> str | None:
    changed = "".join(f" --set {change}" for change in claim.record.get("changes", ()))
    config = claim.record.get("config_file")
    return f"headscope claim {config}{changed}" if config else None
