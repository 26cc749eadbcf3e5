"""Relatedness: attention between words against ratings of how related they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.section import Placed
from experiments.run.measure import Frames, Measure, Read
from probes.corpora.named import NAMED_RATINGS
from probes.corpora.ratings import open_ratings, ratings_path
from reports.blocks.block import Block, Heading, Paragraph, TableBlock
from reports.formats import count, decimal
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.tables.cells import TextColumn
from reports.tables.shared_columns import (
    CLUSTERS,
    CORRELATIONS,
    HEAD,
    LAYER,
    LEVEL,
    P_ADJUSTED,
    SPLIT,
    SPLITS,
    P,
    correlation,
    ends,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.corpora.corpus import Texts
    from probes.maps.relatedness import Relatedness

SHOWN: Final = 8
"How many heads a table has."

MEASURED: Final = (
    "People were asked how related (MEN) or how similar (SimLex, SimVerb) two words are. Where two rated content "
    "words stand in one sentence, the attention between them (mean of both directions) is compared with the rating: a "
    "rank correlation within strata of distance, so that no difference between near and far words counts. p is of a "
    "permutation test of the ratings over pairs of words, corrected for all heads. Related words need not be similar "
    "(bank and loan), so similarity is the contrast. Texts have no lemmas: a word counts as it stands, or without a "
    "regular ending."
)

RELATEDNESS: Final = run_table(
    "One row for each set of ratings, split and head.",
    ("split", "ratings", "layer", "head"),
    (
        SPLIT,
        text("ratings", "Set of human ratings of how related two words are."),
        LAYER,
        HEAD,
        whole("n", "Number of rated pairs of words in sentences."),
        whole("pairs", "Number of different pairs of words."),
        CLUSTERS,
        correlation("correlation", "Rank correlation of attention with rating, within strata of distance.", "ci"),
        *ends("ci", "the correlation", decimal, CORRELATIONS),
        replace(P, meaning="Two-sided p-value of the correlation, uncorrected; missing where nothing was tested."),
        replace(P_ADJUSTED, meaning="p corrected for all heads; missing where nothing was tested."),
    ),
)


class RelatednessMeasure(Measure):
    """Whether heads attend more between words that people find more related, see `probes.maps.relatedness`."""

    name = "relatedness"
    title = "Related words"
    place = 50
    tables = {"relatedness": RELATEDNESS}
    methods = (
        Method(
            "Attention between words was compared with ratings of how related they are ({ratings}), with "
            "{permutations} permutations of the ratings."
        ),
    )

    ratings: Annotated[tuple[str, ...], Placed(NAMED_RATINGS)] = ()
    "Names of ratings (men; simlex and simverb as the contrast), or files of them, relative to the config file."
    permutations: int = Field(default=999, ge=19)
    "Times that ratings are dealt anew; p cannot be below 1 / (permutations + 1)."

    @model_validator(mode="after")
    def _there(self) -> Self:
        for name in self.ratings:
            if name not in NAMED_RATINGS:
                ratings_path(name)
            if self.ratings.count(name) > 1:
                raise ValueError(f"ratings {name!r} are named twice")
        return self

    def wanted(self, run: RunContext) -> bool:
        """Return whether ratings are named; raises CorpusError for those that cannot be read."""
        return bool([open_ratings(name) for name in self.ratings])

    def observers(self, run: RunContext, scope: str, split: str, texts: Texts) -> Sequence[Relatedness]:
        """Return what sees the maps of the sentences of a split, one for each of the ratings."""
        from probes.maps.relatedness import Relatedness

        names = self.ratings if scope == "sentence" else ()
        return [Relatedness(open_ratings(name), run.model.layers, run.model.heads) for name in names]

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the correlations on both splits; a note says where there is nothing to measure."""
        from probes.maps.relatedness import Relatedness, relatedness_table

        seen = {split: [one for part in read.parts for one in part.observed(Relatedness, split)] for split in SPLITS}
        tables, seed = [], run.config.seed
        effort = {"permutations": self.permutations, "replicates": run.config.scoring.replicates}
        for place, named in enumerate(self.ratings):
            ratings = open_ratings(named).name
            for split in SPLITS:
                if not seen[split]:
                    run.note(f"relatedness, {ratings}: no probe of this run reads sentences")
                elif (table := relatedness_table(seen[split][place], split, **effort, seed=seed)).empty:
                    run.note(f"relatedness, {ratings}: no rated pair in a sentence of the {split} split")
                else:
                    tables.append(table)
        return {"relatedness": pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()}

    @classmethod
    def has_results(cls, run: RunFolder) -> bool:
        """Return whether ratings were compared: that no rated words stood in a sentence is told as well."""
        return cls.name in run.tables

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield what came out on the report split, and the heads with the strongest correlations, by set of ratings."""
        table = run.tables["relatedness"]
        table = table[table["split"] == SPLITS[1]]
        yield Paragraph(MEASURED)
        if table.empty:
            yield Paragraph("No two rated words stood in one sentence.")
        for ratings, rows in table.groupby("ratings"):
            yield Heading(str(ratings))
            yield Paragraph(_summary(rows))
            yield TableBlock(_strongest(rows, table[table["ratings"] != ratings]))


def _summary(rows: pd.DataFrame) -> str:
    """Return what came out of one set of ratings, in a few sentences."""
    n, pairs, clusters = (int(rows[column].iloc[0]) for column in ("n", "pairs", "clusters"))
    rough = " So few documents make the intervals rough." if clusters < FEW_CLUSTERS else ""
    significant = f"{(rows['p_adjusted'] < LEVEL).sum()} of {len(rows)}"
    return (
        f"{count(n)} co-occurrences of rated word pairs within a sentence, {count(pairs)} different pairs, in "
        f"{count(clusters)} documents.{rough} Heads with a significant correlation (corrected p below {LEVEL}): "
        f"{significant}."
    )


def _strongest(rows: pd.DataFrame, others: pd.DataFrame) -> TextTable:
    """Return the table of the strongest correlations, whatever their sign, and of the same heads' on other ratings."""
    contrast = others.pivot(index=["layer", "head"], columns="ratings", values="correlation")
    ranked = rows.sort_values("correlation", key=abs, ascending=False, kind="stable")
    return TextTable.of(
        f"Heads that correlate most with {rows['ratings'].iloc[0]} (of {len(rows)}), selected on these same pairs",
        (
            TextColumn("Head", lambda row: f"{row['layer'] + 1}-{row['head'] + 1}", "row"),
            RELATEDNESS["correlation"].shown(css="strong"),
            RELATEDNESS["correlation"].shown_interval(),
            RELATEDNESS["p_adjusted"].shown(),
            *(TextColumn(f"On {name}", partial(_other, contrast[name])) for name in contrast),
        ),
        ranked.head(SHOWN).to_dict("records"),
    )


def _other(correlations: pd.Series, row: Mapping[Any, Any]) -> str:
    return decimal(float(correlations.get((row["layer"], row["head"]), float("nan"))))
