"""Pairs of texts written by a rule: the second has the words of the first in another order, and one of its own."""

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np

from probes.records import Document, Sentence

LETTERS = "abcdefghijklmnop"


def text_pair(first: Sequence[str], second: Sequence[str], name: str = "p") -> Document:
    """Return a pair of texts, or the first alone, as one sentence without trees."""
    n = len(first) + len(second)
    return Document(
        name, (Sentence(name, (*first, *second), np.full(n, -1), ("",) * n, second=len(first) if second else 0),)
    )


def reordered(count: int, seed: int) -> Iterator[Document]:
    """Yield pairs of 5 letters and the same in another order, with a sixth word anywhere among them."""
    random = Random(seed)
    for number in range(count):
        words = random.sample(LETTERS, 5)
        yield text_pair(words, random.sample([*words, "z"], 6), f"pair {seed} {number}")
