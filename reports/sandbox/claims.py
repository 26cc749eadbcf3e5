"""What the sandbox says first: the claims of the statistics, each with its goal, what was measured and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.formats import count, percent, signed
from reports.sandbox.record import Coverage, FalseFinds, Power, Rate, Record
from reports.sandbox.shortcut import ShortcutCheck
from reports.scores.best_heads import FEW_CLUSTERS

COVERAGE_GOAL = (0.93, 0.97)
"Within which the share of 95 % intervals that hold the true value should lie."

SLACK = 0.01
"By how much a measured rate of false positives may be above the nominal level."

PROMISED = {
    "per head, uncorrected": "one head, uncorrected",
    "family-wise within a label": "a label, family-wise",
    "labels with a false find, of labels with a find": "labels with a false find, of labels with a find",
    "any head falsely called specialised in a run": "a run with a head falsely called specialised",
}
"The rates that are promised to stay at the nominal level; others are told, but nobody promised them."

STRESS = ("level, unequal, better in short documents",)
"What the sign-flip test does not allow for: told, but not promised."

BESIDE = "beside real finds"
DECOYS = "offset decoys"
SPECIALISED = "any head falsely called specialised in a run"
MOST_DECLARED = 0.15
"Of runs on models without knowledge: three of twenty."

SOURCES = ("random", "shuffled")
"Kinds of models without knowledge."

ROUGH = 500
"Runs a cell below which rates are rough."


@dataclass(frozen=True)
class Promise:
    """Something that the statistics promise, and whether it was kept."""

    name: str
    goal: str
    brief: str
    "A full sentence for the first paragraph, without its full stop."
    measured: str
    "Full sentences, with what is behind it."
    kept: bool

    @property
    def said(self) -> str:
        """The brief sentence, with the goal where it is missed."""
        return f"{self.brief}{'' if self.kept else f': missed, the goal is {self.goal}'}."


def claims(
    record: Record,
    nulls: Sequence[FalseFinds],
    mixed: Sequence[FalseFinds],
    coverage: Sequence[Coverage],
    compared: Sequence[ShortcutCheck],
) -> list[Promise]:
    """Return the claims that the record says something about."""
    level = float(record.get("rule", {}).get("alpha", 0.05))
    return [
        *_false_claims([row for row in nulls if row.where not in STRESS], mixed, level),
        *_decoy_claim([row for row in nulls if row.where == DECOYS], level),
        *_coverage_claims(coverage),
        *_null_run_claim(record),
        *_weight_claim(record),
        *_shortcut_claim(compared),
    ]


def lead(made: Sequence[Promise], power: Sequence[Power], nulls: Sequence[FalseFinds], record: Record) -> list[str]:
    """Return the first paragraph, in sentences: what is kept, what is missed, and what power there is."""
    runs = min((row.runs for row in power), default=0)
    said = [f"Only {runs} runs a cell: every rate here is rough, and this page is a look, not evidence."]
    missed = [claim for claim in made if not claim.kept]
    verdict = f"Of {len(made)} claims of the statistics that were put to the test, {len(made) - len(missed)} are kept"
    if made:
        verdict += "." if not missed else f"; missed: {', '.join(claim.name for claim in missed)}."
    rough = said if power and runs < ROUGH else []
    briefs = [claim.said for claim in made]
    return [*rough, *([verdict] if made else []), *briefs, *weakness(nulls), *power_sentences(record)]


def weakness(nulls: Sequence[FalseFinds]) -> list[str]:
    """Say what happens where the assumption of the test does not hold."""
    rates = [row.rates["per head, uncorrected"] for row in nulls if row.where in STRESS]
    rates = [rate for rate in rates if rate.known]
    if not rates:
        return []
    worst = max(rates, key=lambda rate: rate.value)
    return [
        "A known weakness: where heads do better in short documents than in long ones and documents are of very "
        f"unequal length, a head that is level with its baseline has p below the level in up to {worst} % of runs "
        "(uncorrected)."
    ]


def power_sentences(record: Record) -> list[str]:
    """Say from how many scored words on heads are found, for every margin above that of the rule."""
    threshold = float(record.get("rule", {}).get("margin", 0))
    rows = [row for row in record.get("needed", ()) if row["margin"] > threshold + 1e-9]
    said = []
    for wanted in sorted({float(row["power"]) for row in rows})[:1]:
        parts = [f"{needed_text(row)} at {percent(row['margin'])}" for row in rows if row["power"] == wanted]
        said.append(
            f"To be called specialised in {percent(wanted)} % of runs, a head with the hardest of the roles takes this "
            f"many scored words, by the margin it was planted at, in points: {'; '.join(parts)}."
        )
    return said


def needed_text(row: Record) -> str:
    """Write how many scored words are needed, where anybody knows."""
    if row["items"] is None:
        return "not reached at the largest size"
    return f"{'at most ' if row.get('at_most') else ''}{count(int(row['items']))}"


def _false_claims(nulls: Sequence[FalseFinds], mixed: Sequence[FalseFinds], level: float) -> list[Promise]:
    """Judge the largest promised rate, where nothing can be found and beside planted heads."""
    made = []
    for where, rows in (("where there is nothing to find", nulls), (BESIDE, mixed)):
        rates = [(rate, key, row) for row in rows for key, rate in row.rates.items() if key in PROMISED and rate.known]
        if not rates:
            continue
        worst, key, row = max(rates, key=lambda found: found[0].value)
        goal = level + SLACK
        above = sum(rate.value > goal for rate, _, _ in rates)
        measured = (
            f"Of {len(rates)} rates with a nominal level of {percent(level)} %, {above} are above {percent(goal)} %; "
            f"the largest is {worst} % ({PROMISED[key]}; {row.where}, {row.documents} documents){_chance(worst, goal)}."
        )
        brief = (
            f"False positives {where} have rates of at most {percent(worst.value)} %, at a nominal {percent(level)} %"
        )
        made.append(Promise(f"false positives {where}", f"at most {percent(goal)} %", brief, measured, not above))
    return made


def _chance(rate: Rate, goal: float) -> str:
    """Say where a goal is missed by no more than chance can do."""
    return ", whose interval does not rule out that the goal is kept" if rate.low <= goal < rate.value else ""


def _decoy_claim(rows: Sequence[FalseFinds], level: float) -> list[Promise]:
    rates = [(row.rates[SPECIALISED], row) for row in rows if SPECIALISED in row.rates]
    if not rates:
        return []
    parts = [f"{round(rate.value * row.runs)} of {count(row.runs)} at {row.documents} documents" for rate, row in rates]
    measured = f"Runs that called a decoy specialised: {', '.join(parts)}."
    kept = all(rate.value <= level + SLACK for rate, _ in rates)
    wrong, runs = sum(round(rate.value * row.runs) for rate, row in rates), sum(row.runs for _, row in rates)
    brief = f"A decoy that only follows an offset was called specialised in {count(wrong)} of {count(runs)} runs"
    goal = f"called specialised in at most {percent(level + SLACK)} % of runs"
    return [Promise("decoys rejected", goal, brief, measured, kept)]


def _coverage_claims(coverage: Sequence[Coverage]) -> list[Promise]:
    """Judge the coverage over all cells of a size, and that of every cell, but for sizes that a run marks itself."""
    small = sorted({row.documents for row in coverage if row.documents < FEW_CLUSTERS})
    coverage = [row for row in coverage if row.documents >= FEW_CLUSTERS]
    if not coverage:
        return []
    low, high = COVERAGE_GOAL
    goal = f"{percent(low)} to {percent(high)} %"
    pooled = [row.pooled.value for row in coverage]
    outside = sum(not low <= value <= high for value in pooled)
    cells = [cell for row in coverage for cell in row.cells]
    surely = [cell for cell in cells if cell[1].high < low or cell[1].low > high]
    worst, rate = min(cells, key=lambda cell: cell[1].value)
    quantity = next(row.quantity for row in coverage for cell in row.cells if cell == (worst, rate))
    mean = (
        f"Of all roles and margins together, the intervals of a size hold the true value in {percent(min(pooled))} to "
        f"{percent(max(pooled))} % of cases; outside the goal: {outside} of {len(pooled)}."
    )
    if small:
        mean += (
            f" Runs with {', '.join(map(str, small))} documents are told below but not judged: with fewer than "
            f"{FEW_CLUSTERS} a run marks its intervals as not to be trusted."
        )
    each = (
        f"Surely outside the goal, with their whole Monte-Carlo interval: {len(surely)} of {len(cells)}; the lowest is "
        f"{rate} % ({quantity} of “{worst.role}”, true margin {signed(worst.true_margin)}, "
        f"{worst.documents} documents)."
    )
    briefs = (
        f"Intervals of 95 % hold the true value in {percent(min(pooled))} to {percent(max(pooled))} % of runs, by size",
        f"In {len(surely)} of {len(cells)} single cells their coverage is surely outside {goal}",
    )
    return [
        Promise("coverage of 95 % intervals", goal, briefs[0], mean, not outside),
        Promise("coverage in every single cell", f"none surely outside {goal}", briefs[1], each, not surely),
    ]


def _null_run_claim(record: Record) -> list[Promise]:
    runs = record.get("null_runs", ())
    if not runs:
        return []
    declared = sum(bool(run["specialised"]) for run in runs)
    rate = Rate.counted(declared / len(runs), len(runs))
    kinds = {source: [bool(run["specialised"]) for run in runs if run["source"] == source] for source in SOURCES}
    kept = all(sum(found) <= MOST_DECLARED * len(found) for found in kinds.values())
    measured = (
        f"{declared} of {len(runs)} whole runs on fresh or shuffled weights called any head specialised: {rate} %."
    )
    brief = f"On models without knowledge {declared} of {len(runs)} whole runs declared a specialised head"
    goal = "at most 3 of 20 runs of either kind"
    return [Promise("nothing found in models without knowledge", goal, brief, measured, kept)]


def _weight_claim(record: Record) -> list[Promise]:
    rows = record.get("weights", ())
    if not rows:
        return []
    found = sum(row["planted"] == row["chosen"] and bool(row["specialised"]) for row in rows)
    measured = f"{found} of {len(rows)} heads that were built by weights were chosen for their place and specialised."
    brief = f"Of {len(rows)} heads planted by weights {found} are found"
    return [Promise("heads planted by weights found", "every one", brief, measured, found == len(rows))]


def _shortcut_claim(compared: Sequence[ShortcutCheck]) -> list[Promise]:
    """Judge whether whole runs differ from simulated ones, the smallest p corrected for all comparisons."""
    ps = [p for row in compared for p in row.ps]
    if not ps:
        return []
    corrected = min(1.0, min(ps) * len(ps))
    measured = (
        f"The smallest p of {len(ps)} comparisons with whole runs is {min(ps):.3f}, {corrected:.3f} when corrected for "
        "their number (Bonferroni)."
    )
    kept = corrected > 0.05
    brief = f"Whole runs {'do not differ surely from' if kept else 'differ from'} simulated ones (p {corrected:.2g})"
    return [Promise("simulated runs are like whole runs", "corrected p above 0.05", brief, measured, kept)]
