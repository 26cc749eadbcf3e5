"""The tables of a report: the best head of every label, and the trained classifiers beside their controls."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Final

import pandas as pd

FEW_CLUSTERS: Final = 20
"Below this many documents (or sentences) a bootstrap interval is not to be trusted, and is marked."

CLASSIFIER: Final = "classifier"
"The probe whose rows are trained classifiers, with a table of their own."

PROBE_ORDER: Final = ("position", "dependency", "agreement", "coreference")
"Order of the probes on a page; others follow in the order of scores.parquet."


@dataclass(frozen=True)
class BestHead:
    """The head chosen for one label and variant on the selection split, with its numbers on the report split.

    Fractions lie in [0, 1] and are NaN where nothing was measured; `name` is "" where no head could be chosen.
    """

    probe: str
    label: str
    variant: str
    name: str
    layer: int
    head: int
    n: int
    clusters: int
    accuracy: float
    ci_low: float
    ci_high: float
    mass: float
    coverage: float
    share: float
    baseline: str
    baseline_accuracy: float
    margin: float
    margin_low: float
    margin_high: float
    lexical_accuracy: float
    near_ties: int

    @property
    def has_few_clusters(self) -> bool:
        """Whether the intervals rest on fewer than 20 clusters."""
        return 0 < self.clusters < FEW_CLUSTERS

    @property
    def beats_baseline(self) -> bool:
        """Whether the whole interval of the margin lies above 0."""
        return self.margin_low > 0

    @property
    def loses_to_baseline(self) -> bool:
        """Whether the whole interval of the margin lies below 0."""
        return self.margin_high < 0

    @property
    def order(self) -> tuple[bool, bool, float, float, str, str]:
        """Sort key: trusted intervals first, then the largest margin that is sure (its lower end); missing last."""
        untrusted = self.has_few_clusters or math.isnan(self.accuracy)
        margin = math.inf if math.isnan(self.margin_low) else -self.margin_low
        accuracy = math.inf if math.isnan(self.accuracy) else -self.accuracy
        return untrusted, math.isnan(self.accuracy), margin, accuracy, self.label, self.variant


def page_scores(scores: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that one page can show, and a sentence for everything that it therefore leaves out.

    A page shows one model at its last step, one kind of maps and one report corpus.
    """
    left_out: list[str] = []
    rows = scores
    for column in ("model", "maps", "step"):
        values = rows[column].dropna().drop_duplicates()
        if len(values) > 1:
            chosen = values.max() if column == "step" else values.iloc[0]
            rows = rows[rows[column] == chosen]
            others = ", ".join(str(value) for value in values if value != chosen)
            left_out.append(f"This page shows {column} {chosen}; scores.parquet also holds {others}.")
    corpora = rows.loc[rows["split"] == "report", "corpus"].drop_duplicates()
    if len(corpora) > 1:
        rows = rows[(rows["split"] != "report") | (rows["corpus"] == corpora.iloc[0])]
        others = ", ".join(corpora.iloc[1:])
        left_out.append(f"This page shows report corpus {corpora.iloc[0]}; scores.parquet also holds {others}.")
    return rows, left_out


def probes(scores: pd.DataFrame) -> list[str]:
    """Names of the probes in `scores`, in the order of a page."""
    present = list(dict.fromkeys(scores["probe"]))
    first = [probe for probe in PROBE_ORDER if probe in present]
    return first + [probe for probe in present if probe not in first]


def best_heads(scores: pd.DataFrame, probe: str) -> tuple[BestHead, ...]:
    """Return the chosen head of every label and variant of `probe`, the largest margin first (`BestHead.order`)."""
    rows = scores[scores["probe"] == probe]
    chosen = rows[rows["selected"] & (rows["split"] == "report")]
    values = zip(*(chosen[field.name].tolist() for field in fields(BestHead)), strict=True)
    best = [BestHead(*row) for row in values]
    found = {(row.label, row.variant) for row in best}
    pairs = dict.fromkeys(zip(rows["label"], rows["variant"], strict=True))
    best += [_nothing(probe, label, variant) for label, variant in pairs if (label, variant) not in found]
    return tuple(sorted(best, key=lambda row: row.order))


def _nothing(probe: str, label: str, variant: str) -> BestHead:
    """The row of a label and variant for which no head could be chosen, or nothing was there to report on."""
    nan = math.nan
    return BestHead(probe, label, variant, "", 0, 0, 0, 0, nan, nan, nan, nan, nan, nan, "", nan, nan, nan, nan, nan, 0)
