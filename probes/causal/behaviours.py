"""What a model does, a number an item, so that it can be compared with what it does without some of its heads.

Higher is better in every behaviour: the log-probability of masked pieces, by how much the right one of two sentences is
preferred, and how near a text's embedding stays to what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from mha.batches import padded, plan
from mha.causal.sweep import ModelReader, TextBatch
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from mha.parallel import in_order
from mha.pieces import Pieces
from probes.minimal_pairs import Item, Kind, LeftOut
from probes.pairs.scores import AUTO, NEAR, prompted_pairs
from probes.scoring.aligned import Aligned
from probes.scoring.hashed_random import draws, random_bits

RATE = 0.15
"Share of a text's pieces that are masked to measure the loss (Devlin et al. 2019, section 3.1); at least one is."

BATCH_PIECES = 512
"Pieces of a batch, of which copies are read side by side."


class BehaviourError(ValueError):
    """A behaviour that cannot be measured."""


@dataclass(frozen=True)
class Prompt:
    """One text that the model reads, what it is asked there, and the item that the answer belongs to."""

    text: Pieces
    item: int
    places: tuple[int, ...] = ()
    "Pieces at which it is asked; none where it is asked for its embedding."
    wanted: tuple[int, ...] = ()
    "Piece of the vocabulary whose log-probability is asked at each place."
    weights: tuple[float, ...] = ()
    "What each log-probability counts in the value of the item."
    numbers: tuple[float, ...] = ()
    "What a regression should answer."


@dataclass(frozen=True)
class Behaviour:
    """Items that a model is asked about; the value of an item is the sum over its texts."""

    name: str
    unit: str
    reader: ModelReader
    prompts: Sequence[Prompt]
    clusters: tuple[str, ...]
    "[item] The document or template of each item."
    kinds: tuple[Kind, ...] = ()
    "[item] What minimal pairs are about; nothing for other behaviours."
    left_out: tuple[LeftOut, ...] = ()

    below: int | None = None
    "Heads of layers from this one on, from 0, have no part in the behaviour; None where all have."

    @property
    def decides(self) -> bool:
        """Whether an item is right where its value is above 0: accuracy is told beside the value."""
        return bool(self.kinds)

    @property
    def beside(self) -> Mapping[str, str]:
        """What is measured beside the value, as `numbers` gives it -> its unit."""
        return {}

    @property
    def distance(self) -> bool:
        """Whether the value tells how near the model stays to itself: a change can make it lower and nothing else."""
        return False

    @property
    def share(self) -> bool:
        """Whether the mean value is a share of gold answers."""
        return False

    @property
    def rounding(self) -> float:
        """By how much a number of an item can change, in its unit, where nothing but rounding differs."""
        return NEAR

    @cached_property
    def order(self) -> list[int]:
        """Texts by length and content: neighbours are alike in length, whatever batches are made."""
        return sorted(
            range(len(self.prompts)), key=lambda i: (len(self.prompts[i].text), self.prompts[i].text.ids.tobytes())
        )

    def donors(self, batch: Sequence[int]) -> list[int]:
        """Return for each text one of another item and of like length, whatever batch or order the texts are in.

        It is the next of `order` that has other pieces, or the nearest before it at the end. Texts of one item (a
        sentence with one piece masked after the other) are no donors of each other. Raises BehaviourError where there
        is none.
        """
        return [self._donors[i] for i in batch]

    @cached_property
    def _donors(self) -> dict[int, int]:
        last, found = len(self.order), {}
        for rank, i in enumerate(self.order):
            others = (self.order[place] for place in chain(range(rank + 1, last), range(rank - 1, -1, -1)))
            donor = next((other for other in others if self._apart(i, other)), None)
            if donor is None:
                raise BehaviourError(f"{self.name}: resampling takes another text for every one, and there is none")
            found[i] = donor
        return found

    def _apart(self, one: int, other: int) -> bool:
        text, donor = self.prompts[one], self.prompts[other]
        return text.item != donor.item and not np.array_equal(text.text.ids, donor.text.ids)

    def batches(self, budget: int) -> list[list[int]]:
        """Return batches of texts of at most `budget` pieces; they do not depend on the order of the texts."""
        texts = [one.text for one in self.prompts]
        return plan(texts, [""] * len(texts), budget, pads=self.padding is not None)

    def texts(self, batch: Sequence[int]) -> TextBatch:
        """Return a batch as the model reads it."""
        asked = [self.prompts[i] for i in batch]
        return text_batch([one.text for one in asked], [one.places for one in asked], self.padding)

    @property
    def padding(self) -> int | None:
        """Piece of padding, None for a model whose texts are read without."""
        reader: Any = self.reader
        padding: int | None = reader.padding if isinstance(reader, Model) else reader.model.padding
        return padding

    def measured(
        self,
        work: Callable[[Sequence[int]], Float[Tensor, "row text"]],
        rows: int,
        pieces: int = BATCH_PIECES,
        step: Callable[[int], None] = lambda texts: None,
    ) -> Float[Tensor, "row item"]:
        """Return the sums over the texts of each item of what `work` gives for a batch, in double precision.

        `pieces` are those of a batch, and `step` is told how many texts were read.
        """
        total = torch.zeros(rows, len(self.clusters), dtype=torch.float64)
        batches = self.batches(pieces)
        for batch, found in zip(batches, in_order(work, batches), strict=True):
            item = torch.tensor([self.prompts[i].item for i in batch])
            total.index_add_(1, item, found.cpu().double())
            step(len(batch))
        return total

    def values(
        self, batch: Sequence[int], texts: TextBatch, output: Float[Tensor, "variant ..."], intact: Tensor
    ) -> Float[Tensor, "variant text"]:
        """Return the value of each text of a batch, on the device of what the model gives, changed and unchanged."""
        raise NotImplementedError

    def numbers(
        self, batch: Sequence[int], texts: TextBatch, output: Float[Tensor, "variant ..."], intact: Tensor
    ) -> Float[Tensor, "variant measure text"]:
        """Return the value of each text and what is measured `beside` it, in this order."""
        return self.values(batch, texts, output, intact)[:, None]


def text_batch(texts: Sequence[Pieces], places: Sequence[Sequence[int]], padding: int | None) -> TextBatch:
    """Return texts as a model reads them, padded at the end, to be asked at the `places` of each."""
    ids, real = padded(texts, padding)
    chosen = [row * ids.shape[1] + place for row, of in enumerate(places) for place in of]
    return TextBatch(ids, real, torch.tensor(chosen) if chosen else None)


@dataclass(frozen=True)
class Predictions(Behaviour):
    """What a masked language model predicts at masked places."""

    def values(self, batch: Sequence[int], texts: TextBatch, output: Tensor, intact: Tensor) -> Tensor:
        """Return the weighted sum of each text's log-probabilities, in nats."""
        return self._summed(batch, self._wanted(batch, output) - output.logsumexp(-1))

    def _wanted(self, batch: Sequence[int], output: Tensor) -> Float[Tensor, "variant chosen"]:
        """Return the logits of what is wanted."""
        wanted = torch.tensor([piece for i in batch for piece in self.prompts[i].wanted]).to(output.device)
        return output.gather(2, wanted.expand(len(output), -1)[..., None])[..., 0]

    def _summed(self, batch: Sequence[int], found: Float[Tensor, "variant chosen"]) -> Float[Tensor, "variant text"]:
        """Return the weighted sum of a number for each wanted piece."""
        asked = [self.prompts[i] for i in batch]
        text = torch.tensor([row for row, one in enumerate(asked) for _ in one.wanted]).to(found.device)
        weights = torch.tensor([weight for one in asked for weight in one.weights]).to(found)
        return found.new_zeros(len(found), len(asked)).index_add(1, text, found * weights)


@dataclass(frozen=True)
class Embedding(Behaviour):
    """How near the embedding of a text, the mean of its pieces' vectors, stays to what it is with all heads."""

    @property
    def distance(self) -> bool:
        """Heads can but take it away from what it is."""
        return True

    @property
    def rounding(self) -> float:
        """That of cosines."""
        return NEAR / 10

    def values(self, batch: Sequence[int], texts: TextBatch, output: Tensor, intact: Tensor) -> Tensor:
        """Return the cosine of each text's embedding with the intact one, in [-1, 1]."""
        return F.cosine_similarity(embeddings(output, texts), embeddings(intact, texts), dim=-1)


def embeddings(vectors: Float[Tensor, "*variant batch piece model"], texts: TextBatch) -> Tensor:
    """Return the mean of the vectors of each text's pieces, special ones included (Reimers and Gurevych 2019, 3)."""
    if texts.real is None:
        return vectors.mean(-2)
    real = texts.real.to(vectors)[..., None]
    return (vectors * real).sum(-2) / real.sum(-2)


def sentence_embeddings(model: Model, aligned: Aligned) -> Embedding:
    """Return the behaviour of a model without a masked-LM head: an item a text, with its document as the cluster."""
    asked = [Prompt(text, item) for item, text in enumerate(aligned.pieces)]
    return Embedding("sentence embedding", "cosine with the intact embedding", model, asked, tuple(aligned.names))


def masked_pieces(lm: MaskedLM, aligned: Aligned, *, rate: float = RATE, seed: int = 0) -> Predictions:
    """Return the masked-LM loss, with its sign turned: the mean log-probability of a text's masked pieces, in nats.

    Which are masked is decided by `seed` and the text's id. Each is replaced by the mask.
    """
    asked = []
    for item, (text, key) in enumerate(zip(aligned.pieces, aligned.keys, strict=True)):
        places = _drawn(text, rate, key, seed)
        ids = text.ids.copy()
        ids[list(places)] = lm.mask
        wanted = tuple(text.ids[list(places)].tolist())
        weights = (1 / len(places),) * len(places)
        asked.append(Prompt(replace(text, ids=ids), item, places, wanted, weights))
    return Predictions("masked-LM loss", "nats a masked piece", lm, asked, tuple(aligned.names))


def _drawn(text: Pieces, rate: float, key: str, seed: int) -> tuple[int, ...]:
    places = np.flatnonzero(text.word >= 0)
    bits = random_bits(np.array(draws(seed, "masked", key)[:1], np.uint64), places)
    count = max(1, round(rate * len(places)))
    return tuple(sorted(places[np.argsort(bits, kind="stable")[:count]].tolist()))


def preferences(lm: MaskedLM, name: str, items: Sequence[Item], *, method: str = AUTO) -> Predictions:
    """Return minimal pairs as a behaviour: by how many nats the right sentence is preferred to the wrong one.

    `method` and what is left out are those of `probes.pairs.scores.decide`.
    """
    asked: list[Prompt] = []
    clusters: list[str] = []
    kinds: list[Kind] = []
    left_out: list[LeftOut] = []
    for pair in prompted_pairs(lm, items, method):
        if isinstance(pair, LeftOut):
            left_out.append(pair)
            continue
        for question, weights in pair.weighted():
            places = (question.place,) * len(question.wanted)
            asked.append(Prompt(question.text, len(clusters), places, question.wanted, weights))
        clusters.append(pair.pair.source)
        kinds.append(pair.pair.kind)
    if not clusters:
        raise BehaviourError(f"{name}: the model can be asked none of the {len(left_out)} pairs")
    unit = "nats between the two sentences"
    return Predictions(name, unit, lm, asked, tuple(clusters), tuple(kinds), tuple(left_out))
