"""Texts cut into the pieces of a model, and what was left out on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import accumulate

from mha.batches import plan
from mha.models.model import Model
from mha.pieces import Pieces, align
from probes.corpora.corpus import Texts
from probes.records import Document, IntArray
from probes.scoring.hashed_random import draws
from probes.scoring.tally import cluster_blocks

CHUNK = 512
"Texts that are tokenised, or learned from, at a time."


@dataclass
class Dropped:
    """What was left out and why: a count and the first few names for every reason."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, name: str, count: int = 1) -> None:
        """Count something that was left out."""
        self.counts[reason] = self.counts.get(reason, 0) + count
        names = self.examples.setdefault(reason, [])
        if len(names) < 3 and name not in names:
            names.append(name)

    def update(self, other: Dropped) -> None:
        """Count what another one counted."""
        for reason, count in other.counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + count
            names = self.examples.get(reason, [])
            self.examples[reason] = list(dict.fromkeys(names + other.examples[reason]))[:3]


Places = Callable[[Document], IntArray]
"Says where each word of a text stands when the model reads it."


@dataclass(frozen=True)
class Aligned:
    """Texts with their pieces, ready for batches."""

    texts: Texts
    kept: list[int]
    "Indices of the texts that the model can read."
    pieces: list[Pieces]
    "Of the kept texts."
    names: list[str]
    "Document ids of the kept texts."
    keys: list[str]
    "Ids of document and first sentence of the kept texts: they order texts of the same pieces."
    dropped: Dropped

    @classmethod
    def of(cls, model: Model, texts: Texts, places: Places | None = None) -> Aligned:
        """Cut texts into pieces; leave out, and count, what is empty or longer than the model.

        With `places` the pieces stand in the order in which the model reads the words.
        """
        aligned = cls(texts, [], [], [], [], Dropped())
        number = 0
        for chunk in texts.chunks(CHUNK):
            for text, cut in zip(chunk, align(model.tokenizer, [text.words for text in chunk]), strict=True):
                if len(text) == 0:
                    aligned.dropped.add("text without words", name_of(text))
                elif len(cut) > model.max_pieces:
                    aligned.dropped.add(f"longer than the model ({model.max_pieces} pieces)", name_of(text))
                else:
                    aligned.kept.append(number)
                    aligned.pieces.append(cut if places is None else cut.moved(places(text)))
                    aligned.names.append(text.id)
                    aligned.keys.append(f"{text.id} {name_of(text)}")
                number += 1
        return aligned

    def batches(self, budget: int) -> list[list[int]]:
        """Return batches of indices into `kept`, a function of the set of texts alone."""
        return plan(self.pieces, self.keys, budget)

    def blocks(self) -> dict[str, int]:
        """Return the cluster block of every document id."""
        return cluster_blocks(self.names)


def name_of(text: Document) -> str:
    """Return the id of a text's first sentence, or of its document."""
    return text.sentences[0].id if text.sentences else text.id


def sample_texts(texts: Texts, count: int, words: int | None = None) -> list[Document]:
    """Return `count` texts, or all where there are fewer: those with the smallest hash of their ids, in that order.

    With `words` the first of these that have no more words together; one at the least.
    """
    every = (text for chunk in texts.chunks(CHUNK) for text in chunk)
    found = nsmallest(count, every, key=lambda text: draws("sample", text.id, name_of(text)))
    if words is None:
        return found
    total = accumulate(map(len, found))
    return [text for place, (text, so_far) in enumerate(zip(found, total, strict=True)) if so_far <= words or not place]
