"""What a page says of a model that was trained to answer in one of two words, and of what its answers rest on.

Its tables are summaries of answers, one_head and flows: shares and means over questions, by length or by layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd
import scipy

from reports.formats import count, decimal, interval, percent
from reports.run.folder import RunFolder
from reports.studies.answers.tables import AGAINST, MEASURES
from reports.tables.cells import columns_of
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

ANSWERS: Final[Sequence[tuple[str, str]]] = (
    (
        "right",
        "The share of held-out questions on which the correct one of the two words is the more probable one. The "
        "interval is exact for independent questions (Clopper and Pearson 1934).",
    ),
    (
        "one head left",
        "In one layer all heads but one are ablated, in the others none (Michel et al. 2019). The best head of a "
        "layer is selected on the even-numbered questions and evaluated on the odd ones.",
    ),
    (
        "rank correlation",
        "Spearman’s, over the words of a question: what a layer’s attention, rollout or flow gives to each word, "
        "against how much the answer changes where the word is blanked out, or against the gradient there (Abnar and "
        "Zuidema 2020). Mean over questions; those in which all words are equal are left out.",
    ),
)
"Term -> definition, for the section on answers."

LENGTHS: Final = columns_of(("Words of the question", "n", "Right"))
LEFT: Final = columns_of(("Layer", "Best head", "n", "Accuracy with it alone", "Accuracy with all heads"))
FLOWS: Final = columns_of(("Layer", *(f"{measure}, {against}" for against in AGAINST for measure in MEASURES)))

Row = tuple[str, ...]


@dataclass(frozen=True)
class Answered:
    """What a page says."""

    summary: str
    "How many answers are right."
    tables: Sequence[TextTable]
    (
        "Correct answers by length; one head of a layer left; what attention, rollout and flow tell: those that there "
        "are."
    )


def answers(run: RunFolder) -> Answered | None:
    """Return what the page says of the model's last step; None where nothing was asked."""
    table = run.studies.get("answers")
    if table is None or table.empty:
        return None
    table = last_step(table)
    left, flows = run.studies.get("one_head"), run.studies.get("flows")
    text = f"Of {count(len(table))} held-out questions {_right(table['log_odds'])} are answered correctly."
    tables = [TextTable.of("Correct answers by length", LENGTHS, _lengths(table))]
    if left is not None:
        tables.append(TextTable.of("One head of a layer left", LEFT, _left(last_step(left), table)))
    if flows is not None:
        title = "Attention, rollout and flow against the answer, mean rank correlation"
        tables.append(TextTable.of(title, FLOWS, _flows(last_step(flows))))
    return Answered(text, [one for one in tables if len(one)])


def _right(log_odds: pd.Series) -> str:
    """Write the share of answers that are right, with its interval."""
    hits, n = int((log_odds > 0).sum()), len(log_odds)
    if not n:
        return ""
    ends = scipy.stats.binomtest(hits, n).proportion_ci(0.95)
    return f"{percent(hits / n)} % {interval(ends.low, ends.high)}"


def _lengths(table: pd.DataFrame) -> Iterator[Row]:
    """Yield the share of right answers by quarters of the questions, the short ones first."""
    quarters = pd.qcut(table["words"], 4, duplicates="drop")
    for _, rows in table.groupby(quarters, observed=True):
        least, most = rows["words"].min(), rows["words"].max()
        yield (f"{least}" if least == most else f"{least} to {most}", count(len(rows)), _right(rows["log_odds"]))


def _left(one_head: pd.DataFrame, table: pd.DataFrame) -> Iterator[Row]:
    """Yield for each layer the head that does best alone on even questions, told on the odd ones."""
    whole = table.set_index("text")["log_odds"]
    for layer in one_head["layer"].drop_duplicates().sort_values().tolist():
        rows = one_head[one_head["layer"] == layer]
        odd = rows["text"] % 2 == 1
        shares = (rows.loc[~odd, "log_odds"] > 0).groupby(rows.loc[~odd, "name"], sort=False).mean()
        if shares.empty:
            continue
        best = str(shares.idxmax())
        told = rows[odd & (rows["name"] == best)]
        intact = whole.reindex(told["text"])
        yield (f"{layer + 1}", best, count(len(told)), _right(told["log_odds"]), _right(intact))


def _flows(table: pd.DataFrame) -> Iterator[Row]:
    """Yield the mean rank correlations of each layer."""
    order = pd.MultiIndex.from_product([AGAINST, MEASURES])
    means = table.pivot_table(index="layer", columns=["against", "measure"], values="rho").reindex(columns=order)
    for layer, found in zip(means.index.tolist(), means.to_numpy().tolist(), strict=True):
        yield (f"{layer + 1}", *map(decimal, found))
