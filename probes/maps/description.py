"""A head described in one sentence, made of counts alone, and how well the sentence predicts its most attended word.

Rules say which other word a word attends to most. A description is the rule that is right for the most words of the
selection split, and another rule for each of at most EXCEPTIONS parts of speech of the attending word, where that gains
the most. Its accuracy is that on the report split, which had no part in its choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from mha.batches import Batch
from probes.evidence.results import named_heads
from probes.maps.deciles import TAGS, tags_of
from probes.records import Document, IntArray
from probes.scoring.tally import Numbers
from probes.targets import Items

EXCEPTIONS: Final = 3
"Parts of speech of the attending word with a rule of their own, at the most."

GAIN: Final = 0.01
"The part of all words that such a rule must gain on the selection split. The limit is ours."

OFFSETS: Final = (-4, -3, -2, -1, 1, 2, 3, 4)

NEAREST: Final = ("ADJ", "ADP", "ADV", "AUX", "DET", "NOUN", "PRON", "PROPN", "PUNCT", "SCONJ", "VERB")
"Parts of speech whose nearest word, before or after, is a rule."

NONE: Final = -1
"In the place of a word that a rule does not name."

Rule = Callable[[Document], IntArray]
"Returns the other word that each word is said to attend to the most, NONE for none."


def _offset(by: int) -> Rule:
    def rule(text: Document) -> IntArray:
        named = np.arange(len(text)) + by
        return np.where((named >= 0) & (named < len(text)), named, NONE)

    return rule


def _nearest(tag: str, step: int) -> Rule:
    def rule(text: Document) -> IntArray:
        there = np.flatnonzero(np.array([one == tag for one in text.upos], bool))
        words = np.arange(len(text))
        place = np.searchsorted(there, words, "left" if step < 0 else "right") - (step < 0)
        inside = (place >= 0) & (place < len(there))
        return np.where(inside, np.append(there, NONE)[np.where(inside, place, -1)], NONE)

    return rule


def _place(first: bool) -> Rule:
    def rule(text: Document) -> IntArray:
        end = 0 if first else len(text) - 1
        words = np.arange(len(text))
        return np.where(words == end, NONE, end)

    return rule


def _apart(by: int) -> str:
    side = "before" if by < 0 else "after"
    return f"the word {side}" if abs(by) == 1 else f"the word {abs(by)} places {side}"


RULES: Final[Mapping[str, Rule]] = {
    **{_apart(by): _offset(by) for by in OFFSETS},
    "its syntactic head": lambda text: np.asarray(text.heads),
    "the first word": _place(True),
    "the last word": _place(False),
    **{
        f"the nearest {tag} {side}": _nearest(tag, step)
        for tag in NEAREST
        for side, step in (("before", -1), ("after", 1))
    },
}
"What a rule names, in words -> the rule."

NAMES: Final = tuple(RULES)
BASELINE: Final = tuple(range(len(OFFSETS)))
"The rules that are one offset each."


class RulePredictions:
    """An observer that counts how often every rule names a head's most attended word, by part of speech.

    Of several words with exactly the same most attention each is right in its part, so that a head without a preference
    gets what chance gives.
    """

    def __init__(self, layers: int, heads: int) -> None:
        self.hits = np.zeros((len(TAGS), layers, heads, len(RULES)))
        "[tag of the attending word, layer, head, rule]"
        self.n = np.zeros(len(TAGS), np.int64)
        "[tag] Words that attend; those of texts of one word are left out."

    def observe(
        self, documents: Sequence[Document], batch: Batch, items: Sequence[Items] = ()
    ) -> PredictionObservation:
        """Return what counts the hits of a batch."""
        return PredictionObservation(documents, self.hits.shape[1:3])

    def add(self, observation: PredictionObservation) -> None:
        """Add the hits of a batch."""
        self.hits += observation.hits
        self.n += observation.n


class PredictionObservation:
    """What one batch contributes."""

    def __init__(self, documents: Sequence[Document], shape: tuple[int, ...]) -> None:
        """Lay out what the rules name; `shape` is (layers, heads)."""
        longest = max(map(len, documents))
        named = np.full((len(documents), longest, len(RULES)), NONE)
        tags = np.full((len(documents), longest), -1)
        for place, text in enumerate(documents):
            if len(text) > 1:
                named[place, : len(text)] = np.stack([rule(text) for rule in RULES.values()], 1)
                tags[place, : len(text)] = tags_of(text)
        self.named, asks = torch.from_numpy(named), tags >= 0
        "[text, query, rule]"
        self.n = np.bincount(tags[asks], minlength=len(TAGS))
        self.hits = np.zeros((len(TAGS), *shape, len(RULES)))
        self._asks, self._tag = torch.from_numpy(asks), torch.from_numpy(tags[asks])
        lengths = torch.tensor([len(text) for text in documents])
        inside = torch.arange(longest) < lengths[:, None]
        self._others = inside[:, None] & ~torch.eye(longest, dtype=torch.bool)

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Count the hits of a layer."""
        words = self._others.shape[-1]
        values = maps[:, :, :words, :words].cpu().masked_fill(~self._others[:, None], -1)
        best = values.amax(-1, keepdim=True)
        ties = (values == best).sum(-1, keepdim=True)
        named = self.named[:, None].expand(-1, values.shape[1], -1, -1)
        right = (values.gather(-1, named.clamp(min=0)) == best) & (named >= 0)
        asked = (right / ties).permute(0, 2, 1, 3)[self._asks].double()
        sums = torch.zeros(len(TAGS), *asked.shape[1:], dtype=torch.float64)
        self.hits[:, layer] = sums.index_add_(0, self._tag, asked).numpy()


@dataclass(frozen=True)
class Description:
    """The rule of a head, and those of some parts of speech."""

    rule: int
    exceptions: Mapping[int, int]
    "Place in TAGS -> place in NAMES."

    @classmethod
    def of(cls, hits: Numbers, n: int) -> Description:
        """Return the description that the counts [tag, rule] of the `n` words of the selection split give."""
        rule = int(hits.sum(0).argmax())
        gains = hits.max(1) - hits[:, rule]
        most = [int(tag) for tag in np.argsort(-gains, kind="stable")[:EXCEPTIONS]]
        worth = [tag for tag in most if gains[tag] > GAIN * n and TAGS[tag]]
        return cls(rule, {tag: int(hits[tag].argmax()) for tag in worth})

    def hits(self, hits: Numbers) -> float:
        """Return how many words of counts [tag, rule] it is right for."""
        return float(sum(hits[tag, self.exceptions.get(tag, self.rule)] for tag in range(len(hits))))

    def __str__(self) -> str:
        others = "".join(f"; {TAGS[tag]} to {NAMES[rule]}" for tag, rule in self.exceptions.items())
        return f"Words attend most to {NAMES[self.rule]}{others}."


def describe(
    select: RulePredictions, report: RulePredictions, random: tuple[RulePredictions, RulePredictions]
) -> pd.DataFrame:
    """Return a row a head: its description, and its accuracy on the report split.

    `offset_accuracy` is that of the one offset that is best on the selection split. `random_accuracy` is the mean over
    the heads of randomly initialised weights, each described by its own counts (`random`: of both splits).
    """
    layers, heads = select.hits.shape[1:3]
    untrained = [_scored(random[0], random[1], *at)["accuracy"] for at in np.ndindex(layers, heads)]
    rows = [_scored(select, report, *at) for at in np.ndindex(layers, heads)]
    table = pd.DataFrame(named_heads((layers, heads)) | {key: [row[key] for row in rows] for key in rows[0]})
    return table.assign(random_accuracy=float(np.mean(untrained)), n=int(report.n.sum()))


def _scored(select: RulePredictions, report: RulePredictions, layer: int, head: int) -> dict[str, Any]:
    chosen, held_out = select.hits[:, layer, head], report.hits[:, layer, head]
    found, n = Description.of(chosen, int(select.n.sum())), max(int(report.n.sum()), 1)
    offset = int(chosen[:, BASELINE].sum(0).argmax())
    accuracy, baseline = found.hits(held_out) / n, held_out[:, offset].sum() / n
    said = {"description": str(found), "accuracy": accuracy, "offset": NAMES[offset], "offset_accuracy": baseline}
    return said | {"gain": accuracy - baseline}
