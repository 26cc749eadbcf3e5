"""What a comparison of two runs holds: the changes of roles and heads, and what they come to in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from reports.formats import percent, signed, signed_interval

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
class RunPair:
    """Two runs compared with each other."""

    first: str
    second: str
    "Their names."
    rows: pd.DataFrame
    "Rows of `reports.compare.tables.COMPARED`."
    heads: pd.DataFrame
    "Rows of `reports.compare.tables.HEADS`."
    shapes: tuple[tuple[int, int], tuple[int, int]]
    "Layers, and heads of a layer, of each."
    matched: str
    "How the heads of one are held to be those of the other, in a sentence."
    notes: tuple[str, ...]
    "What a reader should know before believing the numbers."

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
        return (*self._about_roles(), *self._about_accuracy(), self._about_heads())

    def _about_roles(self) -> tuple[str, ...]:
        found, total = self.counts, len(self.roles)
        if not total:
            return (f"Neither {self.first} nor {self.second} has a role: no selected head has a grade in a label.",)
        parts = [
            f"{number} {one if number == 1 else more} {rest}"
            for change, (one, more, rest) in _SAID.items()
            if (number := found[change])
        ]
        either = (
            f"Of {total} role{'' if total == 1 else 's'} that {self.first} or {self.second} has, {', '.join(parts)}."
        )
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

    def _about_accuracy(self) -> tuple[str, ...]:
        tested = self.rows[self.rows["p_adjusted"].notna()]
        if tested.empty:
            return ("No difference could be tested.",)
        sure = tested[tested["significant"]]
        up, down = int((sure["difference"] > 0).sum()), int((sure["difference"] < 0).sum())
        text = (
            f"The accuracy of the selected head differs significantly in {len(sure)} of {len(tested)} label–direction "
            f"pairs: {self.second} is higher in {up} and lower in {down}."
        )
        if sure.empty:
            return (text,)
        sure = sure.sort_values("difference", key=abs, ascending=False, kind="stable")
        lower, higher = sure[sure["difference"] < 0], sure[sure["difference"] > 0]
        listed = (
            f"Significantly {which}: {', '.join(map(_short, found.to_dict('records')))}."
            for which, found in (("lower", lower), ("higher", higher))
            if len(found)
        )
        return text, f"The largest significant difference: {row_summary(sure.iloc[0].to_dict())}.", *listed

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


def _short(row: Mapping[Any, Any]) -> str:
    return f"{row['probe']}: {row['label']} ({row['variant']}) {signed(row['difference'])}"


def row_summary(row: Mapping[Any, Any]) -> str:
    """Say one row in a line: which heads, how accurate, and how far apart."""
    return (
        f"{row['label']} ({row['variant']}), {percent(row['one_accuracy'])} % by {row['one_head']} against "
        f"{percent(row['other_accuracy'])} % by {row['other_head']}, {signed(row['difference'])} points "
        f"{signed_interval(row['difference_low'], row['difference_high'])}"
    )
