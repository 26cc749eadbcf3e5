"""The task that is to be explained: the number of the main subject, in sentences whose verb is masked.

Else one word would tell the answer: the verb.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mha.batches import collate
from mha.models.circuits import encoder_of
from mha.models.masked_prediction import hidden_piece
from mha.models.model import Model
from mha.models.packages import ModelError
from mha.pieces import Pieces, align
from probes.pairs.number_swaps import NumberSwap, number_swapped

BATCH = 64

LONGEST = 20
"Words of the longest sentence."

MAIN = "main clause"
"The condition of subjects that are asked about: a sentence has one of them."


@dataclass(frozen=True)
class SubjectNumberTask:
    """Sentences with their states, padded; pieces of words alone, [CLS] and [SEP] are left out."""

    states: Float[Tensor, "sentence piece model"]
    "Of the last layer, frozen; 0 at padding."
    embeddings: Float[Tensor, "sentence piece size"]
    "Of the pieces by themselves, without position or context."
    real: Bool[Tensor, "sentence piece"]
    plural: Float[Tensor, " sentence"]
    "1 where the main subject is plural, else 0."
    texts: tuple[Pieces, ...] = ()
    "What the model read, the verb masked; empty where states were made without a model."

    def take(self, indices: Tensor) -> SubjectNumberTask:
        """Return some of the sentences."""
        texts = tuple(self.texts[place] for place in indices.tolist()) if self.texts else ()
        return SubjectNumberTask(
            self.states[indices], self.embeddings[indices], self.real[indices], self.plural[indices], texts
        )


@dataclass(frozen=True)
class NumberedSentence:
    """A sentence with a verb that shows the number of its subject."""

    words: tuple[str, ...]
    verb: int
    "Place of the verb."
    plural: bool


def numbered_sentences(count: int, seed: int) -> list[NumberedSentence]:
    """Return sentences with one verb that shows the number of its subject.

    Of every second sentence subject and verb are put into the other number, so that no noun tells the answer.
    """
    found: list[NumberedSentence] = []
    for one in number_swapped(seed):
        if isinstance(one, NumberSwap) and one.kind.condition == MAIN and len(one.clean) <= LONGEST:
            plural = one.kind.number == "plural"
            if len(found) % 2:
                words = list(one.corrupted)
                words[one.verb] = one.wrong
                found.append(NumberedSentence(tuple(words), one.verb, not plural))
            else:
                found.append(NumberedSentence(one.clean, one.verb, plural))
        if len(found) == count:
            break
    return found


@torch.no_grad()
def read_task(model: Model, count: int, seed: int) -> SubjectNumberTask:
    """Have the model read `count` sentences whose verb is masked, by the unknown piece where there is no mask.

    Raises CircuitError for a model that is not of the BERT family.
    """
    model = model.on_cpu()
    encoder = encoder_of(model, "attention as explanation")
    drawn, mask = numbered_sentences(2 * count, seed), hidden_piece(model)
    every = zip(align(model.tokenizer, [one.words for one in drawn]), drawn, strict=True)
    fitting = [(text, one) for text, one in every if len(text) <= model.max_pieces][:count]
    if len(fitting) < count:
        fit = f"{len(fitting)} of {len(drawn)} sentences fit into {model.max_pieces} pieces"
        raise ModelError(f"{model.name}: {fit}, expected {count}")
    pieces = [
        replace(text, ids=np.where(text.word == one.verb, mask, text.ids).astype(text.ids.dtype))
        for text, one in fitting
    ]
    longest = max(map(len, pieces)) - 2
    states = torch.zeros(count, longest, encoder.config.model)
    embeddings = torch.zeros(count, longest, encoder.pieces.embedding_dim)
    real = torch.zeros(count, longest, dtype=torch.bool)
    for start in range(0, count, BATCH):
        batch = collate(pieces[start : start + BATCH], padding=model.padding)
        vectors = model.run(batch.ids, batch.mask)
        for place, text in enumerate(pieces[start : start + BATCH], start):
            size = len(text) - 2
            states[place, :size] = vectors[place - start, 1 : size + 1]
            embeddings[place, :size] = encoder.pieces.weight[batch.ids[place - start, 1 : size + 1]]
            real[place, :size] = True
    plural = torch.tensor([float(one.plural) for _, one in fitting])
    return SubjectNumberTask(states, embeddings, real, plural, tuple(pieces))
