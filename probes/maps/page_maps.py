"""Every head on a few texts: the strongest keys of each word, and the arcs that the probes would have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from mha.models.model import Model
from mha.pieces import CLS, SEP, Pieces
from probes.evidence.examples import shown_words, whole_pieces, word_level
from probes.records import Document
from probes.registry import Probe
from probes.scoring.aligned import name_of
from probes.scoring.score import Settings

KEYS: Final = 5
"How many keys of each word are kept, its strongest; all where a text has fewer."

STEPS: Final = 255
"Weights are whole multiples of one part in so many."

WORDS_BY_HEADS: Final = 110_000
"Words of all texts times heads that are kept at the most, so that a page with them stays small."


@dataclass
class EveryHead:
    """The attention of all heads of a model on some texts, as `reports.run.sentence_attention` has it."""

    model: Model
    settings: Settings
    most: int
    "Texts that are taken; later ones are left out."
    sentences: list[dict[str, Any]] = field(default_factory=list)
    gold: list[dict[str, Any]] = field(default_factory=list)
    attention: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0
    "Texts that would have been too many, or too long."

    def observe(self, text: Document, probes: Sequence[Probe]) -> None:
        """Take note of what every head does on a text, and what `probes` would have right, unless it is known.

        A text that the model cannot read whole is passed over: scoring has counted it as dropped.
        """
        known = [(one["source"], tuple(one["words"])) for one in self.sentences]
        pieces = whole_pieces(self.model, text)
        if pieces is None or (name_of(text), text.words) in known:
            return
        words = len(text) + sum(len(one["words"]) for one in self.sentences)
        if len(known) == self.most or words * self.model.layers * self.model.heads > WORDS_BY_HEADS:
            self.left_out += 1
            return
        about = {"sentence": len(self.sentences)}
        self.gold += [about | arc for arc in gold_arcs(text, probes)]
        self.attention += [about | row for row in self._strongest(pieces)]
        self.sentences.append(about | {"source": name_of(text)} | shown_words(text) | self._raw(pieces))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables "sentences", "gold" and "attention"; none where no text was kept."""
        if not self.sentences:
            return {}
        arcs = pd.DataFrame(self.gold, columns=["sentence", "probe", "label", "variant", "query", "key"])
        return {"sentences": pd.DataFrame(self.sentences), "gold": arcs, "attention": pd.DataFrame(self.attention)}

    def _raw(self, pieces: Pieces) -> dict[str, Any]:
        """Return the pieces of every word as the tokenizer writes them, and what stands before and after the words."""
        written: dict[int, list[str]] = {word: [] for word in (*range(pieces.words), CLS, SEP)}
        for piece, word in zip(pieces.ids.tolist(), pieces.word.tolist(), strict=True):
            written[word].append(self.model.tokenizer.id_to_token(piece))
        ends = {"before": " ".join(written[CLS]), "after": " ".join(written[SEP])}
        return {"pieces": [written[word] for word in range(pieces.words)]} | ends

    def _strongest(self, pieces: Pieces) -> Iterator[dict[str, Any]]:
        """Yield a row a head: keys and weights of the words one after the other, the strongest key of each first."""
        weights = np.roll(word_level(self.model, pieces, self.settings), 2, axis=-1)  # from SEP = -2 on
        order = np.argsort(-weights, axis=-1, kind="stable")[..., :KEYS]
        kept = np.rint(np.take_along_axis(weights, order, -1) * STEPS).astype(np.uint8)
        keys = (order + SEP).astype(np.int16)
        for layer, head in np.ndindex(weights.shape[:2]):
            about = {"layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
            yield about | {"keys": keys[layer, head].ravel(), "weights": kept[layer, head].ravel()}


def gold_arcs(text: Document, probes: Sequence[Probe]) -> Iterator[dict[str, Any]]:
    """Yield every arc that is right, for every probe, variant and label that counts it, from the attending word.

    Labels without right keys, such as broad attention, have none.
    """
    for probe in probes:
        for variant, targets in probe.targets(text).items():
            found: dict[tuple[str, int, int], None] = {}
            for key, item in zip(targets.gold[0].tolist(), targets.gold[1].tolist(), strict=True):
                query = int(targets.query[item])
                ends = (key, query) if targets.by_column else (query, key)
                found |= {(label, *ends): None for label in probe.pool(targets.label[item])}
            for label, query, key in found:
                yield {"probe": probe.name, "label": label, "variant": variant, "query": query, "key": key}
