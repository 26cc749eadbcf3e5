"""What one head attends to, as something that a model is read for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mha.causal.resume import skipped
from mha.encoder.encoder import Entry
from mha.hooks import watch
from mha.models.model import Model
from mha.watches import Seen


@dataclass(frozen=True)
class HeadPattern:
    """A `Reader` of the attention of one head: what heads of the layers below change of it can be swept."""

    model: Model
    layer: int
    "Index of the layer, from 0."
    head: int
    "Index of the head, from 0."

    @property
    def module(self) -> nn.Module:
        """What makes the attention calls."""
        return self.model.module

    def arithmetic(self) -> AbstractContextManager[object]:
        """Return the context in which the model computes."""
        return self.model.arithmetic()

    def read(
        self,
        ids: Int[Tensor, "batch piece"],
        real: Bool[Tensor, "batch piece"] | None,
        selected: Int[Tensor, " chosen"] | None,
        entry: Entry | None = None,
    ) -> Float[Tensor, "batch piece piece"]:
        """Return the head's attention after softmax, [batch, query, key]; `selected` is not heard.

        A pass that would be entered in the head's layer or above it is made from the lowest layer on: the head sees
        nothing of what is changed there.
        """
        entry = None if entry is not None and entry.layer >= self.layer else entry
        found: list[Tensor] = []

        def look(seen: Seen) -> None:
            found.append(seen.tensor[:, self.head])

        first = skipped() if entry is None else entry.layer + 1
        with watch(self.module, look, ["pattern"], [self.layer], first=first):
            self.model.read(ids, real, None, entry)
        return found[0]
