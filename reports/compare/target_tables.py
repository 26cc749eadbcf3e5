"""The record of a page of targets: runs in JSON, what they answer and what heads cost when they are ablated as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import pandas as pd

from reports.compare.record import Compared
from reports.formats import cost, p_value
from reports.scores.selected_head import HIGHEST, SELECTED
from reports.tables.scores import SCORES, WHOLE_ATTENTION
from reports.tables.shared_columns import (
    BEHAVIOUR,
    CORPUS,
    ITEMS,
    MEASURE,
    QUESTION,
    UNIT,
    ends,
    flag,
    number,
    p_column,
    text,
    whole,
)
from reports.tables.table import Table


@dataclass(frozen=True)
class RoleTarget:
    """One target: the probes that ask for it, and which of their labels a reader sees first."""

    name: str
    title: str
    probes: tuple[str, ...]
    "The first that a run has asked leads."
    leads: tuple[str, ...] = ("all",)
    "Labels that the summary reports, in the first variant of the probe."
    of_language: bool = True
    "Whether its labels are linguistic roles."

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return its rows of a table."""
        return rows[rows["target"] == self.name]


AGREEMENT: Final = RoleTarget("agreement", "Subject-verb agreement", ("agreement",))
COREFERENCE: Final = RoleTarget("coreference", "Coreference", ("coreference", "antecedent"))
POSITION: Final = RoleTarget("position", "Position", ("position",), ("previous", "next"), of_language=False)

TARGETS: Final = (AGREEMENT, COREFERENCE, POSITION)
"In the order of the page."

_TARGET: Final = text(
    "target", "The target that the label and direction belong to.", tuple(one.name for one in TARGETS)
)
_MODEL: Final = text("model", "Model as the page names it; runs of the same weights share it.")

ANSWERS: Final = Table(
    "One row for each run, label and direction of agreement, coreference and position: the selected head on the "
    "report split, beside its baselines.",
    ("run", "probe", "label", "variant"),
    (
        _TARGET,
        text("run", "Run as the page names it."),
        _MODEL,
        replace(CORPUS, meaning="Corpus of the report split."),
        *QUESTION,
        *SELECTED,
        *WHOLE_ATTENTION,
        *(SCORES[name] for name in ("baseline", "baseline_accuracy", "lexical_accuracy")),
        *(SCORES[name] for name in ("rule", "rule_accuracy", "p_adjusted", "p_rules", "stability")),
        *(SCORES[name] for name in ("grade", "holds", "specialised")),
        *HIGHEST,
        SCORES["verdict"],
        SCORES["excluded"],
    ),
)

EFFECTS: Final = Table(
    "One row for each model, target, selected head, behaviour and measure: what the model loses without the head, by "
    "the first way of ablation of the run that measured it.",
    ("target", "model", "name", "behaviour", "measure"),
    (
        _TARGET,
        _MODEL,
        replace(SCORES["name"], meaning="The head that was ablated, as layer-head counted from 1."),
        text("run", "Run that measured the effect."),
        BEHAVIOUR,
        UNIT,
        MEASURE,
        text("way", "What replaces the output of the head, such as zero or its mean."),
        flag("own", "Whether the behaviour belongs to the target; else it is one that any text shows."),
        *ITEMS,
        number("intact", "The measure with all heads, in the unit."),
        number("cost", "Intact minus ablated, in the unit; above 0 where the model does worse.", None, "ci", cost),
        *ends("ci", "the cost", cost),
        p_column("p_adjusted", "p of the cost, corrected for all heads; of a cosine, against the median head."),
        number("median_cost", "Median cost of all single heads, in the unit.", write=cost),
        number("layer_cost", "Mean cost of the other heads of its layer, in the unit.", write=cost),
        whole("rank", "Place of the head among all heads by cost; 1 costs most.", 1),
        whole("heads", "Number of heads that were ablated one by one.", 1),
        number("damage", "Cost of the head in a behaviour of any text, in the unit of that; missing if not measured."),
        whole(
            "damaging", "Other heads that cost any text at least half as much; all, where the head costs it little.", 0
        ),
        number(
            "damaging_cost",
            "Mean cost of these heads, in the unit; missing for fewer than three.",
            None,
            "damaging",
            cost,
        ),
        *ends("damaging", "the costs of such heads, a prediction interval", cost),
        text(
            "together",
            "Heads of the target ablated together, this one among them; empty where it was ablated alone.",
        ),
        number(
            "random_cost",
            "Mean cost of as many random heads of the same layers; missing where no such heads were drawn.",
        ),
        number("difference", "Cost of the heads together minus random cost, in the unit.", None, "difference", cost),
        *ends("difference", "that difference", cost),
        replace(p_column("p_random", "Share of sets of heads that cost at least as much as those."), write=p_value),
    ),
)

TARGET_TABLES: Final[Mapping[str, Table]] = {"targets": ANSWERS, "effects": EFFECTS}
"Name of the CSV file -> what it must hold."


@dataclass(frozen=True)
class TargetRun(Compared):
    """One of the runs, as the page names it; its texts are those of the selection and of the report split."""

    part: str
    "What it gives to the page: targets, effects."


@dataclass(frozen=True)
class TargetFacts:
    """What targets.json says, in its order."""

    headscope: str
    runs: tuple[TargetRun, ...]
    notes: tuple[str, ...]
    "What a reader should know before believing the numbers."
    behaviours: dict[str, tuple[str, ...]]
    "Target -> the behaviours that belong to it."
    headless: tuple[str, ...]
    "Models without a masked-LM head, as far as their runs say."


@dataclass(frozen=True)
class TargetRecord(TargetFacts):
    """Everything that the page shows."""

    answers: pd.DataFrame
    "Rows of `ANSWERS`."
    effects: pd.DataFrame
    "Rows of `EFFECTS`."
