"""What a page says of activation patching: which heads bring the answer back, and from which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.formats import count, decimal, names, percent, signed
from reports.run.folder import RunFolder
from reports.run.study_facts import PatchingFacts
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.patching.tables import PATCHING as PATCHING_TABLE
from reports.tables.cells import TextColumn
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

ALL: Final = "all places"
"The role of the rows that are about all places at once."

SHOWN: Final = 12
"Heads that the table has at the most."

ALPHA: Final = 0.05
"Corrected p below which a head surely restores, or takes away, something."

PATCHING: Final[Sequence[tuple[str, str]]] = (
    (
        "patching",
        "A sentence of the grammar is read as it is (clean), and with its subject in the other number (corrupted): "
        "“the dog … [MASK]”, “the dogs … [MASK]”. While the corrupted one is read, one head has its output of the "
        "clean one, before W_O (Vig et al. 2020). The answer is the logit of the correct verb form less that of the "
        "incorrect one.",
    ),
    (
        "share",
        "How much is restored of the difference between the clean and the corrupted answer: a ratio of sums over "
        "sentences, 100 % for all of it. Heads do not divide it among them: each of several may restore all of it, "
        "and one may undo what another does, so that shares can be negative and need not add up to 100 %.",
    ),
    (
        "all places, roles",
        "All places: the head is patched everywhere at once. A role: it is patched at one place alone, and what the "
        "places of that role restore is added up. Attractors are nouns between subject and verb of another number "
        "than the clean subject; the verb is the masked piece. Only sentences that have the role count for it.",
    ),
    (
        "p",
        "Of a two-sided sign-flip test by document, corrected for all heads and all roles. Intervals are those of a "
        "bootstrap over documents.",
    ),
    (
        "estimate",
        "The same share to first order: the gradient of the answer at the head’s output in the corrupted run, times "
        "how far its clean output is from it; that is the gradient at what the head writes, times the difference of "
        "what it writes. It takes three passes for all heads and places together, and is wrong where the path bends.",
    ),
    (
        "direct",
        "What the head writes straight into the two logits (Elhage et al. 2021), clean less corrupted: through W_O, "
        "the final LayerNorm with its variance held fast, and the readout. Nothing that other parts make of it is in "
        "it, so it is reported only for a pre-norm encoder with a linear readout.",
    ),
)
"Term -> definition, for the section on activation patching."


@dataclass(frozen=True)
class HeatMapCell:
    """One head in the heat map."""

    name: str
    share: float
    strength: int
    "Percent of the strongest share of all heads, of either sign."
    significant: bool


@dataclass(frozen=True)
class PatchedHead:
    """One of the heads that restore, or take away, most."""

    row: Mapping[Any, Any]
    "Of all places, a row of the table."
    by_role: Sequence[float]
    "Share of each of `Patched.roles`; NaN where no sentence has the role."

    @property
    def interval(self) -> str:
        """The interval in percent; "" where there is none."""
        low, high = self.row["ci_low"], self.row["ci_high"]
        return f"[{signed(low)}, {signed(high)}]" if low == low else ""


STRONGEST: Final = (
    PATCHING_TABLE["name"].shown("Head", "row", within="row", css="head"),
    PATCHING_TABLE["share"].shown("All places", within="row", css="strong"),
    PATCHING_TABLE["share"].shown_interval(within="row", plain="interval"),
    PATCHING_TABLE["p_adjusted"].shown(within="row"),
    PATCHING_TABLE["estimate"].shown(within="row", unit=False),
)
"Of the table of the strongest heads; what some runs alone have comes after."


def _title(role: str) -> str:
    return role if role.startswith("[") else role.capitalize()


def _share(place: int, head: PatchedHead) -> str:
    return signed(head.by_role[place])


@dataclass(frozen=True)
class Patched:
    """What a page says."""

    sentences: Sequence[str]
    cells: Sequence[Sequence[HeatMapCell]]
    "By layer, and head."
    strongest: Sequence[PatchedHead]
    roles: Sequence[str]
    with_direct: bool

    @property
    def table(self) -> TextTable:
        """The strongest heads by role of the place."""
        direct = [PATCHING_TABLE["direct"].shown(within="row", unit=False)] if self.with_direct else []
        roles = (TextColumn(_title(role), partial(_share, place)) for place, role in enumerate(self.roles))
        return TextTable.of(
            "The strongest heads: percent of the difference, patched at all places and at those of a role alone",
            (*STRONGEST, *direct, *roles),
            self.strongest,
        )

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """[layer, head] Share at all places at once."""
        return np.array([[cell.share for cell in row] for row in self.cells])

    @property
    def widest(self) -> float:
        """The strongest share of all, of either sign."""
        known = np.abs(self.shares[~np.isnan(self.shares)])
        return float(known.max()) if known.size else float("nan")


def patched_heads(run: RunFolder) -> Patched | None:
    """Return what the page says of the model's last step; None where no head was patched."""
    table = run.studies.get("patching")
    if table is None or table.empty:
        return None
    table = last_step(table)
    roles = [str(role) for role in table["role"].drop_duplicates() if role != ALL]
    every = table[table["role"] == ALL].sort_values(["layer", "head"])
    most = every["share"].abs().max()
    cells = [[_cell(row, most) for row in rows.to_dict("records")] for _, rows in every.groupby("layer")]
    ranked = every.reindex(every["share"].abs().sort_values(ascending=False, kind="stable").index).dropna(
        subset="share"
    )
    shares = {(row["name"], row["role"]): float(row["share"]) for row in table.to_dict("records")}
    strongest = [
        PatchedHead(row, [shares[row["name"], role] for role in roles]) for row in ranked.head(SHOWN).to_dict("records")
    ]
    facts = run.record.patching
    direct = bool(every["direct"].notna().any())
    return Patched([*_asked(facts, every), *_found(every, ranked), *_quick(facts)], cells, strongest, roles, direct)


def _cell(row: Mapping[Any, Any], most: float) -> HeatMapCell:
    share = float(row["share"])
    strength = round(100 * abs(share) / most) if share == share and most > 0 else 0
    return HeatMapCell(str(row["name"]), share, strength, bool(row["p_adjusted"] < ALPHA))


def _asked(facts: PatchingFacts | None, every: pd.DataFrame) -> Iterator[str]:
    """Say what was read, and whether the model knows the answer."""
    clusters = int(every["clusters"].max())
    if clusters < FEW_CLUSTERS:
        yield f"⚠ Only {count(clusters)} documents: intervals are rough, and tests have little power."
    if facts is not None:
        right, turned = percent(facts.right_clean), percent(facts.right_corrupted)
        yield (
            f"{count(facts.items)} sentences of the embedded grammar, from {count(facts.clusters)} documents. "
            f"The verb form that agrees with the clean subject is preferred in {right} % of the clean ones (by "
            f"{decimal(facts.clean)} on average, a difference of logits) and in {turned} % of the corrupted ones "
            f"({decimal(facts.corrupted)})."
        )


def _found(every: pd.DataFrame, ranked: pd.DataFrame) -> Iterator[str]:
    """Say which heads bring the answer back."""
    if ranked.empty:
        yield (
            "On average nothing is lost by the corruption: the model does not use the number of the subject here, "
            "and no share can be estimated."
        )
        return
    sure = ranked[ranked["p_adjusted"] < ALPHA]
    gains, losses = (sure[sure["share"] * sign > 0]["name"].tolist() for sign in (1, -1))
    first = ranked.to_dict("records")[0]
    yield (
        f"Of {len(every)} heads {len(gains)} restore a significant part ({names(gains, 6)}), and {len(losses)} "
        f"significantly reduce the answer ({names(losses, 6)}). The strongest is {first['name']}: "
        f"{signed(first['share'])} % of the "
        f"difference{', ' + interval if (interval := PatchedHead(first, ()).interval) else ''}."
    )


def _quick(facts: PatchingFacts | None) -> Iterator[str]:
    """Say how far quick measures agree with patching, or why they could not be made."""
    if facts is None:
        return
    measures = {"The first-order estimate": facts.estimate, "Direct logit attribution": facts.direct}
    for title, found in measures.items():
        if found and found.rho is not None:
            low, high, slope = (float("nan") if one is None else one for one in (found.low, found.high, found.slope))
            yield (
                f"{title} puts heads in the order of patching with a rank correlation of {decimal(found.rho)} "
                f"[{decimal(low)}, {decimal(high)}]; its shares are {decimal(slope)} times as large."
            )
    if facts.why_no_direct:
        yield f"No direct logit attribution: {facts.why_no_direct}."
