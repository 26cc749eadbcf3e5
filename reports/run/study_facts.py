"""What run.json says of studies: the facts that hold for all heads together, and so stand in no table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TaskExamples:
    """How many examples of a task classifiers have read of one split."""

    examples: int
    "Examples that were read."
    available: int
    "Examples that the split has."


@dataclass(frozen=True)
class CircuitsRead:
    """What was read of weights alone, and of text beside them."""

    vocabulary: int
    "Whole words of the vocabulary."
    words: int
    "Those of them that were read."
    places: int
    "Places of the input."
    pieces: int
    "Pieces of the text to compare."
    sentences: int
    "Sentences of the text to compare."


@dataclass(frozen=True)
class HeadSetFacts:
    """On what heads were compared as a set, and how well that can be drawn and grouped."""

    texts: int
    "Texts of the report split on which their maps were compared."
    words: int
    "Words of these texts."
    left_out: int = 0
    "Texts that could not be read whole."
    stress: float | None = None
    "Of the heads laid out in a plane, in [0, 1]: 0 where every distance is kept; None where it is no number."
    silhouette: float | None = None
    "Mean over heads of the silhouette of their groups, in [-1, 1]; None where it is no number."
