"""The tables of a report: the best head of every label, and the trained classifiers beside their controls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

import pandas as pd

from reports.tables.grades import answered
from reports.tables.marks import FEW_CLUSTERS as FEW_CLUSTERS

CLASSIFIER: Final = "classifier"
"The probe whose rows are trained classifiers, with a table of their own."

NAMED: Final = 2
"How many of a label's other heads with a grade are named."

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
    effective_clusters: float
    accuracy: float
    ci_low: float
    ci_high: float
    mass: float
    mass_low: float
    mass_high: float
    coverage: float
    share: float
    precision: float
    lift: float
    baseline: str
    baseline_accuracy: float
    margin: float
    margin_low: float
    margin_high: float
    lexical_accuracy: float
    lexical_margin_low: float
    lexical_margin_high: float
    rule: str
    rule_accuracy: float
    rule_margin_low: float
    rule_margin_high: float
    near_ties: int
    p_adjusted: float
    p_words: float
    p_rules: float
    stability: float
    grade: int
    specialised: bool
    verdict: str
    "On the question: yes, no, undecided; empty where nothing was tested."
    excluded: float
    layer_attention: str
    others: tuple[str, ...] = ()
    "Names of the other heads with a grade in the label, the most accurate first."

    @classmethod
    def of(cls, row: Mapping[str, Any], others: tuple[str, ...] = ()) -> Self:
        """Return a row of scores.parquet, of any head."""
        return cls(**{name: row[name] for name in _COLUMNS}, others=others)

    @property
    def has_few_clusters(self) -> bool:
        """Whether intervals and tests rest on an effective number of documents below 20."""
        return 0 < self.effective_clusters < FEW_CLUSTERS

    @property
    def beats_baseline(self) -> bool:
        """Whether the whole interval of the margin lies above 0."""
        return self.margin_low > 0

    @property
    def loses_to_baseline(self) -> bool:
        """Whether the whole interval of the margin lies below 0."""
        return self.margin_high < 0

    @property
    def lexical_margin(self) -> float:
        """Accuracy minus that of the lexical table."""
        return self.accuracy - self.lexical_accuracy

    @property
    def rule_margin(self) -> float:
        """Accuracy minus that of the strongest rule of grammar."""
        return self.accuracy - self.rule_accuracy

    @property
    def answer(self) -> str:
        """The question's verdict, with the leads that are excluded where no head has a grade; "" if untested."""
        return answered(self.verdict, self.excluded)

    @property
    def rank(self) -> str:
        """The grade as a number to sort by; "" where nothing could be tested."""
        return "" if math.isnan(self.p_adjusted) else str(self.grade)

    @property
    def also(self) -> str:
        """Which other heads have a grade: "4 other heads: 3-4, 5-1 and 2 more", or "1 other head has one: 3-4"."""
        count = len(self.others)
        if not count:
            return ""
        named = ", ".join(self.others[:NAMED]) + (f" and {count - NAMED} more" if count > NAMED else "")
        heads = f"{count} other head{'s' * (count > 1)}"
        return f"{heads}: {named}" if self.grade else f"{heads} {'has' if count == 1 else 'have'} one: {named}"

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


_COLUMNS: Final = tuple(field.name for field in fields(BestHead) if field.name != "others")


def best_heads(scores: pd.DataFrame, probe: str) -> tuple[BestHead, ...]:
    """Return the chosen head of every label and variant of `probe`, the largest margin first (`BestHead.order`)."""
    rows = scores[scores["probe"] == probe]
    report = rows[rows["split"] == "report"]
    others = _others(report)
    values = zip(*(report.loc[report["selected"], name].tolist() for name in _COLUMNS), strict=True)
    heads = [dict[str, Any](zip(_COLUMNS, row, strict=True)) for row in values]
    chosen = {(head["label"], head["variant"]): head for head in heads}
    pairs = dict.fromkeys(zip(rows["label"], rows["variant"], strict=True))
    best = [BestHead.of(chosen.get(pair, _nothing(probe, *pair)), others.get(pair, ())) for pair in pairs]
    return tuple(sorted(best, key=lambda row: row.order))


def _others(report: pd.DataFrame) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the heads with a grade of every label and variant that are not the chosen one."""
    found = report[(report["grade"] > 0) & ~report["selected"]]
    ranked = found.sort_values(["accuracy", "layer", "head"], ascending=[False, True, True], kind="stable")
    names: dict[tuple[str, str], tuple[str, ...]] = {}
    for label, variant, name in zip(ranked["label"], ranked["variant"], ranked["name"], strict=True):
        names[label, variant] = (*names.get((label, variant), ()), name)
    return names


def _nothing(probe: str, label: str, variant: str) -> dict[str, Any]:
    """The row of a label and variant for which no head could be chosen, or nothing was there to report on."""
    empty: dict[str, Any] = {"str": "", "int": 0, "float": math.nan, "bool": False}
    row = {field.name: empty[str(field.type)] for field in fields(BestHead) if field.name in _COLUMNS}
    return row | {"probe": probe, "label": label, "variant": variant}
