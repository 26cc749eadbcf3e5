"""Relations between heads: how far they are from each other, and in which groups and subspaces."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Charts, Heading, Points, TableBlock, Terms
from reports.formats import count, decimal, decimal3, p_value, percent, signed
from reports.heads.card_parts import CardSource
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import TextColumn
from reports.tables.shared_columns import FRACTIONS, ONE_HEAD, number, p_column, place, run_table, text, whole
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes import Document
    from probes.corpora.corpus import Texts
    from probes.maps.matching import Distances

OWN, RANDOM = "own", "random"
"Whose heads: those of the run's model, or of one of the same architecture with randomly initialised weights."

COMPARED: Final[Mapping[str, str]] = {
    "maps": "maps: distance, nats",
    "W_V": "what heads read, W_V: overlap",
    "W_O": "what heads write, W_O: overlap",
    "outputs": "outputs: linear CKA",
}
"What is compared of two heads -> its name with its unit."

CLEAR: Final = 0.25
"Groups with a smaller mean silhouette show no substantial structure (Kaufman and Rousseeuw 1990, chapter 2)."

_PAIR: Final = (
    *ONE_HEAD,
    place("other_layer", "Layer of the other head, counted from 0."),
    place("other_head", "The other head in its layer, counted from 0."),
    text("other", "The other head as layer-head, both counted from 1."),
)
_WHAT: Final = text(
    "what", "What is compared: W_V (read subspaces), W_O (written subspaces), outputs (linear CKA), or maps."
)
_WEIGHTS: Final = text("weights", "own, or random for randomly initialised weights.", (OWN, RANDOM))
_DISTANCE: Final = number(
    "distance",
    "Mean Jensen-Shannon divergence of the two heads' maps, in nats; lower is more alike.",
    (0.0, math.log(2)),
)

DISTANCES: Final = run_table("One row for every two heads.", ("name", "other"), (*_PAIR, _DISTANCE))

SUBSPACES: Final = run_table(
    "One row for every two heads, what is compared, and weights.",
    ("what", "weights", "name", "other"),
    (
        _WHAT,
        _WEIGHTS,
        *_PAIR,
        number(
            "overlap",
            "Mean squared cosine of the principal angles, or CKA; 1 is the same subspace.",
            FRACTIONS,
            write=decimal,
        ),
        number("nearest", "Cosine of the smallest principal angle; missing for outputs.", FRACTIONS, write=decimal),
    ),
)

CONTRASTS: Final = run_table(
    "One row for what is compared and weights: pairs of heads of one layer against pairs of two layers.",
    ("what", "weights"),
    (
        _WHAT,
        _WEIGHTS,
        number("within", "Mean over pairs of heads of one layer: overlap, or distance in nats of maps.", FRACTIONS),
        number("between", "Mean over pairs of heads of two layers, as within.", FRACTIONS),
        whole("pairs_within", "Number of pairs of heads of one layer."),
        whole("pairs_between", "Number of pairs of heads of two layers."),
        p_column("p", "Permutation p-value of the difference of both means; missing where nothing was tested."),
    ),
)

PLACES: Final = run_table(
    "One row for each head, on a plane that keeps the distances of maps as well as it can.",
    ("name",),
    (
        *ONE_HEAD,
        number("x", "First coordinate on the plane, in nats."),
        number("y", "Second coordinate on the plane, in nats."),
        place("group", "Number of the cluster of alike heads, from 1."),
        text("nearest", "The head whose maps are most alike."),
        replace(_DISTANCE, meaning="Mean Jensen-Shannon divergence from that head's maps, in nats."),
    ),
)

TERMS: Final = {
    "distance": "Mean Jensen-Shannon divergence of the rows of two heads at the same words, in nats: 0 for heads with "
    "the same maps, 0.69 for heads that never attend to the same place. Rows are smoothed by a thousandth (Clark et "
    "al. 2019, section 6, where it is a sum over words); where a run reads norms they are shares of their sums.",
    "plane, groups": "The plane is the metric multidimensional scaling of the distances, the best of five random "
    "starts; it has no axes, and what lies near on it need not be near. Groups come from Ward’s linkage of the roots "
    "of the distances, which are Euclidean; unless the config states their number it is the one with the highest mean "
    "silhouette, and where that is small there are no clear groups.",
    "within and between layers": "Means over pairs of heads of one layer, and of two. p is two-sided, of a permutation "
    "test in which heads are dealt out to layers at random.",
    "overlap": "Mean squared cosine of the principal angles between two subspaces: 1 where one holds the other, 0 "
    "where they are orthogonal. A head reads from the span of its W_V and writes to that of its W_O. Random subspaces "
    "share what chance gives, the size of a head over that of the model; “different representation subspaces” (Vaswani "
    "et al. 2017, section 3.2.2) would share less, or no more.",
    "linear CKA": "How alike the output vectors of two heads are at the same words, whatever their rotation, scale and "
    "shift: 1 for the same, near 0 for unrelated ones (Kornblith et al. 2019).",
    "randomly initialised weights": "The same architecture with new random weights, on the same texts. Its maps are "
    "nearly uniform, so that its heads are near to each other and its outputs similar.",
}


class HeadSetMeasure(Measure):
    """What is said of the relations between heads: how far they are from each other, and what several do together."""

    name = "heads"
    anchor = "headset"
    title = "Relations between heads"
    place = 100
    switch = "texts"
    more_switches = ("relations",)
    tables = {"distances": DISTANCES, "subspaces": SUBSPACES, "contrasts": CONTRASTS, "places": PLACES}
    methods = (
        Method(
            "All heads were compared by their maps and outputs on at most {texts} texts and {words} words of the "
            "report split; the similarity of heads of one layer was tested with {permutations} permutations of heads."
        ),
    )

    texts: int = Field(default=0, ge=0)
    """Texts of the report split on which all heads are compared, by the maps and the outputs that they have there, such
    as 400; 0 for no comparison."""
    groups: int = Field(default=0, ge=0)
    "Groups that heads are divided into; 0 for as many as have the highest mean silhouette."
    permutations: int = Field(default=9999, ge=19)
    "Times that heads are dealt out to layers anew, for the test of within-layer against between-layer pairs."
    relations: int = Field(default=0, ge=0)
    "Labels, those with the most items, for which ensembles are sought, such as 24; 0 for no ensembles."
    largest: int = Field(default=4, ge=2, le=8)
    "Heads of the largest ensemble."
    choice_texts: int = Field(default=1000, ge=1)
    "Texts of the selection split, at the most, on which ensembles are chosen."
    words: int = Field(default=20_000, ge=1)
    "Words, at the most, of the texts on which heads are compared, and of those on which ensembles are chosen."

    def _sample(self, run: RunContext) -> list[Document]:
        """Return texts of the report split on which heads are compared: of the scope that is read first."""
        from probes.scoring.aligned import sample_texts

        return sample_texts(run.texts(run.scopes[0])[1], self.texts, self.words)

    def observers(self, run: RunContext, scope: str, split: str, texts: Texts) -> Sequence[Distances]:
        """Return what compares heads on the sample."""
        from probes.maps.matching import Distances, text_key

        here = split == "report" and scope == run.scopes[0]
        return [Distances([text_key(text) for text in self._sample(run)])] if here else []

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the tables of pairs and places; nothing where no text can be compared."""
        from probes.corpora.corpus import MemoryTexts
        from probes.maps.groups import (
            compare_heads,
            contrast_table,
            group_heads,
            lay_out,
            overlap_table,
            pair_table,
            place_table,
        )
        from probes.maps.matching import Distances
        from probes.scoring.score import score_corpus

        seed, heads, sample = run.config.seed, run.model.heads, self._sample(run)
        (distances,) = read.parts[0].observed(Distances, "report")
        if (distance := distances.means()) is None:
            run.note("heads are not compared as a set: no text of the sample can be read whole")
            return {}
        random, (observer,) = run.random_model(), self.observers(run, run.scopes[0], "report", MemoryTexts(sample))
        score_corpus(random, MemoryTexts(sample), [], {}, run.settings, observers=[observer])
        found = {}
        for weights, model, means in ((OWN, run.model, distance), (RANDOM, random, observer.means())):
            assert means is not None
            found[weights], why = compare_heads(model, means, sample, run.settings)
            if why:
                run.note(why)
        plane, groups = lay_out(distance, seed=seed), group_heads(distance, self.groups)
        known = {"texts": distances.texts, "words": distances.words, "left_out": len(sample) - distances.texts}
        run.fact(self.name, {**known, "stress": plane.stress, "silhouette": groups.silhouette})
        return {
            "distances": pair_table({"distance": distance}, heads),
            "subspaces": overlap_table(found, heads),
            "contrasts": contrast_table(found, heads, permutations=self.permutations, seed=seed),
            "places": place_table(distance, plane.places, groups.group, heads),
        }

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield how alike heads are, as sentences, means, a plane, and shares of subspaces."""
        from reports.drawing.head_plane import overlap_chart, plane_chart

        _, subspaces, contrasts, places = (run.tables.get(name, pd.DataFrame()) for name in cls.tables)
        rows, places = _contrasts(contrasts, subspaces), _with_roles(places, CardSource(run))
        yield Points(
            [*_compared(run.facts(cls.name), len(places)), *_alike(rows), *_groups(run.facts(cls.name), places)]
        )
        yield Terms(TERMS.items())
        yield Heading("Similarity of heads of one layer")
        yield TableBlock(TextTable.of("Means over pairs of heads", MEANS, rows))
        yield Charts([plane_chart(places)])
        if whats := [what for what in COMPARED if (subspaces["what"] == what).any()]:
            yield Heading("Subspaces of heads")
            yield Charts([overlap_chart(subspaces[subspaces["what"] == what], COMPARED[what]) for what in whats])


def _with_roles(places: pd.DataFrame, source: CardSource) -> pd.DataFrame:
    """Return the places with main role, and label, accuracy and margin of the surest margin; empty for none."""
    rows = {str(row["name"]): row for row in source.rows.drop_duplicates("name").to_dict("records")}
    surest = [rows.get(name) for name in places["name"]]
    return places.assign(
        role=[source.main_roles.get(name, "") for name in places["name"]],
        surest=[f"{row['label']} ({row['variant']})" if row else "" for row in surest],
        accuracy=[percent(row["accuracy"]) if row else "" for row in surest],
        margin=[signed(row["margin"]) if row else "" for row in surest],
    )


def _contrasts(contrasts: pd.DataFrame, subspaces: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the contrasts of the model, each with `mean` and `random`, the means over all pairs, and `above`.

    That is the share of pairs above the highest pair of random weights; NaN for distances, of which it says little.
    """
    of_all = contrasts.assign(
        mean=(contrasts[["within", "between"]].fillna(0).to_numpy() * contrasts[["pairs_within", "pairs_between"]])
        .sum(axis=1)
        .div(contrasts[["pairs_within", "pairs_between"]].sum(axis=1).replace(0, np.nan))
    )
    random = of_all[of_all["weights"] == RANDOM].set_index("what")["mean"]
    rows = {row["what"]: row for row in of_all[of_all["weights"] == OWN].to_dict("records")}
    for what, row in rows.items():
        pairs = subspaces[(subspaces["what"] == what) & subspaces["overlap"].notna()]
        own, other = (pairs.loc[pairs["weights"] == weights, "overlap"] for weights in (OWN, RANDOM))
        row |= {"random": random.get(what, math.nan), "above": float((own > other.max()).mean())}
    return [rows[what] for what in COMPARED if what in rows]


MEANS: Final = (
    TextColumn("Compared", lambda row: COMPARED[row["what"]], "row"),
    TextColumn("All pairs", lambda row: decimal3(row["mean"]), css="strong"),
    CONTRASTS["within"].shown("Within a layer"),
    CONTRASTS["between"].shown("Between layers"),
    CONTRASTS["p"].shown("Permutation p"),
    TextColumn("Random weights, all pairs", lambda row: decimal3(row["random"])),
    TextColumn("Pairs above all of random weights, %", lambda row: percent(row["above"])),
)


def _compared(facts: Mapping[str, Any], heads: int) -> Iterator[str]:
    """Say what was compared."""
    if facts:
        left = f"; {count(facts['left_out'])} more could not be read whole" if facts["left_out"] else ""
        yield (
            f"All {heads} heads were compared on {count(facts['texts'])} texts of the report split, "
            f"{count(facts['words'])} words{left}."
        )


def _alike(rows: Sequence[Mapping[Any, Any]]) -> Iterator[str]:
    """Say whether heads of one layer are alike, and how far subspaces overlap."""
    for row in rows:
        if row["what"] == "maps" and row["p"] == row["p"]:
            nearer = "nearer to each other" if row["within"] < row["between"] else "further from each other"
            sure = "" if row["p"] < 0.05 else ", not significantly"
            p = p_value(row["p"])
            yield (
                f"Heads of one layer are{sure} {nearer} in their maps ({decimal(row['within'])} nats) than heads of "
                f"two layers ({decimal(row['between'])}; permutation p {p if p.startswith('<') else f'= {p}'})."
            )
        elif row["what"] in ("W_V", "W_O") and row["random"] == row["random"]:
            does = "read" if row["what"] == "W_V" else "write"
            yield (
                f"Subspaces in which heads {does} ({row['what']}): those of two heads overlap by "
                f"{percent(row['mean'])} % (mean squared cosine of the principal angles), with randomly initialised "
                f"weights by {percent(row['random'])} %; {percent(row['above'])} % of pairs overlap more than any pair "
                "with randomly initialised weights."
            )


def _groups(facts: Mapping[str, Any], places: pd.DataFrame) -> Iterator[str]:
    """Say into which groups heads were divided."""
    if places["group"].nunique() > 1 and "silhouette" in facts:
        sizes = sorted(places["group"].value_counts().tolist(), reverse=True)
        unclear = f"; below {decimal(CLEAR)} groups are not clear" if facts["silhouette"] < CLEAR else ""
        yield (
            f"By their maps heads were divided into {len(sizes)} groups, of {', '.join(map(str, sizes))} heads (mean "
            f"silhouette {decimal(facts['silhouette'])}{unclear})."
        )
