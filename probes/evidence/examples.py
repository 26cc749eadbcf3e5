"""Examples: the strongest arcs of chosen heads on a few sentences."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from torch import Tensor

from mha.batches import collate
from mha.models.model import Model
from mha.parallel import in_order
from mha.pieces import CLS, SEP, Pieces
from probes.corpora.corpus import Texts
from probes.records import Document
from probes.registry import Probe
from probes.scoring.aligned import cut_texts, name_of
from probes.scoring.score import Settings
from probes.scoring.scorer import TINY
from probes.scoring.tally import Question
from probes.targets import OTHERS, TOKENS, Keys, Targets

LENGTHS = range(5, 17)
"Number of words of a sentence, or on average of a pair's texts, that is shown; windows of sentences may be longer."


@dataclass(frozen=True)
class Choice:
    """A head that is shown, and the question that it is best at."""

    question: Question
    layer: int
    head: int


def choose_heads(scores: pd.DataFrame, count: int) -> list[Choice]:
    """Return the selected heads with the largest sure margins on the report split, one label of each relation."""
    rows = scores[scores.selected & (scores.split == "report") & (scores.n >= 20)]
    rows = rows[(rows.variant != "no key above a tenth") & rows.margin_low.notna()]
    rows = rows.assign(relation=rows.label.str.replace(r"[:=>].*$", "", regex=True))
    rows = rows.sort_values(["margin_low", "probe", "label", "variant"], ascending=[False, True, True, True])
    rows = rows.drop_duplicates(["probe", "relation", "variant"])
    share = -(-count // max(rows.probe.nunique(), 1))
    rows = rows[rows.groupby("probe").cumcount() < share].head(count)
    columns = (rows[name].tolist() for name in ("probe", "variant", "label", "layer", "head"))
    return [Choice((probe, variant, label), *place) for probe, variant, label, *place in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Example:
    """A chosen head and a text that asks its question."""

    choice: Choice
    text: Document
    targets: Targets
    items: Sequence[int]
    "Items of the question."


def choose_texts(texts: Texts, probes: Sequence[Probe], choices: Sequence[Choice], each: int = 2) -> list[Example]:
    """Return `each` texts for every chosen head.

    They are taken by a hash of their words among the short ones that ask the question, whatever the head does on them.
    """
    pool, by_name = _short_texts(texts), {probe.name: probe for probe in probes}
    asked = [_asked(pool, by_name[choice.question[0]], choice) for choice in choices]
    return [one for some in asked for one in islice(some, each)]


def example_arcs(model: Model, shown: Sequence[Example], settings: Settings) -> pd.DataFrame:
    """Return the arcs of every chosen head on its texts, in the columns of `examples.parquet`."""

    def look(one: Example) -> npt.NDArray[np.float32] | None:
        return head_map(model, one.text, one.choice.layer, one.choice.head, settings)

    rows: list[dict[str, Any]] = []
    number = 0
    for one, weights in zip(shown, in_order(look, shown, settings.workers), strict=True):
        if weights is not None:
            (probe, variant, label), layer, head = one.choice.question, one.choice.layer, one.choice.head
            shared = {"example": number, "probe": probe, "label": label, "variant": variant, "split": "report"}
            shared |= {"layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
            shared |= {"source": name_of(one.text)} | shown_words(one.text)
            rows.extend(shared | arc for arc in _arcs(weights, one.targets, one.items))
            number += 1
    return pd.DataFrame(rows)


def shown_words(text: Document) -> dict[str, Any]:
    """Return the words of a text as tables of examples have them; of a pair also where its second text begins."""
    return {"words": list(text.words)} | ({"second": text.second} if text.second else {})


def _asked(pool: Sequence[Document], probe: Probe, choice: Choice) -> Iterator[Example]:
    """Yield the texts that ask the question of a chosen head."""
    _, variant, label = choice.question
    for text in pool:
        targets = probe.targets(text)[variant]
        if items := [i for i, name in enumerate(targets.label) if label in probe.pool(name)]:
            yield Example(choice, text, targets, items)


def _short_texts(texts: Texts, most: int = 2000) -> list[Document]:
    """Return the first short texts with different words, in the order of a hash of these."""
    short: dict[str, Document] = {}
    for chunk in texts.chunks(256):
        for text in chunk:
            if len(text) // len(text.texts) in LENGTHS or len(text.sentences) > 1:
                short.setdefault(" ".join(text.words), text)
        if len(short) >= most:
            break
    return [short[words] for words in sorted(short, key=lambda words: zlib.crc32(words.encode()))]


def head_map(model: Model, text: Document, layer: int, head: int, settings: Settings) -> npt.NDArray[np.float32] | None:
    """Return one head's word-level map [query, key] of a text, None where the model cannot read the text whole."""
    pieces = whole_pieces(model, text)
    if pieces is None:
        return None
    one: npt.NDArray[np.float32] = word_level(model, pieces, settings)[layer, head]
    return one


def whole_pieces(model: Model, text: Document) -> Pieces | None:
    """Return the pieces of a text, None where the model cannot read the text whole."""
    (pieces,) = cut_texts(model, [text])
    return None if len(pieces) > model.max_pieces or pieces.missing() else pieces


def word_level(model: Model, pieces: Pieces, settings: Settings) -> npt.NDArray[np.float32]:
    """Return all word-level maps of one text, [layer, head, query, key]; keys as in `mha.models.maps.merge`.

    Rows of norms are divided by their sums, so that what is drawn are shares with all kinds of maps.
    """
    batch = collate([pieces], reduce=settings.reduce, padding=model.padding)
    layers: list[npt.NDArray[np.float32]] = []

    def keep(layer: int, maps: Tensor) -> None:
        shares = maps[0] / maps[0].sum(-1, keepdim=True).clamp(min=TINY) if settings.maps == "norms" else maps[0]
        layers.append(shares.cpu().numpy())

    settings.stream(model, batch, keep)
    return np.stack(layers)


def _arcs(weights: npt.NDArray[np.float32], targets: Targets, chosen: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the top arc of every query and, of those that are asked, the top three candidates.

    Only arcs to candidates are answers, and only these are marked as asked.
    """
    words = len(weights)
    gold = _keys_of(targets, targets.gold, chosen)
    candidates = _candidates_of(targets, chosen, words)
    view = weights[:, :words].T if targets.by_column else np.roll(weights, 2, axis=1)
    first = 0 if targets.by_column else -2
    for query in range(words):
        order = (np.argsort(-view[query], kind="stable") + first).tolist()
        answers = [key for key in order if key in candidates.get(query, ())][:3]
        for key in answers if order[0] in answers else [order[0], *answers]:
            ends = (key, query) if targets.by_column else (query, key)
            told = {"gold": key in answers and key in gold[query], "scored": key in answers}
            yield {"query": ends[0], "key": ends[1], "weight": float(view[query, key - first])} | told


def _keys_of(targets: Targets, keys: Keys, chosen: Sequence[int]) -> dict[int, set[int]]:
    """Return the keys of every query that the chosen items ask about."""
    found: dict[int, set[int]] = {int(targets.query[i]): set() for i in chosen}
    asked = set(chosen)
    for key, item in zip(keys[0].tolist(), keys[1].tolist(), strict=True):
        if item in asked:
            found[int(targets.query[item])].add(key)
    return found


def _candidates_of(targets: Targets, chosen: Sequence[int], words: int) -> dict[int, set[int]]:
    """Return the candidates of every query that the chosen items ask about."""
    if not isinstance(targets.candidates, str):
        return _keys_of(targets, targets.candidates, chosen)
    every = {*range(words), *((CLS, SEP) if targets.candidates == TOKENS else ())}
    asked = {int(targets.query[i]) for i in chosen}
    return {query: every - {query} if targets.candidates == OTHERS else every for query in asked}
