"""Heads of a decoder, ablated while it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mha import Ablate, Encoder, intervene

Head = tuple[int, int]
"Layer and head, from 0."


@contextmanager
def ablated(encoder: Encoder, heads: Sequence[Head]) -> Iterator[None]:
    """Replace the outputs of some heads by their means over the texts that are read together."""
    if not heads:
        yield
        return
    with intervene(encoder, *(Ablate(layer, head, how="mean") for layer, head in heads)):
        yield
