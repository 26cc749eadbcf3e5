"""What a page says of the weights alone: places, words and relations, beside what the heads do on text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from reports.formats import count, decimal, percent, signed_whole
from reports.run.folder import RunFolder
from reports.run.study_facts import CircuitsRead
from reports.studies.circuits.tables import CIRCUIT_TABLES
from reports.studies.circuits.text_tables import FORETOLD, MAPPED, heads_table
from reports.tables.text_table import TextTable

TERMS: Final = (
    (
        "circuits from weights",
        "A layer’s input is split into what it has of a word (its mean over places) and of a place (its mean over "
        "words), for words of the vocabulary alone. Of deeper layers this is an approximation: what the layers below "
        "add is left out, and the embedding goes through their LayerNorms only. What a head writes is compared with "
        "the word embeddings, with the LayerNorms above it folded in (scale and centring); the transform of a "
        "masked-LM head is left out, and so are all biases of values.",
    ),
    (
        "kernel",
        "The offset, in pieces, that a head prefers by its query-key product of places alone, and the share of "
        "attention that softmax over the places would give it; uniform attention over 32 places gives 3 %. On "
        "text: the attention from pieces of words to the piece at that offset.",
    ),
    (
        "same word, related",
        "By the query-key product of words alone: the share of other words of the sample that score below the word "
        "itself, and below its five nearest words by cosine; 50 is chance. On text: the share of attention that goes "
        "to repeats of the same piece beyond uniform attention, and how much nearer (cosine) the attended pieces are "
        "than the other pieces of the sentence, repeats aside.",
    ),
    (
        "copying",
        "Of the value-output product as a map from words to words: the sum of its eigenvalues over the sum of their "
        "moduli, from −1 to 1; 1 if every word raises itself or words like it (Elhage et al. 2021). Positive: the "
        "share of eigenvalues with a positive real part. Own word: the share of other words that a word raises less "
        "than itself; 50 is chance. On text: the correlation of what the head writes with what would raise the "
        "logits of the pieces it attends to.",
    ),
    (
        "relations",
        "Pairs such as singular and plural (in the manner of MAPS, Elhelo and Geva 2025). Static: the share of pairs "
        "whose target is among the ten words that a head attending to the source alone raises most, by its weights. "
        "Lowered: the same for the ten that it lowers most. Dynamic: as static, for the head’s value of the source in "
        "two neutral sentences. The mean over sources is subtracted first.",
    ),
    (
        "write norm",
        "Mean length of the vector that the whole head writes at a piece of a word, behind W_O and without its bias "
        "(Kobayashi et al. 2020); in the units of its layer, so compare heads of one layer.",
    ),
    (
        "rho",
        "Spearman’s rank correlation over all heads, with a 95 % interval by resampling heads. It shows whether the "
        "weights of this model predict which heads do it more; heads share layers, so it does not extend to other "
        "models.",
    ),
)
"Term -> definition, for the section on weights alone."

NAMES: Final[Mapping[str, str]] = {
    "kernel_attention": "attention to the preferred offset, by position embeddings",
    "same_word": "query-key rank of the same word",
    "related_words": "query-key rank of related words",
    "copying": "copying score",
    "own_word": "rank of a word’s effect on its own logit",
    "static": "static score",
    "text_at_kernel": "attention to that offset",
    "text_same_word": "attention to repeats of a piece",
    "text_related": "cosine with attended pieces",
    "text_copying": "correlation of output and attended logits",
    "dynamic": "dynamic score",
}
"Measure -> its name on a page."

STRONG: Final = 0.5
"A kernel that gives its offset so much attention, or a copying score as high, is counted as strong."

MOST_NAMED: Final = 3
"Heads that a sentence names."


@dataclass(frozen=True)
class Link:
    """How far a measure of the weights alone foretells what heads do on text."""

    weights: str
    text: str
    rho: float
    low: float
    high: float
    heads: int


@dataclass(frozen=True)
class WeightRelation:
    """The heads that map the one word of a pair to the other most, by weights alone."""

    relation: str
    pairs: int
    head: str
    static: float
    dynamic: float
    "Of the same head."
    lowering: str
    suppressed: float
    chance: float
    link: Link


@dataclass(frozen=True)
class CircuitParts:
    """What a page says of the weights alone."""

    sentences: tuple[str, ...]
    heads: TextTable
    links: TextTable
    relations: TextTable
    reach: int
    "The largest offset of the kernels."
    tables: Mapping[str, pd.DataFrame]
    "By name (`reports.studies.circuits.tables`)."


def circuit_parts(run: RunFolder) -> CircuitParts | None:
    """Return what a page says of the weights alone; None where the run did not ask.

    Raises ValueError where one of its tables is there without the others.
    """
    if "circuits" not in run.studies:
        return None
    if missing := [name for name in CIRCUIT_TABLES if name not in run.studies]:
        raise ValueError(f"{run.folder / missing[0]}.parquet: missing beside circuits.parquet; run again")
    tables = {name: run.studies[name] for name in CIRCUIT_TABLES}
    heads, kernels = tables["circuits"], tables["circuit_kernels"]
    of_measures = tables["circuit_links"]["relation"] == ""
    links = tuple(_links(tables["circuit_links"][of_measures]))
    relations = tuple(_relations(tables["circuit_relations"], tables["circuit_links"][~of_measures]))
    reach = int(kernels["offset"].max())
    facts = run.record.circuits
    return CircuitParts(
        sentences=(*_read(facts), *_found(heads), *_foretold(links)),
        heads=heads_table(tuple(_rows(heads, kernels)), reach),
        links=TextTable.of("Weights alone against attention on text", FORETOLD, links),
        relations=TextTable.of(
            "Relations between words: the head that maps most of these pairs (selected on them), in percent of pairs",
            MAPPED,
            relations,
        ),
        reach=reach,
        tables=tables,
    )


def _links(rows: pd.DataFrame) -> Iterator[Link]:
    for row in rows.to_dict("records"):
        weights, text = (NAMES.get(str(row[kind]), str(row[kind])) for kind in ("weights", "text"))
        yield Link(weights, text, float(row["rho"]), float(row["low"]), float(row["high"]), int(row["heads"]))


def _relations(rows: pd.DataFrame, links: pd.DataFrame) -> Iterator[WeightRelation]:
    for name, of_heads in rows.groupby("relation", sort=False):
        best = of_heads.iloc[int(of_heads["static"].argmax())]
        least = of_heads.iloc[int(of_heads["suppressed"].argmax())]
        link = next(_links(links[links["relation"] == name]))
        scores = (str(best["name"]), float(best["static"]), float(best["dynamic"]))
        lowered = (str(least["name"]), float(least["suppressed"]), float(best["chance"]))
        yield WeightRelation(str(name), int(best["pairs"]), *scores, *lowered, link)


def _rows(heads: pd.DataFrame, kernels: pd.DataFrame) -> Iterator[dict[str, Any]]:
    by_head = {str(name): rows for name, rows in kernels.groupby("name", sort=False)}
    for row in heads.to_dict("records"):
        of_head = by_head[str(row["name"])].sort_values("offset")
        points = {kind: _points(of_head[kind].fillna(0).tolist()) for kind in ("attention", "text_attention")}
        yield {str(key): value for key, value in row.items()} | {"drawn": points}


def _points(values: list[float]) -> str:
    """Return the points of a line in a drawing of 100 by 16, 1 at the top."""
    step = 100 / (len(values) - 1)
    return " ".join(f"{4 + step * place:.0f},{15 - 14 * min(value, 1):.1f}" for place, value in enumerate(values))


def _read(facts: CircuitsRead | None) -> list[str]:
    """Say what was read."""
    if facts is None:
        return []
    return [
        f"Without text: {count(facts.words)} of the {count(facts.vocabulary)} whole words of the vocabulary and "
        f"{count(facts.places)} places. Text for comparison: {count(facts.sentences)} sentences of the report split, "
        f"{count(facts.pieces)} pieces."
    ]


def _found(heads: pd.DataFrame) -> list[str]:
    """Count the heads with strong kernels and high copying scores, and say how often kernels are right."""
    strong = heads[heads["kernel_attention"] >= STRONG].sort_values("kernel_attention", ascending=False, kind="stable")
    same = int((strong["kernel_offset"] == strong["text_offset"]).sum())
    copies, turns = int((heads["copying"] >= STRONG).sum()), int((heads["copying"] <= -STRONG).sum())
    named = ", ".join(
        f"{row['name']} (offset {signed_whole(row['kernel_offset'])}: {percent(row['kernel_attention'])} %, on text "
        f"{percent(row['text_at_kernel'])} %)"
        for row in strong.head(MOST_NAMED).to_dict("records")
    )
    who = f": {named}{f' and {len(strong) - MOST_NAMED} more' if len(strong) > MOST_NAMED else ''}" if named else ""
    return [
        f"From position embeddings alone, {len(strong)} of {len(heads)} heads give half of the attention or more to "
        f"one offset{who}. In {same} of them it is also the most attended offset on text.",
        f"Heads with a copying score of {decimal(STRONG)} or more: {copies}; of {decimal(-STRONG)} or less, which "
        f"lower what they attend to: {turns}.",
    ]


def _foretold(links: tuple[Link, ...]) -> list[str]:
    """Name the measures whose correlation with what heads do is surely above 0, and those where it is below."""
    if not links:
        return []
    above, below = ([link for link in links if link.low > 0], [link for link in links if link.high < 0])
    told = (
        f"Of {len(links)} comparisons of weights alone with text {len(above)} have a rank correlation whose interval "
    )
    told += f"lies above 0{_named(above)}."
    return [told + (f" In {len(below)} it lies below 0{_named(below)}." if below else "")]


def _named(links: list[Link]) -> str:
    told = "; ".join(f"{link.weights} with {link.text} ({decimal(link.rho)})" for link in links)
    return f": {told}" if told else ""
