"""Design help: how many documents each label takes for a head of a given lead to be found, by the errors of a run."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from scipy.special import stdtrit

from probes.evidence.leads import LeadTest
from reports import Run
from reports.formats import MISSING, count, percent, points
from reports.scores.thresholds import RunThresholds, run_thresholds
from reports.tables.grades import grade_names, own_labels
from reports.tables.table import last_step

TESTS = (
    ("p_adjusted", "margin_low", "margin_high"),
    ("p_words", "lexical_margin_low", "lexical_margin_high"),
    ("p_rules", "rule_margin_low", "rule_margin_high"),
)
"Of each grade: its adjusted p, and the ends of the interval of the lead over the strongest rival that it adds."

QUESTION = ["probe", "variant", "label"]


class DesignError(ValueError):
    """A question that the run does not answer."""


@dataclass(frozen=True)
class Demand:
    """What one label takes."""

    probe: str
    variant: str
    label: str
    documents: float
    "Effective number that the run has."
    error: float
    "Standard error of the lead of the run's selected head, over the rival over which it varies most."
    power: float
    "Share of such corpora in which the lead is found."
    needed: int | None
    "Documents for the power that was asked for; None for more than anybody has."


@dataclass(frozen=True)
class Design:
    """What all labels of a run take for a head of one lead to be found."""

    lead: float
    power: float
    grade: int
    thresholds: RunThresholds
    level: float
    "What the uncorrected p must be below for a find like those of the run."
    demands: Sequence[Demand]
    "Those that take the fewest documents first."


def design(folder: Path, labels: Sequence[str], lead: float, power: float, grade: int = 1) -> Design:
    """Return what each label of a run takes for a head of that lead to have that grade in that share of corpora.

    How much leads vary is that of the run's report split. Only labels that are counted are told, of the probes that are
    `labels` (all where there are none). Raises DesignError where the lead is within the run's margin, and where the run
    has tested no such label.
    """
    run = Run.open(folder)
    thresholds = run_thresholds(run)
    if lead <= thresholds.margin:
        raise DesignError(f"--lead {lead:g}: the run tests leads above {thresholds.margin:g}; ask for a larger one")
    scores = last_step(run.scores)
    tested = scores[(scores["split"] == "report") & scores[TESTS[grade - 1][0]].notna()]
    chosen = tested[tested["selected"] & tested["probe"].isin(labels or {*tested["probe"]})]
    own = own_labels(zip(chosen["probe"], chosen["label"], strict=True))
    chosen = chosen[[question in own for question in zip(chosen["probe"], chosen["label"], strict=True)]]
    if chosen.empty:
        of = f" of {', '.join(labels)}" if labels else ""
        names = grade_names(controlled=thresholds.controlled)
        raise DesignError(f"{folder}: no label{of} was tested for grade {grade}, {names[grade]}")
    level = _level(tested, thresholds.alpha, grade)
    test = LeadTest(lead, thresholds.margin, level, thresholds.alpha, spread=math.nan)
    found = [_demand(row, test, power, grade) for row in chosen.to_dict("records")]
    found.sort(key=lambda one: (one.needed or math.inf, one.probe, one.variant, one.label))
    return Design(lead, power, grade, thresholds, level, found)


def _level(tested: pd.DataFrame, alpha: float, grade: int) -> float:
    """Return what an uncorrected p must be below if as many labels are found as in the run.

    The most exacting steps of Holm and of Benjamini and Yekutieli: alpha / heads * found / (labels * sum(1 / i)).
    """
    heads = tested.groupby(QUESTION)["grade"]
    labels, found = heads.ngroups, int((heads.max() >= grade).sum())
    return alpha / int(heads.size().max()) * max(found, 1) / (labels * sum(1 / i for i in range(1, labels + 1)))


def _demand(row: Mapping[Hashable, Any], test: LeadTest, power: float, grade: int) -> Demand:
    documents = float(row["effective_clusters"])
    reach = max((row[high] - row[low]) / 2 for _, low, high in TESTS[:grade])
    error = float(reach / stdtrit(max(documents - 1, 1), 0.975))
    test = replace(test, spread=error * math.sqrt(documents))
    probe, variant, label = (str(row[name]) for name in QUESTION)
    return Demand(probe, variant, label, documents, error, test.power(documents), test.documents(power))


def print_design(result: Design, rows: int = 40) -> None:
    """Print what each label takes; those beyond `rows` are counted."""
    console, found = Console(highlight=False), result.demands
    named = grade_names(controlled=result.thresholds.controlled)[result.grade]
    console.print(
        f"A head with a lead of {points(result.lead)} points has grade {result.grade}, {named}, in "
        f"{points(result.power)} % of corpora with so many documents as needed (sentences, where a corpus has no "
        f"documents). Errors are those of the run's report split; p must be below {result.level:.2g} before it is "
        "corrected, if as many labels are found as in the run."
    )
    columns = ("probe", "variant", "label", "error of leads, points", "documents", "power, %", "documents needed")
    table = Table(*columns, box=None)
    for one in found[:rows]:
        needed = MISSING if one.needed is None else count(one.needed)
        numbers = (percent(one.error), count(math.floor(one.documents)), percent(one.power), needed)
        table.add_row(*map(escape, (one.probe, one.variant, one.label, *numbers)))
    console.print(table)
    if len(found) > rows:
        console.print(f"and {len(found) - rows} labels that need more documents")
