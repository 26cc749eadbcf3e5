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
