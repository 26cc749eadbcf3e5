"""Attention between related words, as a page tells it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.formats import count, decimal
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.relatedness.tables import RELATEDNESS
from reports.tables.cells import TextColumn
from reports.tables.text_table import TextTable

ALPHA: Final = 0.05
SHOWN: Final = 8
"How many heads a table has."

MEASURED: Final = (
    "People were asked how related (MEN) or how similar (SimLex, SimVerb) two words are. Where two rated words stand "
    "in one sentence, the attention between them (mean of both directions) is compared with the rating: a rank "
    "correlation within strata of distance, so that no difference between near and far words counts. p is of a "
    "permutation test of the ratings over pairs of words, corrected for all heads. Related words need not be similar "
    "(bank and loan), so similarity is the contrast. Texts have no lemmas: a word counts as it stands, or without a "
    "regular ending."
)


@dataclass(frozen=True)
class Related:
    """One head on one set of ratings."""

    name: str
    correlation: float
    ci_low: float
    ci_high: float
    p_adjusted: float
    others: tuple[float, ...] = ()
    "Its correlations on the other sets of ratings, the contrast; NaN where one has none."


def _other(place: int, head: Related) -> str:
    return decimal(head.others[place])


@dataclass(frozen=True)
class Rated:
    """What is told of one set of ratings."""

    ratings: str
    n: int
    pairs: int
    clusters: int
    heads: tuple[Related, ...]
    "Those with the strongest correlations, positive or negative."
    significant: int
    "Number of heads whose corrected p is below ALPHA."
    of: int
    "Number of heads."
    others: tuple[str, ...] = ()
    "Names of the other sets of ratings."

    @property
    def strongest(self) -> TextTable:
        """The heads with their numbers, and their correlations on the other sets."""
        others = (TextColumn(f"On {name}", partial(_other, place)) for place, name in enumerate(self.others))
        return TextTable.of(
            f"Heads with the strongest correlations (of {self.of}), selected on these same pairs",
            (
                TextColumn("Head", lambda row: row.name, "row"),
                RELATEDNESS["correlation"].shown(css="strong"),
                RELATEDNESS["correlation"].shown_interval(),
                RELATEDNESS["p_adjusted"].shown(),
                *others,
            ),
            self.heads,
        )

    @property
    def summary(self) -> str:
        """What came out, in a few sentences."""
        seen = f"{count(self.n)} co-occurrences of rated word pairs within a sentence"
        rough = " So few documents make the intervals rough." if self.clusters < FEW_CLUSTERS else ""
        sure = f"Heads with a significant correlation (corrected p below {ALPHA}): {self.significant} of {self.of}."
        return f"{seen}, {count(self.pairs)} different pairs, in {count(self.clusters)} documents.{rough} {sure}"


@dataclass(frozen=True)
class Relations:
    """What a page tells of attention between rated words."""

    rated: tuple[Rated, ...]
    "One a set of ratings; none where no two rated words stood in one sentence."
    measured: str = MEASURED


def relations(run: RunFolder) -> Relations | None:
    """Return what the page says of every set of ratings on the report split; None where none was asked for."""
    if "relatedness" not in run.studies:
        return None
    table = run.studies["relatedness"]
    told = table[table["split"] == "report"]
    contrast = told.pivot(index=["layer", "head"], columns="ratings", values="correlation")
    names = [str(name) for name in contrast]
    return Relations(tuple(_rated(name, told[told["ratings"] == name], contrast.drop(columns=name)) for name in names))


def _rated(name: str, rows: pd.DataFrame, contrast: pd.DataFrame) -> Rated:
    order = rows["correlation"].abs().sort_values(ascending=False, kind="stable").index
    first: Any = rows.iloc[0]
    sure = int((rows["p_adjusted"] < ALPHA).sum())
    heads = tuple(_related(row, contrast) for row in rows.loc[order[:SHOWN]].to_dict("records"))
    n, pairs, clusters = (int(first[column]) for column in ("n", "pairs", "clusters"))
    return Rated(name, n, pairs, clusters, heads, sure, len(rows), tuple(map(str, contrast)))


def _related(row: dict[Any, Any], contrast: pd.DataFrame) -> Related:
    correlation, low, high, p = (float(row[column]) for column in ("correlation", "ci_low", "ci_high", "p_adjusted"))
    others = tuple(map(float, contrast.loc[(row["layer"], row["head"])]))
    return Related(f"{row['layer'] + 1}-{row['head'] + 1}", correlation, low, high, p, others)
