"""A classifier that attends to vectors of pieces, and attention put in its place: permuted, adversarial, erased."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
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


PERMUTATIONS = 100

STEPS, SEARCH_RATE, RESTARTS, PRICE = 200, 0.1, 4, 500.0
"""Of the search for adversaries: steps of Adam, their rate, random starts, and the price of a change of the output
beyond what is allowed (lambda of Jain and Wallace 2019, section 4.2.2)."""


def jensen_shannon(first: Attention, second: Attention) -> Float[Tensor, " sentence"]:
    """Return the Jensen-Shannon divergence of attention in nats, in [0, ln 2]."""
    mean = (first + second) / 2

    def divergence(part: Tensor) -> Tensor:
        nats: Tensor = torch.special.xlogy(part, part.clamp(min=1e-12) / mean.clamp(min=1e-12)).sum(-1)
        return nats

    return (divergence(first) + divergence(second)) / 2


def permuted_change(decisions: AttentionDecisions, generator: torch.Generator) -> Float[Tensor, " sentence"]:
    """Return the median total variation distance of the output where attention is permuted among the pieces.

    Of an output of two classes it is the change of the probability (Jain and Wallace 2019, section 4.2.1).
    """
    before = decisions.output(decisions.attention)
    changes = []
    for _ in range(PERMUTATIONS):
        order = torch.rand(decisions.real.shape, generator=generator).masked_fill(~decisions.real, 2).argsort(-1)
        changes.append((decisions.output(decisions.attention.gather(-1, order)) - before).abs())
    return torch.stack(changes).median(0).values


def adversarial(
    decisions: AttentionDecisions, epsilon: float, generator: torch.Generator
) -> tuple[Attention, Float[Tensor, " sentence"]]:
    """Return the attention that is farthest from the classifier's of those found that keep its output, and how far.

    The Jensen-Shannon divergence is maximised while the output stays within `epsilon` in total variation; where nothing
    is found, it is the classifier's own, at 0 (Jain and Wallace 2019, section 4.2.2, one adversary at a time).
    """
    own, before = decisions.attention, decisions.output(decisions.attention)
    best, farthest = own.clone(), torch.zeros(len(own))
    for _ in range(RESTARTS):
        logits = (2 * torch.randn(own.shape, generator=generator)).requires_grad_()
        optimiser = torch.optim.Adam([logits], lr=SEARCH_RATE)
        for _ in range(STEPS):
            attention = logits.masked_fill(~decisions.real, -torch.inf).softmax(-1)
            distance = jensen_shannon(own, attention)
            change = (decisions.output(attention) - before).abs()
            with torch.no_grad():
                better = (change <= epsilon) & (distance > farthest)
                best[better], farthest[better] = attention[better], distance[better]
            loss = (PRICE * (change - 0.9 * epsilon).clamp(min=0) - distance).sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch has no types for it
            optimiser.step()
    return best, farthest


def flips_without(decisions: AttentionDecisions, piece: Int[Tensor, " sentence"]) -> Tensor:
    """Return where the decision is another without one piece, the attention of the others scaled to sum to 1.

    Serrano and Smith 2019, section 4. [sentence], True where it flips.
    """
    kept = decisions.attention.scatter(-1, piece[:, None], 0)
    left = (kept * decisions.scores).sum(-1)  # to scale does not change the sign
    return (left > 0) != (decisions.odds(decisions.attention) > 0)


def random_piece(decisions: AttentionDecisions, generator: torch.Generator) -> Int[Tensor, " sentence"]:
    """Return a random piece of each sentence other than the most attended one; that itself where there is no other."""
    chance = torch.rand(decisions.real.shape, generator=generator).masked_fill(~decisions.real, -1)
    return chance.scatter(-1, decisions.attention.argmax(-1, keepdim=True), -0.5).argmax(-1)


def erased_before_flip(
    decisions: AttentionDecisions, order: Float[Tensor, "sentence piece"]
) -> Float[Tensor, " sentence"]:
    """Return the share of pieces that are erased, those with the highest `order` first, until the decision flips.

    In (0, 1]; 1 where it never does (Serrano and Smith 2019, section 5).
    """
    first = order.masked_fill(~decisions.real, -torch.inf).argsort(-1, descending=True)
    parts = (decisions.attention * decisions.scores).gather(-1, first).double()
    left = torch.cat([parts.flip(-1).cumsum(-1).flip(-1)[:, 1:], parts.new_zeros(len(parts), 1)], -1)
    count = decisions.real.sum(-1)
    place = torch.arange(1, order.shape[1] + 1)
    flipped = ((left > 0) != (parts.sum(-1, keepdim=True) > 0)) & (place < count[:, None])
    until = torch.where(flipped, place, count[:, None]).amin(-1)
    return until / count
