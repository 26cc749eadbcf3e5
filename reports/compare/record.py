"""The record of a comparison, from which its page is made: what was compared in JSON, what came out as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final, Self

import pandas as pd

from reports.formats import percent, signed
from reports.tables.column import Column
from reports.tables.shared_columns import (
    CORRELATIONS,
    FRACTIONS,
    P_ADJUSTED,
    QUESTION,
    N,
    difference,
    ends,
    flag,
    fraction,
    number,
    p_column,
    text,
    whole,
)
from reports.tables.table import Table

_RUNS: Final = (text("one", "Name of the first run."), text("other", "Name of the second run."))


def _best_head(side: str, run: str) -> tuple[Column, ...]:
    """Return the columns on the head that a run selected."""
    return (
        text(f"{side}_head", f"Head that the {run} run selected, as layer-head counted from 1."),
        fraction(f"{side}_accuracy", f"Its accuracy in the {run} run.", side),
        *ends(side, f"its accuracy in the {run} run", percent, FRACTIONS),
        difference(f"{side}_margin", f"Its accuracy minus that of the strongest baseline or control of the {run} run."),
        flag(f"{side}_graded", f"Whether it has a grade in the {run} run."),
    )


COMPARED: Final = Table(
    "One row for each pair of runs, label and direction. Differences are the second run minus the first; the partner "
    "is the head of the second run that corresponds to the one that the first run selected.",
    ("one", "other", "probe", "label", "variant"),
    (
        *_RUNS,
        *QUESTION,
        N,
        *_best_head("one", "first"),
        *_best_head("other", "second"),
        difference("difference", "Accuracy of the second run's head minus that of the first run's.", "difference"),
        *ends("difference", "the difference", signed, CORRELATIONS),
        p_column("p", "Two-sided p-value of the difference, uncorrected; missing where nothing was tested."),
        replace(P_ADJUSTED, meaning="p corrected for all labels and directions; missing where nothing was tested."),
        flag("significant", "Whether the difference is significant: adjusted p below the threshold."),
        flag("paired", "Whether both runs were compared group by group of texts, on the same words."),
        text("partner", "Head of the second run that corresponds to the first run's; empty without one."),
        fraction("partner_accuracy", "Accuracy of the partner in the second run; missing without one."),
        flag("partner_graded", "Whether the partner has a grade in the second run."),
        difference("partner_difference", "Accuracy of the partner minus that of the first run's head.", "partner"),
        *ends("partner", "the partner's difference", signed, CORRELATIONS),
        p_column(
            "partner_p_adjusted", "Corrected p-value of the partner's difference; missing where nothing was tested."
        ),
        text("change", "Change of the role between the runs; empty where neither has it."),
        flag("role", "Whether this is the direction in which the label is reported as a role."),
    ),
)

HEADS: Final = Table(
    "One row for each pair of runs and head of the first, and for each head of the second without a counterpart.",
    ("one", "other", "head", "partner"),
    (
        *_RUNS,
        text("head", "Head of the first run; empty without one."),
        text("partner", "Head of the second run that corresponds to it; empty without one."),
        number("distance", "Jensen-Shannon divergence of their maps, in nats; missing where maps were not matched."),
        text("one_role", "Main role of the head in the first run; empty without one."),
        text("other_role", "Main role of the partner in the second run; empty without one."),
        whole("one_roles", "Number of roles of the head in the first run."),
        whole("other_roles", "Number of roles of the partner in the second run."),
        text("change", "Change of the head between the runs."),
        text("largest", "Label and direction in which its accuracy differs most; empty without one."),
        fraction("largest_from", "Its accuracy there in the first run; missing without a counterpart."),
        fraction("largest_to", "The partner's accuracy there in the second run; missing without a counterpart."),
    ),
)

COMPARE_TABLES: Final[Mapping[str, Table]] = {"compare": COMPARED, "heads": HEADS}
"Name of the CSV file -> what it must hold."


SAME, LEADS, MOVED, TURNED, LOST, GAINED, NONE = (
    *("same head", "another head leads", "moved", "another direction", "lost", "gained", ""),
)

CHANGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        SAME: "the same head is selected in both runs",
        LEADS: "another head is selected, and the previous one still has a grade in it",
        MOVED: "another head is selected, and the previous one has no grade in it any more",
        TURNED: "both runs have a head with a grade, in different directions",
        LOST: "the selected head of the first run has a grade in it, no selected head of the second has",
        GAINED: "the selected head of the second run has a grade in it, no selected head of the first has",
    }
)
"What can become of a role, and what that means."

_SAID: Final = {
    SAME: ("stays", "stay", "with the same head"),
    LEADS: ("has", "have", "another selected head, and the previous one keeps its grade"),
    MOVED: ("moved", "moved", "to another head"),
    TURNED: ("is", "are", "found in another direction"),
    LOST: ("is", "are", "lost"),
    GAINED: ("is", "are", "gained"),
}

KEPT_ROLE, OTHER_ROLE, LOST_ROLE, NEW_ROLE, NO_ROLE, ALONE = (
    *("same main role", "another main role", "lost its role", "has a role now", "no role in either", "no counterpart"),
)

HEAD_CHANGES: Final = (KEPT_ROLE, OTHER_ROLE, LOST_ROLE, NEW_ROLE, NO_ROLE, ALONE)
"What can become of a head."


@dataclass(frozen=True)
class PairFacts:
    """What compare.json says of two runs that are compared with each other."""

    one: str
    other: str
    "Their names."
    shapes: tuple[tuple[int, int], tuple[int, int]]
    "Layers, and heads of a layer, of each."
    matched: str
    "How the heads of one are held to be those of the other, in a sentence."
    notes: tuple[str, ...]
    "What a reader should know before believing the numbers."


@dataclass(frozen=True)
class RunPair(PairFacts):
    """Two runs compared with each other."""

    rows: pd.DataFrame
    "Rows of `COMPARED`."
    heads: pd.DataFrame
    "Rows of `HEADS`."

    @property
    def roles(self) -> pd.DataFrame:
        """The rows that tell a role, those that changed most first."""
        return self.shown[self.shown["role"]]

    @property
    def changed(self) -> pd.DataFrame:
        """The shown rows in which the head is another one or the accuracies differ significantly."""
        return self.shown[(self.shown["role"] & (self.shown["change"] != SAME)) | self.shown["significant"]]

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The rows that tell a role, and those of other directions and labels that differ significantly.

        Those that changed most stand first.
        """
        told = self.rows[self.rows["role"] | self.rows["significant"]]
        order = {change: place for place, change in enumerate((LOST, GAINED, MOVED, TURNED, LEADS, SAME, NONE))}
        keyed = told.assign(order=told["change"].map(order), size=-told["difference"].abs())
        return keyed.sort_values(["order", "size", "label"], kind="stable").drop(columns=["order", "size"])

    @property
    def others(self) -> pd.DataFrame:
        """The other rows."""
        return self.rows[~(self.rows["role"] | self.rows["significant"])]

    @property
    def by_maps(self) -> bool:
        """Whether heads were matched by their maps."""
        return bool(self.heads["distance"].notna().any())

    @property
    def counts(self) -> dict[str, int]:
        """Change -> how many roles."""
        found = self.roles["change"].value_counts()
        return {change: int(found.get(change, 0)) for change in CHANGES}

    @property
    def head_counts(self) -> dict[str, int]:
        """Change -> how many heads."""
        found = self.heads["change"].value_counts()
        return {change: int(found.get(change, 0)) for change in HEAD_CHANGES}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What came out, in plain words."""
        return (self.answer, *self.about_roles())

    def about_roles(self) -> tuple[str, ...]:
        """Say what became of roles and of heads."""
        return (*self._about_roles(), self._about_heads())

    def _about_roles(self) -> tuple[str, ...]:
        found, total = self.counts, len(self.roles)
        if not total:
            return (f"Neither {self.one} nor {self.other} has a role: no selected head has a grade in a label.",)
        parts = [
            f"{number} {one if number == 1 else more} {rest}"
            for change, (one, more, rest) in _SAID.items()
            if (number := found[change])
        ]
        either = f"Of {total} role{'' if total == 1 else 's'} that {self.one} or {self.other} has, {', '.join(parts)}."
        gone = self.roles["change"].isin([LOST, GAINED])
        return (either, *self._verdicts_alone(self.roles[gone]), *self._about_kept(self.roles[~gone]))

    def _differing(self, roles: pd.DataFrame) -> pd.DataFrame:
        """Return the significant rows of these roles, of every direction in which a run has a head with a grade."""
        graded = self.shown[self.shown["significant"] & (self.shown["change"] != NONE)]
        return graded.merge(roles[["probe", "label"]])

    def _verdicts_alone(self, gone: pd.DataFrame) -> tuple[str, ...]:
        """Say in how many of the roles that were lost or gained only a verdict changed."""
        alone = len(gone) - _labels(self._differing(gone))
        text = (
            f"In {alone} of the {len(gone)} lost or gained the accuracies do not differ significantly: there a verdict "
            "changed, which can happen by chance near a threshold."
        )
        return (text,) if alone else ()

    def _about_kept(self, kept: pd.DataFrame) -> tuple[str, ...]:
        """Say in how many of the roles that both runs have accuracy fell or rose."""
        sure = self._differing(kept)
        fell, rose = _labels(sure[sure["difference"] < 0]), _labels(sure[sure["difference"] > 0])
        text = (
            f"Of the {len(kept)} that both have, the selected head is significantly less accurate in {fell}, more in "
            f"{rose}, in one direction at least."
        )
        return (text,) if len(kept) else ()

    @property
    def answer(self) -> str:
        """In how many labels and directions the accuracy of the selected head differs, in a sentence."""
        tested = self.rows[self.rows["p_adjusted"].notna()]
        if tested.empty:
            return f"Between {self.one} and {self.other} no difference could be tested."
        sure = tested[tested["significant"]]
        up, down = int((sure["difference"] > 0).sum()), int((sure["difference"] < 0).sum())
        return (
            f"{self.other} differs significantly from {self.one} in {len(sure)} of {len(tested)} labels and "
            f"directions: it is more accurate in {up} and less accurate in {down}."
        )

    def _about_heads(self) -> str:
        found = self.head_counts
        both = len(self.heads) - found[ALONE]
        return (
            f"Of {both} heads that both runs have, {found[KEPT_ROLE]} have the same main role, "
            f"{found[OTHER_ROLE]} another one, {found[LOST_ROLE]} lost theirs, {found[NEW_ROLE]} have one now, and "
            f"{found[NO_ROLE]} have none in either."
            + (f" {found[ALONE]} have no counterpart in the other run." if found[ALONE] else "")
        )


def _labels(rows: pd.DataFrame) -> int:
    return len(rows[["probe", "label"]].drop_duplicates())


@dataclass(frozen=True)
class Compared:
    """One of the runs, as the page names it."""

    name: str
    model: str
    texts: str
    "What its heads were told on."
    made: str
    "When, with which version, from which weights."


@dataclass(frozen=True)
class ComparisonFacts:
    """What compare.json says, in its order."""

    headscope: str
    runs: tuple[Compared, ...]
    pairs: tuple[PairFacts, ...]


@dataclass(frozen=True)
class Comparison(ComparisonFacts):
    """Everything that the page shows."""

    rows: pd.DataFrame
    "Rows of `COMPARED`, of all pairs."
    heads: pd.DataFrame
    "Rows of `HEADS`, of all pairs."

    @classmethod
    def of(cls, headscope: str, runs: Sequence[Compared], pairs: Sequence[RunPair]) -> Self:
        """Return the record of runs that are compared in pairs."""
        about = tuple(PairFacts(pair.one, pair.other, pair.shapes, pair.matched, pair.notes) for pair in pairs)
        rows, heads = ([getattr(pair, table) for pair in pairs] for table in ("rows", "heads"))
        return cls(
            headscope, tuple(runs), about, pd.concat(rows, ignore_index=True), pd.concat(heads, ignore_index=True)
        )

    @property
    def each_pair(self) -> list[RunPair]:
        """The pairs, each with its own rows."""

        def own(table: pd.DataFrame, pair: PairFacts) -> pd.DataFrame:
            return table[(table["one"] == pair.one) & (table["other"] == pair.other)].reset_index(drop=True)

        return [RunPair(**vars(one), rows=own(self.rows, one), heads=own(self.heads, one)) for one in self.pairs]
