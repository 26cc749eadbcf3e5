"""Heads at work: the strongest arcs of chosen heads on a few sentences."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from torch import Tensor

from mha.batches import collate
from mha.maps import stream_maps
from mha.models import Model
from mha.pieces import Pieces, align
from probes.aligned import name_of
from probes.corpora import Texts
from probes.records import Document
from probes.registry import Probe
from probes.scoring import Settings
from probes.tally import Question
from probes.targets import Targets

LENGTHS = range(5, 17)
"Number of words of a sentence that is shown; windows of several sentences may be longer."


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


def example_arcs(
    model: Model, texts: Texts, probes: Sequence[Probe], choices: Sequence[Choice], settings: Settings, each: int = 2
) -> pd.DataFrame:
    """Return the arcs of every chosen head on `each` texts, in the columns of `examples.parquet`.

    Texts are taken by a hash of their words among the short ones that ask the question, whatever the head does on them.
    """
    pool = _short_texts(texts)
    by_name = {probe.name: probe for probe in probes}
    rows: list[dict[str, Any]] = []
    number = 0
    for choice in choices:
        probe, variant, label = by_name[choice.question[0]], choice.question[1], choice.question[2]
        asked = ((text, probe.targets(text)[variant]) for text in pool)
        wanted = ((text, part) for text, part in asked if any(label in probe.pool(name) for name in part.label))
        for text, targets in (pair for pair, _ in zip(wanted, range(each), strict=False)):
            chosen = [i for i, name in enumerate(targets.label) if label in probe.pool(name)]
            weights = head_map(model, text, choice.layer, choice.head, settings)
            if weights is None:
                continue
            shared = {"example": number, "probe": probe.name, "label": label, "variant": variant, "split": "report"}
            shared |= {"layer": choice.layer, "head": choice.head, "name": f"{choice.layer + 1}-{choice.head + 1}"}
            shared |= {"source": name_of(text), "words": list(text.words)}
            rows.extend(shared | arc for arc in _arcs(weights, targets, chosen))
            number += 1
    return pd.DataFrame(rows)


def _short_texts(texts: Texts, most: int = 2000) -> list[Document]:
    short: list[Document] = []
    for chunk in texts.chunks(256):
        short.extend(text for text in chunk if len(text) in LENGTHS or len(text.sentences) > 1)
        if len(short) >= most:
            break
    return sorted(short, key=lambda text: zlib.crc32(" ".join(text.words).encode()))


def head_map(model: Model, text: Document, layer: int, head: int, settings: Settings) -> npt.NDArray[np.float32] | None:
    """Return one head's word-level map [query, key] of a text, None where the model cannot read the text whole."""
    pieces = align(model.tokenizer, [text.words])[0]
    if len(pieces) > model.max_pieces or pieces.missing():
        return None
    maps = word_level(model, pieces, settings)
    one: npt.NDArray[np.float32] = maps[layer, head]
    return one


def word_level(model: Model, pieces: Pieces, settings: Settings) -> npt.NDArray[np.float32]:
    """Return all word-level maps of one text, [layer, head, query, key]; keys as in `mha.maps.merge`."""
    batch = collate([pieces], reduce=settings.reduce, padding=model.padding)
    layers: list[npt.NDArray[np.float32]] = []

    def keep(layer: int, maps: Tensor) -> None:
        layers.append(maps[0].numpy())

    stream_maps(model, batch, keep)
    return np.stack(layers)


def _arcs(weights: npt.NDArray[np.float32], targets: Targets, chosen: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the top arc of every query and the top three of those that are asked."""
    gold: dict[int, set[int]] = {int(targets.query[i]): set() for i in chosen}
    for key, item in zip(targets.gold[0].tolist(), targets.gold[1].tolist(), strict=True):
        if item in set(chosen):
            gold[int(targets.query[item])].add(key)
    words = len(weights)
    view = weights[:, :words].T if targets.by_column else np.roll(weights, 2, axis=1)
    first = 0 if targets.by_column else -2
    for query in range(words):
        order = np.argsort(-view[query], kind="stable")[: 3 if query in gold else 1]
        for place in order.tolist():
            key = place + first
            right = key in gold.get(query, ())
            ends = (key, query) if targets.by_column else (query, key)
            weight = float(view[query, place])
            yield {"query": ends[0], "key": ends[1], "weight": weight, "gold": right, "asked": query in gold}
