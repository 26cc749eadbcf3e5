"""Example sentences with the arcs of one head, laid out as SVG."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.scores.best_heads import BestHead

CLS, SEP = -1, -2
"Keys (and queries) that stand for the special tokens at the ends."

SHOW_ALL: Final = 26
"Sentences up to this many words are shown whole; in longer ones, words far from every asked arc are left out."

FAINT: Final = 0.05
"Second and third answers of an asked word are drawn from this weight on, correct ones always."

_GAP, _PAD, _TALLEST = 16.0, 2.0, 130.0


@dataclass(frozen=True)
class DrawnArc:
    """Attention from one word to another, with the path that draws it."""

    query: int
    key: int
    weight: float
    kind: str
    """"right": a candidate and gold; "wrong": a candidate but not gold; "other": the most attended key of a word that
    is not asked, or one that is no candidate."""
    path: str
    arrow: str
    title: str

    @property
    def width(self) -> float:
        """Stroke width in pixels."""
        return 0.8 + 4.2 * self.weight if self.kind != "other" else 0.6 + 1.4 * self.weight


@dataclass(frozen=True)
class Token:
    """A word, a special token or a gap, where it stands."""

    text: str
    x: float
    "Centre in pixels."
    width: float
    kind: str
    '"word", "asked", "special" or "gap".'


@dataclass(frozen=True)
class Diagram:
    """One sentence and one head, ready to be drawn."""

    probe: str
    label: str
    variant: str
    name: str
    source: str
    tokens: tuple[Token, ...]
    arcs: tuple[DrawnArc, ...]
    width: float
    height: float
    "Of the whole drawing; words stand at `base`."
    base: float
    words: tuple[str, ...]

    @property
    def descriptions(self) -> tuple[str, ...]:
        """The strongest arc of every asked word in plain text, for readers who do not see the drawing."""
        best: dict[int, DrawnArc] = {}
        for arc in self.arcs:
            word = getattr(arc, scored_end(self.variant))
            if arc.kind != "other" and arc.weight > (best[word].weight if word in best else -1):
                best[word] = arc
        return tuple(arc.title for _, arc in sorted(best.items()))


def scored_end(variant: str) -> str:
    """Return which end of an arc is the scored word: "key" where it is the word that is attended to.

    >>> scored_end("dependent->head"), scored_end("head<-dependent"), scored_end("preceding mention heads by column")
    ('query', 'key', 'key')
    """
    return "key" if "<-" in variant or " by column" in variant else "query"


def diagrams(examples: pd.DataFrame, best: Sequence[BestHead], heads: int, each: int = 2) -> list[Diagram]:
    """Lay out up to `each` sentences for the first `heads` rows of `best` that have examples, in that order."""
    drawn: list[Diagram] = []
    rows_of = examples.groupby(["probe", "label", "variant", "name"]).indices
    for row in best:
        chosen = examples.iloc[rows_of.get((row.probe, row.label, row.variant, row.name), [])]
        sentences = [group for _, group in chosen.groupby("example", sort=True)]
        drawn += [diagram(group) for group in sentences[:each]]
        heads -= bool(sentences)
        if heads <= 0:
            break
    return drawn


def diagram(arcs: pd.DataFrame) -> Diagram:
    """Lay out the arcs of one sentence and one head (rows of examples.parquet that share `example`)."""
    first = arcs.iloc[0]
    words = [str(word) for word in first["words"]]
    end = scored_end(str(first["variant"]))
    shown = _shown_arcs(arcs, end)
    tokens, places = _place(words, shown, end)
    drawable = shown[shown["query"].isin(places) & shown["key"].isin(places)].sort_values("weight", kind="stable")
    base = 14 + max((_rise(places[query], places[key]) for query, key in _ends(drawable)), default=20.0)
    columns = (drawable[column].tolist() for column in ("query", "key", "weight", "scored", "gold"))
    drawn = [
        _arc(query, key, weight, "other" if not asked else "right" if gold else "wrong", words, places, base)
        for query, key, weight, asked, gold in zip(*columns, strict=True)
    ]
    return Diagram(
        probe=str(first["probe"]),
        label=str(first["label"]),
        variant=str(first["variant"]),
        name=str(first["name"]),
        source=str(first["source"]),
        tokens=tuple(tokens),
        arcs=tuple(sorted(drawn, key=lambda arc: ("other", "wrong", "right").index(arc.kind))),
        width=round(tokens[-1].x + tokens[-1].width / 2 + _PAD, 1),
        height=round(base + 34, 1),
        base=round(base, 1),
        words=tuple(words),
    )


def _shown_arcs(arcs: pd.DataFrame, end: str) -> pd.DataFrame:
    """Leave out the faint second and third answers that are not right."""
    strongest = arcs["weight"] == arcs.groupby([end, "scored"])["weight"].transform("max")
    return arcs[strongest | (arcs["scored"] & (arcs["gold"] | (arcs["weight"] >= FAINT)))]


def _ends(arcs: pd.DataFrame) -> list[tuple[int, int]]:
    """The (query, key) pairs."""
    return list(zip(arcs["query"].tolist(), arcs["key"].tolist(), strict=True))


def _place(words: list[str], arcs: pd.DataFrame, end: str) -> tuple[list[Token], dict[int, float]]:
    """Put [CLS], the words and [SEP] in a row; return the tokens and the centre of every index that is shown."""
    asked = set(arcs.loc[arcs["scored"], end].tolist())
    near = {index for pair in _ends(arcs[arcs["scored"]]) for index in pair if index >= 0}
    kept = [i for i in range(len(words)) if len(words) <= SHOW_ALL or any(abs(i - end) <= 2 for end in near)]
    tokens, places, x = [], {}, _PAD

    def put(text: str, kind: str, index: int | None = None) -> None:
        nonlocal x
        width = _text_width(text, kind)
        tokens.append(Token(text, round(x + width / 2, 1), round(width, 1), kind))
        if index is not None:
            places[index] = x + width / 2
        x += width + _GAP

    put("[CLS]", "special", CLS)
    for position, i in enumerate(kept):
        if i != (kept[position - 1] + 1 if position else 0):
            put("…", "gap")
        put(words[i], "asked" if i in asked else "word", i)
    if kept and kept[-1] != len(words) - 1:
        put("…", "gap")
    put("[SEP]", "special", SEP)
    return tokens, places


def _text_width(text: str, kind: str) -> float:
    """Estimate the width of `text` in pixels at 14 px; wide scripts count double, marks nothing."""
    per = 8.6 if kind == "asked" else 8.0
    return max(per * sum(_units(character) for character in text), 8.0) + (10 if kind == "special" else 0)


def _units(character: str) -> float:
    """Width of a character where a usual one has 1."""
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.9
    return 0.55 if character in "ilj.,;:'|!" else 1.0


def _rise(start: float, end: float) -> float:
    """Height of an arc in pixels: it grows with the distance, ever more slowly."""
    return min(14 + 2.2 * math.pow(abs(end - start), 0.66), _TALLEST)


def _arc(
    query: int, key: int, weight: float, kind: str, words: list[str], places: dict[int, float], base: float
) -> DrawnArc:
    """Draw one row of examples.parquet from its query to its key."""
    start, end, rise = places[query], places[key], _rise(places[query], places[key])
    side = 3.5 if end >= start else -3.5
    left, right = (start - 5, end + 5) if query == key else (start + side, end - side)
    top = base - rise * 4 / 3
    path = f"M{left:.1f} {base - 1:.1f}C{left:.1f} {top:.1f} {right:.1f} {top:.1f} {right:.1f} {base - 5:.1f}"
    arrow = f"M{right - 3.2:.1f} {base - 6.5:.1f}h6.4l-3.2 6.5z"
    judged = {"right": ", correct", "wrong": ", incorrect", "other": ""}[kind]
    title = f"{_word(query, words)} → {_word(key, words)}: {100 * weight:.0f} % of its attention{judged}"
    return DrawnArc(query, key, weight, kind, path, arrow, title)


def _word(index: int, words: list[str]) -> str:
    """The word, or the special token, that an index stands for."""
    return {CLS: "[CLS]", SEP: "[SEP]"}.get(index) or words[index]
