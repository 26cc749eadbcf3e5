"""Outlier dimensions: which they are, and what is lost where they are zero (Kovaleva et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float

from mha.encoder.encoder import Encoder
from mha.hooks import HookError
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from mha.models.states import zeroed_dimensions
from probes.records import IntArray
from probes.scoring.aligned import Aligned
from probes.scoring.hashed_random import draws
from probes.scoring.score import Settings
from probes.states.word_states import ClusteredMean, WordStates
from probes.trained.codelength import LinearClassifier

SIGMA = 3.0
"An outlier lies more than this many standard deviations from the mean over dimensions."

SHARE = 0.5
"An outlier dimension has an outlier in at least this share of the layers."

INTACT, OUTLIERS, RANDOM, BEYOND = KINDS = ("intact", "outliers", "random", "outliers beyond random")

TAGS, MASKED = ("part of speech", "masked word")
"What is lost: accuracy of a classifier of the last layer's states; accuracy of the masked-LM head."


@dataclass(frozen=True)
class Outliers:
    """In which layers each dimension is an outlier."""

    scale: Bool[np.ndarray, "layer dimension"]
    "By the scaling factor of the LayerNorm at the end of the layer."
    bias: Bool[np.ndarray, "layer dimension"]
    state: Bool[np.ndarray, "layer dimension"]
    "By the mean of the states of words."

    @classmethod
    def of(cls, model: Model, states: WordStates) -> Outliers:
        """Find the outliers of a model; raises HookError where the LayerNorm at the end of its layers is not known."""
        norms = output_norms(model)
        scale, bias = ([getattr(norm, name).detach().cpu().numpy() for norm in norms] for name in ("weight", "bias"))
        means = states.vectors[1:].mean(1, dtype=np.float64)
        return cls(far(np.stack(scale)), far(np.stack(bias)), far(means))

    @property
    def dimensions(self) -> IntArray:
        """The outlier dimensions: scaling factor or bias is an outlier in SHARE of the layers at least, ascending."""
        found: IntArray = np.flatnonzero((self.scale | self.bias).mean(0) >= SHARE)
        return found

    def table(self) -> pd.DataFrame:
        """Return a row for each outlier dimension: in how many layers it is an outlier, and by what."""
        at = self.dimensions
        counts = {name: getattr(self, name)[:, at].sum(0) for name in ("scale", "bias", "state")}
        return pd.DataFrame({"dimension": at} | {f"{name}_layers": count for name, count in counts.items()})


def output_norms(model: Model) -> list[torch.nn.LayerNorm]:
    """Return the LayerNorm at the end of each layer; raises HookError for any but our Encoder in post-norm."""
    module = model.module
    if not isinstance(module, Encoder) or module.config.norm != "post":
        raise HookError(f"{model.name} ({model.architecture}): its layers do not end in a LayerNorm that is known")
    return [layer.feed_forward_norm for layer in module.layers]  # type: ignore[misc]  # all are Layer


def far(values: Float[np.ndarray, "layer dimension"]) -> Bool[np.ndarray, "layer dimension"]:
    """Mark values more than SIGMA standard deviations from the mean of their row; none where all are equal.

    >>> far(np.array([[0.0] * 20 + [9.0], [1.0] * 21])).sum(1).tolist()
    [1, 0]
    """
    centred = values - values.mean(1, keepdims=True)
    marked: Bool[np.ndarray, "layer dimension"] = np.abs(centred) > SIGMA * values.std(1, keepdims=True) + 1e-12
    return marked


def ablated(
    model: Model,
    aligned: tuple[Aligned, Aligned],
    states: tuple[WordStates, WordStates],
    dimensions: Sequence[int],
    settings: Settings,
    *,
    sets: int,
    seed: int,
    step: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Return what is lost where `dimensions` are zero in all layers, and where as many random ones are.

    One row a measure and kind (KINDS): the accuracy, or of BEYOND how much more of it the outliers cost than `sets`
    sets of random dimensions, with a 95 % interval over documents. TAGS is a linear classifier of UPOS that has learned
    from the last layer of the intact model on the selection split; MASKED, where the model has a masked-LM head,
    predicts one masked piece a text. `step` is called after each pass.
    """
    random = np.random.default_rng(seed)
    others = np.setdiff1d(np.arange(states[0].vectors.shape[-1]), dimensions)
    drawn = [random.choice(others, len(dimensions), replace=False).tolist() for _ in range(sets)]
    tasks = tag_task(model, aligned[1], states, settings) | masked_task(model, aligned[1], settings, seed)
    frames = []
    for name, task in tasks.items():
        hits: list[Float[np.ndarray, " item"]] = []
        for chosen in ([], dimensions, *drawn):
            with zeroed_dimensions(model, chosen):
                hits.append(task.hits())
            step()
        frames.append(_rows(name, hits, task.clusters))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _rows(name: str, hits: Sequence[Float[np.ndarray, " item"]], clusters: IntArray) -> pd.DataFrame:
    """Return the rows of one task from the hits of the intact model, without outliers, and of random sets."""
    random = np.mean(hits[2:], 0)
    values = dict(zip(KINDS, (hits[0], hits[1], random, random - hits[1]), strict=True))
    return pd.DataFrame(
        [{"measure": name, "kind": kind} | ClusteredMean.of(one, clusters).row for kind, one in values.items()]
    )


@dataclass(frozen=True)
class AblationTask:
    """Something that a model does, again and again with other dimensions zeroed."""

    hits: Callable[[], Float[np.ndarray, " item"]]
    "Returns 1 for each item that is correct."
    clusters: IntArray
    "[item] Number of the document."


def tag_task(
    model: Model, report: Aligned, states: tuple[WordStates, WordStates], settings: Settings
) -> dict[str, AblationTask]:
    """Return the task of a classifier of parts of speech by its name; nothing where texts have none, or one alone."""
    select, known = states
    names = sorted({tag for document in select.documents for tag in document.upos})
    if len(names) < 2:
        return {}
    number = {tag: place for place, tag in enumerate(names)}
    gold = [np.array([number.get(tag, -1) for one in part.documents for tag in one.upos]) for part in states]
    classifier = LinearClassifier.fit(select.vectors[-1], gold[0], len(names))

    def hits() -> Float[np.ndarray, " item"]:
        vectors = WordStates.of(model, report, settings).vectors[-1]
        right: Float[np.ndarray, " item"] = (classifier.probabilities(vectors).argmax(1) == gold[1]).astype(np.float64)
        return right

    return {TAGS: AblationTask(hits, known.clusters[known.text])}


def masked_task(model: Model, report: Aligned, settings: Settings, seed: int) -> dict[str, AblationTask]:
    """Return the task of the masked-LM head by its name; nothing for a model without one."""
    if not (isinstance(model.module, Encoder) and model.module.predicts_masked):
        return {}
    lm = MaskedLM.of(model)
    ids = [pieces.ids.astype(np.int64) for pieces in report.pieces]
    inside = [np.flatnonzero(pieces.word >= 0) for pieces in report.pieces]
    place = [one[draws(seed, "masked", key)[0] % len(one)] for one, key in zip(inside, report.keys, strict=True)]

    def hits() -> Float[np.ndarray, " item"]:
        right = np.empty(len(ids))
        for text, (pieces, at) in enumerate(zip(ids, place, strict=True)):
            masked = torch.from_numpy(np.where(np.arange(len(pieces)) == at, lm.mask, pieces))[None]
            logits = lm.log_probabilities(masked, None, torch.tensor([int(at)]))
            right[text] = float(logits[0].argmax() == pieces[at])
        return right

    names = np.unique(report.names, return_inverse=True)[1].reshape(-1)
    return {MASKED: AblationTask(hits, names)}
