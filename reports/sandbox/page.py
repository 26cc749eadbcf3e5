"""The page of the sandbox: what its record says, in words, tables and curves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.drawing.charts import Chart, vega
from reports.formats import count, day, duration, percent
from reports.progress import Step, silent
from reports.run.replacing import replace_text, replacing
from reports.sandbox.charts import coverage_charts, false_charts, power_charts
from reports.sandbox.claims import (
    BESIDE,
    COVERAGE_GOAL,
    PROMISED,
    PROMISED_ALONE,
    ROUGH,
    Promise,
    allowed,
    claims,
    lead,
    needed_text,
)
from reports.sandbox.figures import save_figures
from reports.sandbox.record import (
    Coverage,
    FalseFinds,
    Power,
    Record,
    coverage_rows,
    kind,
    mixed_rows,
    not_a_record,
    null_rows,
    power_rows,
    rate_names,
    read_record,
)
from reports.sandbox.shortcut import ShortcutCheck, comparisons
from reports.sandbox.tables import SANDBOX_TABLES
from reports.sandbox.text_tables import false_finds, needed_words, shown
from reports.sandbox.words import ABOUT, DIFFERENT, NULLS, RATES, conservative
from reports.templates.environment import asset, assets, environment

WORDS: Mapping[str, Any] = {
    "about": ABOUT,
    "different": DIFFERENT,
    "rates": RATES,
    "promised": {**PROMISED, **PROMISED_ALONE},
    "kind": kind,
}
FIGURES = {"power": "Power", "false-positives": "Rates of false positives", "coverage": "Coverage of intervals"}


@dataclass(frozen=True)
class SandboxPage:
    """Everything that the page shows, made from the record."""

    record: Record
    level: float
    threshold: float
    power: list[Power]
    nulls: list[FalseFinds]
    mixed: list[FalseFinds]
    coverage: list[Coverage]
    compared: list[ShortcutCheck]
    claims: list[Promise]

    @classmethod
    def of(cls, record: Record) -> SandboxPage:
        """Gather the rows of a record; what it lacks is empty."""
        power, nulls, mixed = power_rows(record), null_rows(record), mixed_rows(record)
        coverage, compared = coverage_rows(power), comparisons(record)
        rule = record.get("rule", {})
        made = claims(record, nulls, mixed, coverage, compared)
        level, threshold = float(rule.get("alpha", 0.05)), float(rule.get("margin", 0.0))
        return cls(record, level, threshold, power, nulls, mixed, coverage, compared, made)

    @property
    def lead(self) -> list[str]:
        """The first paragraph, in sentences."""
        return lead(self.claims, self.power, self.record)

    @property
    def mixed_text(self) -> str:
        """What is said of false finds beside planted heads."""
        return " ".join(claim.measured for claim in self.claims if claim.name.endswith(BESIDE))

    @property
    def goal(self) -> float:
        """The highest rate of false positives that is allowed, for the fewest runs of a row."""
        return allowed(self.level, min((row.runs for row in self.nulls), default=0))

    @property
    def version(self) -> str:
        """The version of headscope that made the record, empty where it does not say."""
        return str(self.record.get("headscope", ""))

    @property
    def weights(self) -> list[Record]:
        """The heads that were planted by weights."""
        return list(self.record.get("weights", ()))

    @property
    def date(self) -> str:
        """The day on which the study was made."""
        return day(self.record.get("started"))

    @property
    def by_null(self) -> list[tuple[str, str, str, list[FalseFinds]]]:
        """Null hypothesis, what it is, how conservative the tests are under it, and its rows."""
        names = dict.fromkeys(row.where for row in self.nulls)
        parts = [(name, [row for row in self.nulls if row.where == name]) for name in names]
        return [(name, NULLS.get(name, ""), conservative(rows, self.level), rows) for name, rows in parts]

    @property
    def needed(self) -> tuple[list[float], list[tuple[float, list[tuple[str, str]]]]]:
        """The powers that are wanted, and for every margin how many scored words each takes, and of which role."""
        rows = self.record.get("needed", ())
        powers = sorted({float(row["power"]) for row in rows})
        found = {(float(row["margin"]), float(row["power"])): (needed_text(row), str(row["role"])) for row in rows}
        margins = sorted({margin for margin, _ in found})
        return powers, [(margin, [found.get((margin, power), ("–", "")) for power in powers]) for margin in margins]

    @property
    def null_runs(self) -> list[tuple[str, str, int, int, int, int, list[str]]]:
        """Corpus, source of the weights, documents, runs, runs with a graded head, graded heads, and which."""
        runs = self.record.get("null_runs", ())
        told = []
        for corpus, source in dict.fromkeys((run["corpus"], run["source"]) for run in runs):
            own = [run for run in runs if (run["corpus"], run["source"]) == (corpus, source)]
            declared = [f"{name} (seed {run['seed']})" for run in own for name in run.get("declared", ())]
            heads = sum(run["graded"] for run in own)
            runs_with = sum(bool(run["graded"]) for run in own)
            told.append((corpus, source, own[0]["documents"], len(own), runs_with, heads, declared))
        return told

    @property
    def facts(self) -> list[tuple[str, str]]:
        """How the study was made, by name."""
        return _facts(self.record)


def _facts(record: Record) -> list[tuple[str, str]]:
    """Return what is known of how the study was made; what is unknown is left out."""
    scale, effort, population = (record.get(name, {}) for name in ("scale", "effort", "population"))
    rough = scale and scale.get("runs", 0) < ROUGH
    machine = [record.get("platform"), f"{record['cores']} cores" if record.get("cores") else None]
    memory = record.get("peak_memory_mb")
    facts = {
        "command": record.get(
            "command", f"headscope sandbox{' --quick' if rough else ''} --seed {record.get('seed', 0)}"
        ),
        "made": day(record["started"]) if record.get("started") else None,
        "commit": record.get("git_commit"),
        "commits of parts": _commits(record),
        "headscope": record.get("headscope"),
        "Python": record.get("python"),
        "versions": _listed(record.get("versions", {})),
        "machine": ", ".join(part for part in machine if part),
        "workers": record.get("workers"),
        "peak memory": f"{count(memory)} MB" if memory else None,
        "wall time": duration(record["wall_seconds"]) if "wall_seconds" in record else None,
        "stages": ", ".join(f"{name} {duration(seconds)}" for name, seconds in record.get("stages", {}).items()),
        "population": _listed({name: value for name, value in population.items() if isinstance(value, int)}),
        "scale": _listed(scale),
        "effort": _listed(effort),
    }
    return [(name, str(value)) for name, value in facts.items() if value not in (None, "", {})]


def _commits(record: Record) -> str | None:
    """Write the commit of each part, where a study was resumed with another one."""
    commits = {name: str(commit or "unknown")[:8] for name, commit in record.get("commits", {}).items()}
    return _listed(commits) if len(set(commits.values())) > 1 else None


def _listed(entries: Mapping[str, Any]) -> str:
    """Write names and values in one line, names in plain words."""
    return ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in entries.items())


def _plain(value: object) -> str:
    return "/".join(map(str, value)) if isinstance(value, list) else count(value)


def write_sandbox_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html, report.md and figures/ into `folder` from its sandbox.json; return the path of the page.

    `step` is told how far it is. Everything is built beside its place: where anything fails, an older page stays as it
    was. Raises FileNotFoundError where there is no record, ValueError where it cannot be understood.
    """
    folder = Path(folder)
    record = read_record(folder)
    try:
        with replacing(folder / "figures") as unfinished:
            page = SandboxPage.of(record)
            figures = save_figures(page.power, page.nulls, page.coverage, page.level, page.threshold, unfinished, step)
            html, markdown = _rendered("sandbox.html.j2", page), _rendered("sandbox.md.j2", page, figures)
    except (KeyError, TypeError, AttributeError) as error:
        raise not_a_record(folder / "sandbox.json", error) from error
    replace_text(folder / "report.md", re.sub(r"\n{3,}", "\n\n", markdown))
    return replace_text(folder / "index.html", html)


def _rendered(template: str, page: SandboxPage, figures: Sequence[str] = ()) -> str:
    """Return the page as HTML that loads nothing from anywhere, or as Markdown."""
    html = template.endswith(".html.j2")
    made = environment(html=html)
    charts = _charts(page) if html else {}
    drawn = any(charts.values())
    return made.get_template(template).render(
        page=page, charts=charts, style=assets(("page", "charts", "sandbox"), ".css"), rate_names=rate_names,
        version=page.version,
        script=asset("charts.js") if drawn else "", vega=vega() if drawn else "", goal=page.goal,
        coverage_goal=COVERAGE_GOAL, figures={name: FIGURES[name] for name in figures}, percents=percent, shown=shown,
        columns=SANDBOX_TABLES, needed_words=needed_words, false_finds=false_finds, **WORDS,
    )  # fmt: skip


def _charts(page: SandboxPage) -> dict[str, list[Chart]]:
    """Return the charts of each section that has any."""
    return {
        "power": power_charts(page.power, page.threshold),
        "nulls": false_charts(page.nulls, page.level),
        "coverage": coverage_charts(page.coverage),
    }
