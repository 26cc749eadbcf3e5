"""Made sentences with an ambiguous noun and the word that decides its sense ("the bank of the river")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from probes.records import Document, Mention, Sentence

TARGET, CUE, DISTRACTOR = "ambiguous", "cue", "rival"
"Entities of a sentence's mentions: the ambiguous noun, the word that decides its sense, one of the other sense."


@dataclass(frozen=True)
class Ambiguous:
    """A noun with two senses, each with nouns that decide for it."""

    noun: str
    senses: tuple[str, str]
    "Names of the two senses."
    cues: tuple[tuple[str, ...], tuple[str, ...]]
    "Nouns that decide for the first and for the second sense."


_WRITTEN = (
    "bank: river (river fish boat swimmer stream), money (loan money cash clerk)",
    "bat: animal (cave wings owl insects), sport (ball player pitcher baseball)",
    "mouse: animal (cat cheese tail hole), computer (computer keyboard screen cable)",
    "spring: season (flowers winter summer birds), water (water well pool stream)",
    "pitcher: sport (ball team baseball coach), jug (juice water glass milk)",
    "crane: bird (nest feathers lake eggs), machine (steel tower workers bricks)",
    "plant: green (garden leaves soil seeds), factory (workers steel cars machines)",
    "match: fire (candle fire smoke flame), sport (team goal stadium coach)",
    "seal: animal (fish ice sea whale), stamp (letter envelope wax document)",
    "trunk: tree (branches leaves roots forest), car (car tires engine driver)",
)


def _read(text: str) -> Ambiguous:
    """Return a noun that is written as above: NOUN: SENSE (CUES), SENSE (CUES)."""
    noun, _, senses = text.partition(": ")
    (first, cues), (second, others) = (one.rstrip(")").split(" (") for one in senses.split("), "))
    return Ambiguous(noun, (first, second), (tuple(cues.split()), tuple(others.split())))


NOUNS = tuple(map(_read, _WRITTEN))
"The nouns; no cue of a noun decides for both of its senses."

FRAMES = (
    "we saw the {noun} with the {cue}",
    "she wrote about the {cue} and the {noun}",
    "the {cue} was near the {noun}",
    "because of the {cue} , they talked about the {noun}",
    "the {noun} that everyone remembered had something to do with the {cue}",
    "the story about the {cue} that my brother told us yesterday was also about the {noun}",
)
"Sentences in which no other word decides; the cue stands before or after the noun, near or far."

DISTRACTOR_FRAMES = (
    "far from the {rival} , we saw the {noun} with the {cue}",
    "not the {rival} but the {cue} was near the {noun}",
    "we saw the {noun} with the {cue} , far from the {rival}",
    "the {noun} that came with the {cue} was far from the {rival}",
    "the {noun} , far from the {rival} , was near the {cue}",
    "they talked about the {noun} , not about the {rival} , because of the {cue}",
    "the {cue} , but not the {rival} , was near the {noun}",
    "she wrote about the {cue} , not about the {rival} , when she wrote about the {noun}",
)
"""Sentences that also have a word of the other sense, and say that it is away: before and after the cue, farther from
the noun and nearer to it equally often, so that neither order nor distance tells the two apart."""


def sense_items(documents: int, seed: int) -> Iterator[Document]:
    """Yield documents of one sentence; the i-th sentence depends on the seed and on i only.

    Noun, sense, cue and frame are drawn; half of the sentences also have a word of the other sense (RIVAL). Sentences
    of one noun and cue are one document, so that none of their pairs is on both splits. The kind of a sentence is its
    noun and sense ("bank: river").
    """
    if documents < 0:
        raise ValueError(f"documents is {documents}, expected 0 or more")
    for i in range(documents):
        yield _document(f"senses-{seed}-{i}")


def _document(name: str) -> Document:
    """Return the document of a name, which is the seed of its random choices."""
    random = Random(name)
    chosen = NOUNS[int(random.random() * len(NOUNS))]
    sense = int(random.random() * 2)
    cue, baseline = (some[int(random.random() * len(some))] for some in (chosen.cues[sense], chosen.cues[1 - sense]))
    frames = DISTRACTOR_FRAMES if random.random() < 0.5 else FRAMES
    frame = frames[int(random.random() * len(frames))]
    parts = [*frame.split(), "."]
    forms = {"{noun}": (chosen.noun, TARGET), "{cue}": (cue, CUE), "{rival}": (baseline, DISTRACTOR)}
    words = [forms[part][0] if part in forms else part for part in parts]
    words[0] = words[0].capitalize()
    mentions = tuple(Mention((i,), i, forms[part][1]) for i, part in enumerate(parts) if part in forms)
    upos = tuple("NOUN" if part in forms else "" for part in parts)
    n, kind = len(words), f"{chosen.noun}: {chosen.senses[sense]}"
    sentence = Sentence(name, tuple(words), np.full(n, -1), ("",) * n, upos, mentions=mentions, kind=kind)
    return Document(f"{chosen.noun} {cue}", (sentence,))
