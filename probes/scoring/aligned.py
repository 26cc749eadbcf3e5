"""Texts cut into the pieces of a model, and what was left out on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import accumulate

from mha.batches import plan
from mha.models.model import Model
from mha.pieces import Pieces, align
from probes.corpora.corpus import Texts
from probes.minimal_pairs import LeftOut
from probes.records import Document, IntArray
from probes.scoring.hashed_random import draws
from probes.scoring.tally import cluster_blocks

CHUNK = 512
"Texts that are tokenised, or learned from, at a time."


EXAMPLES = 3
"Names that are kept of what is left out for one reason."


@dataclass
class Dropped:
    """What was left out and why: a count and the first few names for every reason."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, left_out: Iterable[LeftOut]) -> Dropped:
        """Count pairs that were left out, each by its reason and source."""
        dropped = cls()
        for one in left_out:
            dropped.add(one.reason, one.source)
        return dropped

    def add(self, reason: str, name: str, count: int = 1) -> None:
        """Count something that was left out."""
        self.counts[reason] = self.counts.get(reason, 0) + count
        names = self.examples.setdefault(reason, [])
        if len(names) < EXAMPLES and name not in names:
            names.append(name)

    def update(self, other: Dropped) -> None:
        """Count what another one counted."""
        for reason, count in other.counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + count
            names = self.examples.get(reason, [])
            self.examples[reason] = list(dict.fromkeys(names + other.examples[reason]))[:EXAMPLES]


UNKNOWN = "are unknown to the model, whose vocabulary lacks a part of them ([UNK])"
BARE = "are nothing but a blank to the model"
SHARED = "begin inside a piece of the word before them, which has its attention"

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
    pads: bool
    "Whether the model may read texts of several lengths in a batch."
    odd: Dropped = field(default_factory=Dropped)
    "Words of the kept texts that are read in a way that a reader should know, by UNKNOWN, BARE and SHARED."

    @classmethod
    def of(cls, model: Model, texts: Texts, places: Places | None = None) -> Aligned:
        """Cut texts into pieces; leave out, and count, what is empty, longer than the model or misread by it.

        Misread is a text with a word that the model takes for one of its special tokens. With `places` the pieces stand
        in the order in which the model reads the words.
        """
        aligned = cls(texts, [], [], [], [], Dropped(), model.padding is not None)
        number = 0
        for chunk in texts.chunks(CHUNK):
            for text, cut in zip(chunk, cut_texts(model, chunk), strict=True):
                if reason := unfit(model, text, cut):
                    aligned.dropped.add(reason, name_of(text))
                else:
                    aligned._remark(model, text, cut)
                    aligned.kept.append(number)
                    aligned.pieces.append(cut if places is None else cut.moved(places(text)))
                    aligned.names.append(text.id)
                    aligned.keys.append(f"{text.id} {name_of(text)}")
                number += 1
        return aligned

    def _remark(self, model: Model, text: Document, cut: Pieces) -> None:
        """Count words that are unknown to the model, a blank to it, or without a piece of their own."""
        unknown = {*cut.word[cut.ids == model.special.get("unk", -1)].tolist(), *cut.lost}
        for reason, words in ((UNKNOWN, unknown), (BARE, cut.bare()), (SHARED, cut.shared)):
            if words:
                self.odd.add(reason, name_of(text), len(words))

    def batches(self, budget: int) -> list[list[int]]:
        """Return batches of indices into `kept`, a function of the set of texts alone."""
        return plan(self.pieces, self.keys, budget, pads=self.pads)

    def blocks(self) -> dict[str, int]:
        """Return the cluster block of every document id."""
        return cluster_blocks(self.names)


def cut_texts(model: Model, texts: Sequence[Document]) -> list[Pieces]:
    """Return the pieces of texts, as `mha.pieces.align` does, read with the blanks that they were written with."""
    spaces, seconds = [text.space_after for text in texts], [text.second for text in texts]
    return align(model.tokenizer, [text.words for text in texts], spaces, seconds)


def unfit(model: Model, text: Document, cut: Pieces) -> str:
    """Return why the model cannot read a text, "" where it can."""
    if len(text) == 0:
        return "text without words"
    if text.second and model.pairs.refused:
        return model.pairs.refused
    if len(cut) > model.max_pieces:
        return f"longer than the model ({model.max_pieces} pieces)"
    wrong = cut.misread(model.special)
    return f"{text.words[wrong[0]]!r} is a special token to the model, not a word" if wrong else ""


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
