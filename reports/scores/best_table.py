"""The best heads of a run as a table that notebooks, terminals and papers show."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pandas as pd

from reports.formats import count, interval, p_value, percent, signed, signed_interval
from reports.scores.best_heads import BEST, BestHead, best_heads, by_margin, page_scores, probes
from reports.scores.thresholds import RunThresholds, run_thresholds
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from reports.run.folder import RunFolder

COLUMNS: Final = (
    *("probe", "label", "variant", "head", "n", "accuracy, %", "interval", "baseline, %", "baseline"),
    *("margin", "interval", "p", "grade"),
)
"Of the table of all probes; that of one has no column for it."

NOTE: Final = (
    "Heads are selected on the selection split and evaluated on the report split, with 95 % intervals. The baseline "
    "is the strongest baseline or control, the margin is in percentage points over it, and p is corrected for all "
    "heads and labels of the run."
)


def best_table(run: RunFolder, probe: str | None = None) -> TextTable:
    """Return the chosen head of every label and variant, of one probe or of all, the largest sure margins first.

    Raises ValueError for a probe that the run did not ask.
    """
    scores, _ = page_scores(run.scores)
    rows = [row for name in requested_probes(run, probe) for row in best_heads(scores, name)]
    corpora = scores.loc[scores["split"] == "report", "corpus"].drop_duplicates()
    title = f"{run.name}: best heads{'' if probe is None else f' of {probe}'}, {', '.join(corpora)}"
    first, rule = 0 if probe is None else 1, run_thresholds(run)
    return TextTable(title, COLUMNS[first:], tuple(_cells(row, rule)[first:] for row in rows), best_frame(rows), NOTE)


def best_frame(rows: Sequence[BestHead]) -> pd.DataFrame:
    """Return the numbers of best heads, one line a row, in the columns of `BEST`."""
    return pd.DataFrame([vars(row) for row in rows], columns=[*BEST.names])


def _cells(row: BestHead, rule: RunThresholds) -> tuple[str, ...]:
    return (
        *(row.probe, row.label, row.variant, row.name or "–", count(row.n)),
        *(percent(row.accuracy), interval(row.ci_low, row.ci_high)),
        *(percent(row.baseline_accuracy), row.baseline),
        *(signed(row.margin), signed_interval(row.margin_low, row.margin_high), p_value(row.p_adjusted)),
        rule.grade(vars(row)),
    )


def requested_probes(run: RunFolder, probe: str | None = None) -> list[str]:
    """Return the probes of a run, or the one that is named; raises ValueError, with those that there are."""
    known = probes(page_scores(run.scores)[0])
    if probe is None:
        return known
    if probe not in known:
        raise ValueError(f"{run.folder}: no probe {probe!r}{_meant(probe, known)}")
    return [probe]


def find_question(run: RunFolder, label: str, probe: str | None = None, variant: str | None = None) -> BestHead:
    """Return the best head of a label, in the probe and variant that are named or that with the largest sure margin.

    Raises ValueError, with what there is, where nothing of the kind was scored.
    """
    scores, _ = page_scores(run.scores)
    rows = [row for name in requested_probes(run, probe) for row in best_heads(scores, name) if row.n]
    found = [row for row in rows if row.label == label]
    if not found:
        raise ValueError(f"{run.folder}: no label {label!r}{_meant(label, [row.label for row in rows])}")
    kept = [row for row in found if variant in (None, row.variant)]
    if not kept:
        raise ValueError(
            f"{run.folder}: {label!r} has no variant {variant!r}{_meant(str(variant), [r.variant for r in found])}"
        )
    return min(kept, key=by_margin)


def _meant(name: str, known: Sequence[str]) -> str:
    """Return the end of an error: the name that was probably meant, or those that there are."""
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names) or 'none'}"
