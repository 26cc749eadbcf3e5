"""What a page says of transfer: which heads transfer the number of a verb from sentence to sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from reports.formats import cost, count, names, percent
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.transfer.tables import TRANSFER as TRANSFER_TABLE
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

SHOWN: Final = 12
"Heads that a table has at the most, those with the largest transfer of either sign."

TRANSFER: Final[Sequence[tuple[str, str]]] = (
    (
        "transfer",
        "A sentence is read with its verb masked, and the output of one head at that place, before W_O, is replaced by "
        "its output at the masked verb of another sentence (the donor): of another document, with another verb. "
        "Transfer is the margin with a donor whose verb has the same number, less that with a donor whose verb has the "
        "other. Both donors have the verb at the same place, so that what a head writes of the place alone cancels "
        "(arXiv 2606.08292).",
    ),
    (
        "margin",
        "The log-odds, in nats, of the correct against the incorrect verb form.",
    ),
    (
        "over the mean",
        "The margin with the same answer, less that with the head’s mean output over masked verbs. A head transfers "
        "where both differences are above 0 and significant: sign-flip tests by document, corrected for all heads.",
    ),
    (
        "limits",
        "A head that transfers may know the number of the subject, or merely raise the forms of one number: both serve "
        "another sentence. A head that does not may still be needed, for what it writes of its own sentence or at "
        "other places. One head is changed at a time; what others write again is not seen.",
    ),
)
"Term -> definition, for the section on transfer."

HEADS: Final = TRANSFER_TABLE.text_columns(
    TRANSFER_TABLE["name"].shown("Head", "row"),
    TRANSFER_TABLE["transfer"].shown(css="strong"),
    TRANSFER_TABLE["transfer"].shown_interval(),
    "p_adjusted",
    TRANSFER_TABLE["transfers"].shown(),
    TRANSFER_TABLE["over_mean"].shown("Over the mean"),
    TRANSFER_TABLE["points"].shown("Points"),
    TRANSFER_TABLE["same"].shown("Margin, same answer"),
    TRANSFER_TABLE["other"].shown("Margin, other answer"),
    TRANSFER_TABLE["mean"].shown("Margin, mean"),
)
"Of the table of a behaviour's heads."


@dataclass(frozen=True)
class Transferred:
    """One behaviour."""

    behaviour: str
    sentences: Sequence[str]
    heads: Sequence[Mapping[Any, Any]]
    "Rows of the table, SHOWN at the most."

    @property
    def table(self) -> TextTable:
        """The heads with the largest transfer."""
        return TextTable.of("Heads with the largest transfer, in nats of either sign", HEADS, self.heads)


def transferred(run: RunFolder) -> Sequence[Transferred] | None:
    """Return what the page says of the model's last step, a behaviour each; None where the run has none."""
    table = run.studies.get("transfer")
    if table is None or table.empty:
        return None
    return [_of_behaviour(str(name), rows) for name, rows in last_step(table).groupby("behaviour", sort=False)]


def _of_behaviour(behaviour: str, rows: pd.DataFrame) -> Transferred:
    order = rows["transfer"].abs().sort_values(ascending=False, kind="stable").index
    ranked = rows.loc[order]
    return Transferred(behaviour, list(_sentences(ranked)), ranked.head(SHOWN).to_dict("records"))


def _sentences(ranked: pd.DataFrame) -> Iterator[str]:
    first = ranked.iloc[0]
    if first["clusters"] < FEW_CLUSTERS:
        yield f"⚠ Only {count(first['clusters'])} documents: intervals are rough, and tests have little power."
    yield (
        f"{count(first['n'])} sentences of {count(first['clusters'])} documents; for {percent(first['matched'])} % of "
        "them both donors have the same construction and as many attractors. The correct form is preferred in "
        f"{percent(first['accuracy'])} % of sentences, by {cost(first['intact'])} nats on average."
    )
    found = [f"{row['name']} {cost(row['transfer'])}" for row in ranked[ranked["transfers"]].to_dict("records")]
    sizes = f" (in nats: {names(found, 6)})" if found else ""
    yield f"Of {len(ranked)} heads {len(found) or 'none'} significantly transfer the number of the verb{sizes}."
