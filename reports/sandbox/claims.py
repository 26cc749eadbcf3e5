"""What the sandbox says first: the claims of the statistics, each with its goal, what was measured and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reports.formats import count, percent, signed
from reports.sandbox.record import (
    ANY,
    FDR,
    LABEL,
    WRONG_NO,
    Coverage,
    FalseFinds,
    Rate,
    Record,
    alpha,
    coverage_rows,
    kind,
    mixed_rows,
    null_rows,
    power_rows,
    tested_margin,
)
from reports.sandbox.shortcut import comparisons, ps_of

GRADES = {1: "beyond position and controls", 2: "beyond words", 3: "beyond grammar rules"}
"What a head of each grade surely is."

COVERAGE_GOAL = (0.93, 0.97)
"Within which the share of 95 % intervals that hold the true value should lie."

PROMISED = {
    "per head, uncorrected": "one head, uncorrected",
    LABEL: "a label, family-wise",
    FDR: "labels with a false find, of labels with a find",
}
"Rates, whatever the grade, that are promised to stay at the nominal level also beside real finds."

PROMISED_ALONE = {ANY: "a run", WRONG_NO: "a label and direction"}
"Rates that are promised to stay there under a null hypothesis."

BESIDE = "beside real finds"
ROUGH = 500
"Runs a cell below which rates are rough."


def allowed(level: float, runs: int) -> float:
    """Return the highest rate that does not speak against the level: with a Monte-Carlo error of so many runs."""
    return level + 1.96 * math.sqrt(level * (1 - level) / max(runs, 1))


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
    def text(self) -> str:
        """The brief sentence, with the goal where it is missed."""
        return f"{self.brief}{'' if self.kept else f': missed, the goal is {self.goal}'}."


def claims(record: Record) -> list[Promise]:
    """Return the claims that the record says something about; every row of the record is in them."""
    nulls, level = null_rows(record), alpha(record)
    made: list[Promise | None] = [
        *(_rate_claim(f"false finds, grade {grade}", nulls, [f"{ANY}, grade {grade}"], level) for grade in GRADES),
        _rate_claim("wrong “no”", nulls, [WRONG_NO], level),
        _rate_claim("other false positives where no head has the lead", nulls, [*PROMISED], level),
        _rate_claim(f"false positives {BESIDE}", mixed_rows(record), [*PROMISED], level),
    ]
    return [
        *(claim for claim in made if claim is not None),
        *_coverage_claims(coverage_rows(power_rows(record))),
        *_null_coverage_claim(nulls),
        *_null_run_claim(record),
        *_weight_claim(record),
        *_shortcut_claim(record),
    ]


def lead(made: Sequence[Promise], record: Record) -> list[str]:
    """Return the first paragraph, in sentences: what is kept, what is missed, and what power there is."""
    runs = min((int(row["runs"]) for row in record.get("power", ())), default=ROUGH)
    sentences = _rough(runs, record.get("scale", {}).get("runs", 0))
    missed = [claim.name for claim in made if not claim.kept]
    if made:
        of = f"Of {len(made)} claims of the statistics that were put to the test, {len(made) - len(missed)} are kept"
        sentences.append(f"{of}; missed: {', '.join(missed)}." if missed else f"{of}.")
    return [*sentences, *(claim.text for claim in made), *power_sentences(record)]


def _rough(power_runs: int, null_runs: int) -> list[str]:
    """Say which rates are rough: those of power and coverage, or all, by the runs of a cell of either kind."""
    if power_runs >= ROUGH:
        return []
    if null_runs < ROUGH:
        return [f"Only {power_runs} runs a cell: every rate here is rough, and this page is a preview, not evidence."]
    error = 196 * math.sqrt(0.25 / power_runs)
    return [f"Power and coverage are of {power_runs} runs a cell alone, and rough: to {error:.0f} points at the worst."]


def power_sentences(record: Record) -> list[str]:
    """Say from how many scored words on heads are found, for every margin above that of the rule."""
    rows = [row for row in record.get("needed", ()) if row["margin"] > tested_margin(record) + 1e-9]
    sentences = []
    for wanted in sorted({float(row["power"]) for row in rows})[:1]:
        parts = [f"{needed_text(row)} at {percent(row['margin'])}" for row in rows if row["power"] == wanted]
        sentences.append(
            f"To have grade 1 in {percent(wanted)} % of runs, a head with the hardest of the roles takes this many "
            f"scored words, by the lead it was planted with, in points: {'; '.join(parts)}."
        )
    return sentences


def needed_text(row: Record) -> str:
    """Write how many scored words are needed, where anybody knows."""
    if row["items"] is None:
        return "not reached at the largest size"
    return f"{'at most ' if row.get('at_most') else ''}{count(int(row['items']))}"


def _rate_claim(name: str, rows: Sequence[FalseFinds], wanted: Sequence[str], level: float) -> Promise | None:
    """Judge every rate of these names or kinds: none may be above the level by more than a Monte-Carlo error."""
    rates = [
        (rate, key, row)
        for row in rows
        for key, rate in row.rates.items()
        if rate.known and (key in wanted or kind(key) in wanted)
    ]
    if not rates:
        return None
    above = [found for found in rates if found[0].value > allowed(level, found[2].runs)]
    worst, key, row = max(rates, key=lambda found: found[0].value)
    goal = f"at most {percent(level)} % and a Monte-Carlo error in every row"
    measured = (
        f"Of {len(rates)} rates with a nominal level of {percent(level)} %, {len(above)} are above it by more than a "
        f"Monte-Carlo error; the largest is {worst} % ({key}; {_where(row)})."
    )
    if above:
        measured += f" Above it: {'; '.join(dict.fromkeys(where.where for _, _, where in above))}."
    brief = f"The rates of {name} are at most {percent(worst.value)} %, at a nominal {percent(level)} %"
    return Promise(name, goal, brief, measured, not above)


def _where(row: FalseFinds) -> str:
    return f"{row.where}, {row.documents} documents"


def _null_coverage_claim(nulls: Sequence[FalseFinds]) -> Iterator[Promise]:
    """Judge the coverage of margins under every null hypothesis, at every size."""
    rows = [row for row in nulls if row.coverage.known]
    if not rows:
        return
    (low, high), values = COVERAGE_GOAL, [row.coverage.value for row in rows]
    outside = [row for row in rows if not low <= row.coverage.value <= high]
    goal = f"{percent(low)} to {percent(high)} % in every row"
    brief = (
        f"Under null hypotheses margin intervals hold in {percent(min(values))} to {percent(max(values))} % of cases"
    )
    measured = f"Outside the goal: {len(outside)} of {len(rows)} rows."
    if outside:
        told = (f"{_where(row)} {row.coverage} %" for row in outside)
        measured = f"{measured[:-1]}: {'; '.join(told)}."
    yield Promise("coverage of margins under null hypotheses", goal, brief, measured, not outside)


def _coverage_claims(coverage: Sequence[Coverage]) -> Iterator[Promise]:
    """Judge the coverage over all cells of a size, and that of every cell."""
    if not coverage:
        return
    low, high = COVERAGE_GOAL
    goal, pooled = f"{percent(low)} to {percent(high)} %", [row.pooled.value for row in coverage]
    outside = sum(not low <= value <= high for value in pooled)
    spread = f"{percent(min(pooled))} to {percent(max(pooled))} %"
    brief = f"Intervals of 95 % hold the true value in {spread} of runs, by size"
    measured = (
        f"Of all roles and margins together, the intervals of a size hold the true value in {spread} of cases; "
        f"outside the goal: {outside} of {len(pooled)}."
    )
    yield Promise("coverage of 95 % intervals", goal, brief, measured, not outside)
    cells = [(row.quantity, *cell) for row in coverage for cell in row.cells]
    missed = sum(rate.high < low or rate.low > high for _, _, rate in cells)
    quantity, worst, rate = min(cells, key=lambda cell: cell[2].value)
    brief = (
        f"In {missed} of {len(cells)} single cells the whole Monte-Carlo interval of their coverage is outside {goal}"
    )
    measured = (
        f"Outside the goal with their whole Monte-Carlo interval: {missed} of {len(cells)}; the lowest is {rate} "
        f"% ({quantity} of “{worst.role}”, true lead {signed(worst.true_margin)}, {worst.documents} documents)."
    )
    yield Promise("coverage in every single cell", f"no interval outside {goal}", brief, measured, not missed)


def _null_run_claim(record: Record) -> Iterator[Promise]:
    runs = record.get("null_runs", ())
    if not runs:
        return
    declared = sum(bool(run["graded"]) for run in runs)
    rate = Rate.counted(declared / len(runs), len(runs))
    corpora = ", ".join(dict.fromkeys(run["corpus"] for run in runs))
    measured = f"{declared} of {len(runs)} runs on random or permuted weights ({corpora}) graded a head: {rate} %."
    brief = f"On models without knowledge {declared} of {len(runs)} whole runs gave a head a grade"
    yield Promise("nothing found in models without knowledge", "none", brief, measured, not declared)


def _weight_claim(record: Record) -> Iterator[Promise]:
    rows = record.get("weights", ())
    if not rows:
        return
    found = sum(row["planted"] == row["selected"] and bool(row["graded"]) for row in rows)
    measured = (
        f"{found} of {len(rows)} heads that were built by weights were selected for their place and have a grade."
    )
    brief = f"Of {len(rows)} heads planted by weights {found} are found"
    yield Promise("heads planted by weights found", "every one", brief, measured, found == len(rows))


def _shortcut_claim(record: Record) -> Iterator[Promise]:
    """Judge whether whole runs differ from simulated ones, the smallest p corrected for all comparisons."""
    ps = ps_of(comparisons(record))
    if not ps:
        return
    corrected = min(1.0, min(ps) * len(ps))
    kept = corrected > 0.05
    measured = (
        f"The smallest p of {len(ps)} comparisons with whole runs is {min(ps):.3f}, {corrected:.3f} when corrected for "
        "their number (Bonferroni)."
    )
    differ = "do not differ" if kept else "differ"
    brief = f"Whole runs {differ} significantly from simulated ones (p {corrected:.2g})"
    yield Promise("simulated runs agree with whole runs", "corrected p above 0.05", brief, measured, kept)
