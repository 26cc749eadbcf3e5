"""What a study costs on a cluster: a cost model that is fitted to measured shards, and a simulation that tests it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, expm1
from typing import Final, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from probes.scoring.tally import BLOCKS

YEAR: Final = 365.25 * 24 * 3600
"Seconds."


@dataclass(frozen=True)
class Shard:
    """A model that reads texts once, all of whose heads are scored."""

    layers: int
    heads: int
    width: int
    "Size of the vectors between layers; those within feed-forward blocks are four times as large."
    vocabulary: int
    texts: float
    pieces: float
    "Of all texts, special tokens among them."
    squares: float
    "Of the numbers of pieces, summed over texts: entries of one head's maps."

    @property
    def products(self) -> int:
        """Weights of all layers that vectors are multiplied with."""
        return 12 * self.layers * self.width**2

    @property
    def weights(self) -> int:
        """Weights of the model, but for the small ones of biases, norms and positions."""
        return self.products + self.vocabulary * self.width

    @property
    def amounts(self) -> dict[str, float]:
        """What its seconds grow with."""
        return {
            "each shard": 1,
            "each million weights that are loaded": self.weights / 1e6,
            "each thousand texts": self.texts / 1e3,
            "each 10^12 products of the layers": self.pieces * self.products / 1e12,
            "each 10^9 attention weights": self.layers * self.heads * self.squares / 1e9,
        }

    def of_texts(self, count: float) -> Shard:
        """Return the shard that reads so many texts of the same lengths."""
        sizes = (count, self.pieces * count / self.texts, self.squares * count / self.texts)
        return Shard(self.layers, self.heads, self.width, self.vocabulary, *sizes)


@dataclass(frozen=True)
class CostModel:
    """Seconds of a shard on one core, as a sum of what it does; none of the parts is negative."""

    seconds: dict[str, float]
    "By what they are for, see `Shard.amounts`."

    @classmethod
    def fit(cls, shards: Sequence[Shard], seconds: Sequence[float]) -> Self:
        """Return the model with the least squared relative errors on measured shards."""
        measured = np.array(seconds)
        amounts = np.array([[*shard.amounts.values()] for shard in shards])
        parts, _ = nnls(amounts / measured[:, None], np.ones(len(measured)))
        return cls(dict(zip(shards[0].amounts, parts.tolist(), strict=True)))

    def predict(self, shard: Shard) -> float:
        """Return the seconds of a shard on one core."""
        return sum(self.seconds[what] * amount for what, amount in shard.amounts.items())

    def most_texts(self, shard: Shard, seconds: float) -> float:
        """Return how many texts such a shard reads in so many seconds; at least one."""
        one, two = (self.predict(shard.of_texts(count)) for count in (1, 2))
        return max((seconds - one) / (two - one) + 1, 1)


def left_out_errors(shards: Sequence[Shard], seconds: Sequence[float]) -> list[float]:
    """Return for each shard how far the model that is fitted to all others is off: 0.1 for a tenth too much."""
    errors = []
    for place, shard in enumerate(shards):
        others = [number for number in range(len(shards)) if number != place]
        model = CostModel.fit([shards[number] for number in others], [seconds[number] for number in others])
        errors.append(model.predict(shard) / seconds[place] - 1)
    return errors


@dataclass(frozen=True)
class Cluster:
    """Who does the shards."""

    workers: int
    life: float
    "Mean seconds until a worker is lost; the time to its loss is exponential."
    restart: float
    "Seconds until a lost worker is back."
    retries: int = 2
    "How often a shard is begun again, see `ClusterSection`."


@dataclass(frozen=True)
class Plan:
    """What a study takes on a cluster."""

    shards: int
    each: float
    "Seconds of a shard on one core."
    seconds: float
    "From the first shard to the last."
    given_up: float
    "Shards that are expected to be lost more often than they are begun again."

    @property
    def core_years(self) -> float:
        """Work of all shards on one core."""
        return self.shards * self.each / YEAR


def plan(models: int, one: Shard, model: CostModel, cluster: Cluster, each: float) -> Plan:
    """Return the plan of a study in which so many `models` read the texts of `one`, in shards of about `each` seconds.

    A shard of s seconds whose worker is lost at a rate r a second, and back after R seconds, takes
    (exp(r s) - 1) (1 / r + R) seconds of a worker on average until it is done (a renewal argument); all of them are
    divided by the workers, and the last one is waited for.
    """
    parts = ceil(one.texts / model.most_texts(one, each))
    shards, seconds = parts * models, model.predict(one.of_texts(one.texts / parts))
    lost = expm1(seconds / cluster.life)
    needed = lost * (cluster.life + cluster.restart)
    given_up = shards * (lost / (1 + lost)) ** (cluster.retries + 1)
    return Plan(shards, seconds, max(shards / cluster.workers, 1) * needed + seconds / 2, given_up)


@dataclass(frozen=True)
class Simulated:
    """How the shards of a study went on a cluster that was simulated."""

    seconds: float
    "From the first shard to the last."
    given_up: int
    "Shards that were lost more often than they are begun again."


def simulate(seconds: npt.NDArray[np.float64], cluster: Cluster, seed: int) -> Simulated:
    """Have workers take shards of so many `seconds`, one after the other, and lose some of them."""
    random = np.random.default_rng(seed)
    free = [(0.0, worker) for worker in range(cluster.workers)]
    ends = random.exponential(cluster.life, cluster.workers)
    waiting, end, given_up = [(shard, 0) for shard in range(len(seconds) - 1, -1, -1)], 0.0, 0
    while waiting:
        shard, tries = waiting.pop()  # a lost one comes back at once here, in truth when its worker is lost
        now, worker = heapq.heappop(free)
        done = now + seconds[shard]
        if done <= ends[worker]:
            end = max(end, done)
        else:
            done = ends[worker] + cluster.restart
            ends[worker] = done + random.exponential(cluster.life)
            if tries < cluster.retries:
                waiting.append((shard, tries + 1))
            else:
                given_up += 1
        heapq.heappush(free, (done, worker))
    return Simulated(end, given_up)


def sums_bytes(shard: Shard, questions: int) -> int:
    """Return the bytes of the sums that are kept: of each question and block two a head, and 16 for its number and n.

    A question without more than 255 hits in any block takes one byte a head; one with more than 65,535, or with hits
    shared between keys of the same weight, eight.
    """
    return (2 * shard.layers * shard.heads + 16) * questions * min(ceil(shard.texts), BLOCKS)
