"""What run.json says of studies: the facts that hold for all heads together, and so stand in no table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DecidedPairs:
    """How many minimal pairs of a corpus a model has decided."""

    items: int
    "Pairs that the corpus has."
    decided: int
    "Those that the model could be asked about."
    fingerprint: str
    "Of the pairs, as hexadecimal digits."


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
class QuickAgreement:
    """How far a quick measure of heads agrees with patching them; None for what is no number."""

    rho: float | None
    "Spearman's rank correlation over heads, in [-1, 1]."
    low: float | None
    "Lower end of its 95 % interval."
    high: float | None
    "Upper end of its 95 % interval."
    slope: float | None
    "How many times as large as the patched shares the quick ones are."


@dataclass(frozen=True)
class PatchingFacts:
    """What was patched, and whether the model knows the answers."""

    items: int
    "Pairs of a clean sentence and a corrupted one."
    clusters: int
    "Documents that they come from."
    clean: float
    "Mean difference of the logits of the right and the wrong answer, of clean sentences."
    corrupted: float
    "The same of corrupted sentences."
    right_clean: float
    "Share of clean sentences in which the right answer is preferred, in [0, 1]."
    right_corrupted: float
    "Share of corrupted sentences in which the answer that is right in the clean ones is preferred, in [0, 1]."
    estimate: QuickAgreement | None = None
    "Of the first-order estimate."
    direct: QuickAgreement | None = None
    "Of direct logit attribution; None where it cannot be made."
    why_no_direct: str | None = None
    "Why it cannot be made."


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
