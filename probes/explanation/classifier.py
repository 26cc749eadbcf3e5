"""A classifier that attends: additive attention over vectors of pieces, and a logistic regression on their mean."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

HIDDEN, EPOCHS, BATCH, RATE, DECAY = 64, 12, 32, 3e-3, 1e-3
"Size of the hidden layer, passes over the sentences, sentences a step, and learning rate and weight decay (AdamW)."

Attention = Float[Tensor, "sentence piece"]
"Weights of the pieces of each sentence; rows sum to 1, padding has 0."


@dataclass(frozen=True)
class AttentionDecisions:
    """What a trained classifier made of sentences: its log-odds are a weighted mean of one number a piece."""

    attention: Attention
    scores: Float[Tensor, "sentence piece"]
    "The log-odds if a piece had all the attention."
    real: Bool[Tensor, "sentence piece"]

    def odds(self, attention: Attention) -> Float[Tensor, " sentence"]:
        """Return the log-odds with another attention over the same vectors."""
        return (attention * self.scores).sum(-1)

    def output(self, attention: Attention) -> Float[Tensor, " sentence"]:
        """Return the probability of the plural with another attention over the same vectors."""
        return torch.sigmoid(self.odds(attention))


class AttentionClassifier(nn.Module):
    """tanh attention as in Bahdanau et al. 2015, over frozen vectors (Jain and Wallace 2019, section 2).

    With `tokens` the vectors first go through a hidden layer, each by itself, and attention is given from outside: the
    model of Wiegreffe and Pinter 2019, section 3.4.
    """

    def __init__(self, size: int, *, tokens: bool = False) -> None:
        """Create a classifier of vectors of `size`, from torch's random state."""
        super().__init__()
        self.token = nn.Linear(size, HIDDEN) if tokens else None
        self.hidden, self.query = nn.Linear(size, HIDDEN), nn.Linear(HIDDEN, 1, bias=False)
        self.output = nn.Linear(HIDDEN if tokens else size, 1)

    def forward(
        self, vectors: Float[Tensor, "sentence piece size"], real: Bool[Tensor, "sentence piece"]
    ) -> AttentionDecisions:
        """Return attention, and what each piece says."""
        scores = self.query(torch.tanh(self.hidden(vectors))).squeeze(-1)
        attention = scores.masked_fill(~real, -torch.inf).softmax(-1)
        told = vectors if self.token is None else torch.tanh(self.token(vectors))
        return AttentionDecisions(attention, self.output(told).squeeze(-1), real)


@dataclass(frozen=True)
class TrainedClassifier:
    """A classifier with what it standardises states by: their mean and spread in the sentences it was trained on."""

    classifier: AttentionClassifier
    mean: Float[Tensor, " size"]
    spread: Float[Tensor, " size"]

    def __call__(
        self, states: Float[Tensor, "sentence piece size"], real: Bool[Tensor, "sentence piece"]
    ) -> AttentionDecisions:
        """Return what it makes of states."""
        decisions: AttentionDecisions = self.classifier((states - self.mean) / self.spread, real)
        return decisions

    @classmethod
    def fitted(
        cls,
        states: Float[Tensor, "sentence piece size"],
        real: Bool[Tensor, "sentence piece"],
        plural: Float[Tensor, " sentence"],
        seed: int,
        attention: Attention | None = None,
    ) -> TrainedClassifier:
        """Train a classifier on states, as `fit` does."""
        mean, spread = states[real].mean(0), states[real].std(0) + 1e-6
        return cls(fit((states - mean) / spread, real, plural, seed, attention), mean, spread)


def uniform(real: Bool[Tensor, "sentence piece"]) -> Attention:
    """Return the same attention for all pieces of a sentence."""
    return real / real.sum(-1, keepdim=True)


def fit(
    vectors: Float[Tensor, "sentence piece size"],
    real: Bool[Tensor, "sentence piece"],
    plural: Float[Tensor, " sentence"],
    seed: int,
    attention: Attention | None = None,
    *,
    tokens: bool = False,
) -> AttentionClassifier:
    """Train a classifier; with `attention`, which then stands in the place of its own and is not trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        classifier = AttentionClassifier(vectors.shape[-1], tokens=tokens)
        optimiser = torch.optim.AdamW(classifier.parameters(), lr=RATE, weight_decay=DECAY)
        for _ in range(EPOCHS):
            for chosen in torch.split(torch.randperm(len(vectors)), BATCH):
                found = classifier(vectors[chosen], real[chosen])
                weights = found.attention if attention is None else attention[chosen]
                loss = F.binary_cross_entropy_with_logits(found.odds(weights), plural[chosen])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch has no types for it
                optimiser.step()
    return classifier.eval()


def accuracy(odds: Float[Tensor, " sentence"], plural: Float[Tensor, " sentence"]) -> float:
    """Return the share of sentences that are decided right, in [0, 1]."""
    return float(((odds > 0) == (plural > 0)).float().mean())
