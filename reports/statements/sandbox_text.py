"""The tables of the page of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from reports.formats import MISSING, count, decimal, interval, percent, signed, signed_interval
from reports.statements import sandbox_tables as tables
from reports.statements.sandbox_goals import needed_text
from reports.statements.sandbox_record import Row, rate_names
from reports.tables.cells import Cell, TextColumn
from reports.tables.estimate import Estimate
from reports.tables.text_table import TextTable


def rate_cell(rate: Estimate) -> Cell:
    """Return a rate in percent, its interval beside it."""
    return Cell(percent(rate.value), interval(rate.low, rate.high)) if rate.known else Cell(MISSING)


POWER: Final = tables.POWER.text_columns(
    tables.POWER["role"].shown(kind="row"),
    "grade",
    tables.POWER["true_margin"].shown("True lead", unit=False),
    *("documents", "items", "runs"),
    tables.POWER["graded"].shown("Found", unit=False, write=lambda row: rate_cell(row["graded"])),
)


def needed_words(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """Return how many scored words a margin takes, for every power, and which role needs most."""
    found = {(float(row["margin"]), float(row["power"])): row for row in rows}
    columns = [TextColumn("Margin, points", percent, "row num")]
    for power in sorted({power for _, power in found}):
        columns += [
            TextColumn(f"{percent(power)} % of runs", partial(_needed, found, power)),
            TextColumn("needs most", partial(_hardest, found, power), "text", "muted"),
        ]
    return TextTable.of("Scored words needed", columns, sorted({margin for margin, _ in found}))


Needed = Mapping[tuple[float, float], Mapping[str, Any]]
"Margin and power -> the row of the record."


def _needed(found: Needed, power: float, margin: float) -> str:
    return needed_text(found[margin, power]) if (margin, power) in found else MISSING


def _hardest(found: Needed, power: float, margin: float) -> str:
    return str(found[margin, power]["role"]) if (margin, power) in found else ""


def false_finds(rows: Sequence[Row], title: str, first: str = "") -> TextTable:
    """Return the rates of false finds; `first` is the title of a column that says where, "" for none."""
    rates = (TextColumn(name, partial(_rate, name)) for name in rate_names(rows))
    columns = (
        *([TextColumn(first, lambda row: row["where"], "row")] if first else []),
        *tables.FALSE.text_columns("documents", "runs"),
        *rates,
        *([TextColumn("margins held", lambda row: rate_cell(row["held"]))] if _covered(rows) else []),
    )
    return TextTable.of(title, columns, rows)


def _covered(rows: Sequence[Row]) -> bool:
    return any(row["held"].known for row in rows)


def _rate(name: str, row: Row) -> Cell:
    return rate_cell(row["rates"].get(name, Estimate()))


def _lowest(row: Row) -> tuple[Row, Estimate]:
    cells: list[tuple[Row, Estimate]] = row["cells"]
    return min(cells, key=lambda cell: cell[1].value)


COVERAGE: Final = (
    tables.COVERAGE["quantity"].shown("Interval of", "row"),
    tables.COVERAGE["documents"].shown(),
    TextColumn("Cells", lambda row: len(row["cells"])),
    tables.POWER["runs"].shown(),
    TextColumn("All cells", lambda row: rate_cell(row["pooled"])),
    TextColumn("Lowest cell", lambda row: rate_cell(_lowest(row)[1])),
    TextColumn("which", lambda row: cell_name(_lowest(row)[0]), "text", "muted"),
    TextColumn("Highest cell", lambda row: rate_cell(max((one for _, one in row["cells"]), key=lambda one: one.value))),
)


def cell_name(row: Row) -> str:
    """Name a cell of the power curves."""
    return f"{row['role']}, grade {row['grade']}, {signed(row['true_margin'])}"


def _difference(row: Mapping[str, Any]) -> Cell:
    value, low, high = row["difference"]
    return Cell(signed(value), signed_interval(low, high))


COMPARED: Final = (
    tables.WHOLE["role"].shown(kind="row"),
    TextColumn("Margin", lambda row: percent(row["margin"]), tip=tables.WHOLE.meaning("margin")),
    tables.WHOLE["documents"].shown(),
    tables.WHOLE["runs"].shown("Runs: whole", plain="whole runs"),
    TextColumn("simulated", lambda row: count(row["simulated_runs"])),
    tables.WHOLE["graded"].shown("With a grade: whole", write=lambda row: rate_cell(row["graded"])),
    TextColumn("simulated", lambda row: rate_cell(row["simulated"])),
    TextColumn("p", lambda row: decimal(row["p_share"])),
    TextColumn("Mean accuracy: whole", lambda row: percent(row["mean"])),
    TextColumn("simulated", lambda row: percent(row["simulated_mean"])),
    TextColumn("Difference", _difference),
    TextColumn("p", lambda row: decimal(row["p_mean"])),
    TextColumn("Standard deviation: whole", lambda row: percent(row["sd"])),
    TextColumn("simulated", lambda row: percent(row["simulated_sd"])),
    TextColumn("p", lambda row: decimal(row["p_sd"])),
)


WEIGHTS: Final = tables.WEIGHTS.text_columns(
    tables.WEIGHTS["place"].shown(kind="row"),
    tables.WEIGHTS["planted"].shown(css="head"),
    tables.WEIGHTS["selected"].shown(css="head"),
    tables.WEIGHTS["accuracy"].shown(unit=False),
    tables.WEIGHTS["graded"].shown("With a grade"),
)


Runs = Sequence[Mapping[str, Any]]
"Runs of one corpus and source of weights."

NULL_RUNS: Final = (
    TextColumn("Corpus", lambda runs: runs[0]["corpus"], "row"),
    TextColumn("Weights", lambda runs: runs[0]["source"], "text"),
    TextColumn("Documents", lambda runs: count(runs[0]["documents"])),
    TextColumn("Runs", lambda runs: count(len(runs))),
    TextColumn("Runs with a graded head", lambda runs: count(sum(bool(run["graded"]) for run in runs))),
    TextColumn("Graded heads", lambda runs: count(sum(run["graded"] for run in runs))),
    TextColumn("Which", lambda runs: _declared(runs), "text", "wrapping"),
)


def _declared(runs: Runs) -> str:
    """Name the heads that have a grade in some run."""
    return "; ".join(f"{name} (seed {run['seed']})" for run in runs for name in run.get("declared", ())) or "none"


def by_model(runs: Runs) -> list[Runs]:
    """Return whole runs on models without knowledge by corpus and source of weights."""
    kinds = dict.fromkeys((run["corpus"], run["source"]) for run in runs)
    return [[run for run in runs if (run["corpus"], run["source"]) == one] for one in kinds]


TABLES: Final[Mapping[str, tuple[str, Sequence[TextColumn]]]] = {
    "power": ("Power", POWER),
    "coverage": ("Coverage", COVERAGE),
    "compared": ("Whole and simulated runs", COMPARED),
    "weights": ("Heads planted by weights", WEIGHTS),
    "null_runs": ("Runs on models without knowledge", NULL_RUNS),
}
"Name of a table -> its title and columns."


def shown(name: str, rows: Sequence[Any]) -> TextTable:
    """Return one of the tables."""
    title, columns = TABLES[name]
    return TextTable.of(title, columns, rows)
