"""What is measured of a classifier's decisions: how well it knows the labels of rows, the right choices, or numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from mha.batches import plan
from probes.causal.behaviours import Behaviour, BehaviourError, Predictions
from reports.tables.shared_columns import ACCURACY, LOGIT

Score = Callable[[Float[Tensor, "row label"], Int[Tensor, " row"]], Float[Tensor, " row"]]
"What a user measures of logits, given the numbers of the gold labels; higher is better."


@dataclass(frozen=True)
class Labels(Predictions):
    """How well a classifier knows the gold labels: their log-probability or `score`, accuracy, and logit difference."""

    score: Score | None = None

    def values(self, batch: Sequence[int], texts: Any, output: Tensor, intact: Tensor) -> Tensor:
        """Return the log-probability of each text's labels in nats, or their score; raises BehaviourError."""
        if self.score is None:
            return super().values(batch, texts, output, intact)
        wanted = torch.tensor([label for i in batch for label in self.prompts[i].wanted]).to(output.device)
        found: Any = self.score(output.flatten(0, 1), wanted.repeat(len(output)))
        given = tuple(found.shape) if isinstance(found, Tensor) else found
        if given != (rows := (len(output) * len(wanted),)):
            raise BehaviourError(f"score: expected a tensor {rows}, a number for each gold label, got {given}")
        return self._summed(batch, found.view(output.shape[:2]).to(output))  # also of another dtype, such as bool

    def _summed(self, batch: Sequence[int], found: Tensor) -> Tensor:
        """Return sums over the words of each text, divided by the mean number of words of all texts that are asked."""
        return super()._summed(batch, found) * len(self.prompts) / sum(len(one.wanted) for one in self.prompts)

    @property
    def beside(self) -> dict[str, str]:
        """Accuracy, and the logit of the gold label less the mean of the others: what moves all alike is nothing."""
        return {ACCURACY: "share of labels", LOGIT: "logits"}

    def numbers(self, batch: Sequence[int], texts: Any, output: Tensor, intact: Tensor) -> Tensor:
        """Return log-probability, share that is right, logit difference; of n labels that tie each counts 1 / n."""
        logit, best = self._wanted(batch, output), output.amax(-1)
        right = (logit == best) / (output == best[..., None]).sum(-1)
        others = (output.sum(-1) - logit) / (output.shape[-1] - 1)
        value = self.values(batch, texts, output, intact)
        return torch.stack([value, *(self._summed(batch, one) for one in (right, logit - others))], 1)


@dataclass(frozen=True)
class SeveralLabels(Behaviour):
    """How well a classifier knows which of its labels each text has, and which it does not have."""

    @property
    def beside(self) -> dict[str, str]:
        """Accuracy, and the logit of labels that are there, or minus that of others."""
        return {ACCURACY: "share of labels", LOGIT: "logits"}

    def values(self, batch: Sequence[int], texts: Any, output: Tensor, intact: Tensor) -> Tensor:
        """Return the log-probability of each text's labels, there or not, in nats a label."""
        return self.numbers(batch, texts, output, intact)[:, 0]

    def numbers(self, batch: Sequence[int], texts: Any, output: Tensor, intact: Tensor) -> Tensor:
        """Return means over labels: log-probability, share that is right (0 counts half), and logit with its sign."""
        there = torch.full(output.shape[1:], -1.0)
        for row, i in zip(there, batch, strict=True):
            row[list(self.prompts[i].wanted)] = 1
        toward = output * there.to(output)
        return torch.stack([one.mean(-1) for one in (F.logsigmoid(toward), (toward.sign() + 1) / 2, toward)], 1)


@dataclass(frozen=True)
class Choices(Labels):
    """How well a model knows which choice of each row is right: a prompt is a choice, `wanted` of the right one."""

    def batches(self, budget: int) -> list[list[int]]:
        """Return batches in which all choices of a row are together."""
        of_item: dict[int, list[int]] = {}
        for i, one in enumerate(self.prompts):
            of_item.setdefault(one.item, []).append(i)
        rows = [*of_item.values()]
        longest = [max((self.prompts[i].text for i in row), key=len) for row in rows]
        planned = plan(longest, [""] * len(rows), budget // max(map(len, rows)), pads=self.padding is not None)
        return [[*chain.from_iterable(rows[number] for number in batch)] for batch in planned]

    def values(self, batch: Sequence[int], texts: Any, output: Tensor, intact: Tensor) -> Tensor:
        """Return the log-probability of the right choice of each row, in nats, at that choice; 0 at others."""
        return self.numbers(batch, texts, output, intact)[:, 0]

    def numbers(self, batch: Sequence[int], texts: Any, output: Tensor, intact: Tensor) -> Tensor:
        """Return log-probability, whether it is right, and logit difference of each row, at its right choice."""
        items = [self.prompts[i].item for i in batch]
        found = output.new_zeros(len(output), 3, len(batch))
        for place in (place for place, i in enumerate(batch) if self.prompts[i].wanted):
            logits = output[:, [other for other, item in enumerate(items) if item == items[place]], 0]
            gold = output[:, place, 0]
            tied = (logits == logits.amax(1, keepdim=True)).sum(1)
            others = (logits.sum(1) - gold) / (logits.shape[1] - 1)
            numbers = (gold - logits.logsumexp(1), (gold == logits.amax(1)) / tied, gold - others)
            found[:, :, place] = torch.stack(numbers, 1)
        return found


@dataclass(frozen=True)
class Regression(Behaviour):
    """How near the numbers that a model gives to a text, one or several, are to the right ones."""

    def values(self, batch: Sequence[int], texts: Any, output: Tensor, intact: Tensor) -> Tensor:
        """Return minus the squared error of each text, the mean over its numbers."""
        gold = torch.tensor([self.prompts[i].numbers for i in batch]).to(output)
        return -((output - gold) ** 2).mean(-1)

    @property
    def rounding(self) -> float:
        """That of squares as large as the right numbers have."""
        return super().rounding / 10 * max(number**2 for one in self.prompts for number in one.numbers)
