"""What a page reports of attention as explanation: measures and rank correlations, mean over classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.formats import count, decimal, percent
from reports.run.folder import RunFolder
from reports.studies.explanation.tables import MEASURES, PAIRS
from reports.tables.cells import columns_of
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

EXPLANATION_TERMS: Final[Sequence[tuple[str, str]]] = (
    (
        "permuted",
        "The classifier’s attention to the pieces of a sentence is shuffled 100 times; the output changes by the total "
        "variation distance, here of the probability of the plural (Jain and Wallace 2019).",
    ),
    (
        "adversarial",
        "Attention as far from the classifier’s as was found while the output moves by 0.01 at most; the divergence is "
        "at most ln 2, about 0.69 nats (Jain and Wallace 2019).",
    ),
    (
        "erased",
        "Pieces get no attention, that of the others is scaled to sum to 1, until the decision flips; 1 where it never "
        "does (Serrano and Smith 2019).",
    ),
    (
        "guided",
        "A network that sees each piece by itself is trained with attention of another classifier, or uniform, "
        "in the place of its own (Wiegreffe and Pinter 2019).",
    ),
    (
        "rank correlation",
        "Kendall’s tau over the word pieces of a sentence: 1 where two measures of importance have them in one order, "
        "0 where their orders have nothing to do with each other. Gradients hold attention as it is; a piece that is "
        "left out is not read by the model (Jain and Wallace 2019).",
    ),
)

COLUMNS: Final = columns_of(("Measure", "Mean", "Lowest", "Highest"))

RANKS: Final = columns_of(("Rank correlation of", "Tau", "Lowest", "Highest", "Significant"))


@dataclass(frozen=True)
class ExplanationResults:
    """What a page reports."""

    text: str
    tables: Sequence[TextTable]


def explanation(run: RunFolder) -> ExplanationResults | None:
    """Return what the page reports of the model's last step; None where it was not measured."""
    table = run.studies.get("explanation")
    if table is None or table.empty:
        return None
    values = last_step(table).groupby("measure")["value"]
    mean, low, high = values.mean(), values.min(), values.max()
    told = (
        f"{count(int(table['seed'].nunique()))} classifiers that attend to the states of the last layer decide on the "
        f"number of the main subject, {percent(mean['accuracy'])} % correct on {count(int(table['n'].max()))} held-out "
        f"sentences. Without the piece that gets most attention {percent(mean['flips, most attended'])} % of the "
        "decisions flip."
    )
    rows = [
        (meaning.capitalize(), decimal(mean[name]), decimal(low[name]), decimal(high[name]))
        for name, meaning in MEASURES.items()
    ]
    measures = TextTable.of("Mean and range over classifiers", COLUMNS, rows)
    ranks = run.studies.get("explanation_ranks")
    return ExplanationResults(told, (measures,) if ranks is None else (measures, _ranks(last_step(ranks))))


def _ranks(table: pd.DataFrame) -> TextTable:
    pairs = table.groupby("pair")
    mean, low, high = pairs.mean(numeric_only=True), pairs["tau"].min(), pairs["tau"].max()
    rows = [
        (
            name.capitalize(),
            *(decimal(one) for one in (mean["tau"][name], low[name], high[name])),
            f"{percent(mean['significant'][name])} %",
        )
        for name in PAIRS
    ]
    return TextTable.of("Rank correlations over word pieces, mean and range over classifiers", RANKS, rows)
