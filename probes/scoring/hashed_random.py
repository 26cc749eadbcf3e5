"""Random numbers that are a function of what they are drawn for: no order, batch or thread can change them."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import numpy.typing as npt

from probes.records import Document, IntArray

Bits = npt.NDArray[np.uint64]
"Random numbers in [0, 2**64)."


def draws(*content: object) -> tuple[int, ...]:
    """Return four random numbers in [0, 2**64) that are a function of `content`, by its `repr`."""
    return struct.unpack("<4Q", hashlib.blake2b(repr(content).encode(), digest_size=32).digest())


def random_bits(*counters: IntArray | Bits) -> Bits:
    """Return a random number for every combination of counters, which are broadcast: a hash of theirs.

    The finaliser of SplitMix64 (Steele et al. 2014, section 3), once a counter.
    """
    state = np.zeros(1, np.uint64)
    for counter in counters:
        state = (state + np.uint64(0x9E3779B97F4A7C15)) ^ counter.astype(np.uint64)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state


def shuffled_places(document: Document, seed: int) -> IntArray:
    """Return where each word of a text stands once the words of every sentence are in another order.

    Word i moves to place `shuffled_places(document, seed)[i]` of its sentence, and of its text in a pair. The order is
    a function of seed, document id and sentence id.
    """
    places = np.zeros(len(document), np.int64)
    for start, sentence in zip(document.starts.tolist(), document.sentences, strict=True):
        drawn = np.array(draws(seed, "shuffled words", document.id, sentence.id)[:1], np.uint64)
        word = np.arange(len(sentence))
        order = np.argsort(random_bits(drawn, word))
        order = order[np.argsort(order >= sentence.second, kind="stable")] if sentence.second else order
        places[start + order] = start + word
    return places
