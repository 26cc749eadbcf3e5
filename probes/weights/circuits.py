"""What the weights alone say of every head, beside what it does on text, and how far the two agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from mha.attention import MultiHeadAttention
from mha.encoder.encoder import Encoder
from mha.models.circuits import (
    CircuitError,
    LayerInput,
    copying,
    encoder_of,
    kernel,
    layer_inputs,
    layers_of,
    near_share,
    nearest_words,
    own_share,
    readouts,
    scores_between,
    written,
)
from mha.models.model import Model
from mha.pieces import whole_words
from probes.evidence.results import named_heads
from probes.evidence.statistics import spearman
from probes.scoring.aligned import Aligned, Dropped
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers
from probes.weights.circuit_texts import TextMeasures, measure_texts
from probes.weights.relations import TOP, Known, Mapped, Pairs, map_relations

FEWEST_WORDS = 20
"A vocabulary with fewer whole words says nothing of content."

LINKS = (
    ("kernel_attention", "text_at_kernel"),
    ("same_word", "text_same_word"),
    ("related_words", "text_related"),
    ("copying", "text_copying"),
    ("own_word", "text_copying"),
    ("copying", "text_same_word"),
)
"Measures of weights alone, and what heads do on text that they should foretell."


@dataclass(frozen=True)
class CircuitSettings:
    """How weights are read."""

    words: int = 500
    "Words of the vocabulary, evenly spaced in its order, between which heads are asked."
    places: int = 32
    "Places after [CLS] over which the positional kernel is taken."
    reach: int = 8
    "The largest offset of the kernel."
    near: int = 5
    "Nearest words by cosine that count as related."
    replicates: int = 2000
    "Resamples of heads for the intervals of correlations."
    seed: int = 0


@dataclass(frozen=True)
class Circuits:
    """What was found, and what was left out."""

    tables: dict[str, pd.DataFrame]
    """circuits: one row a head. circuit_kernels: one row a head and offset. circuit_relations: one row a relation and
    head. circuit_links: one row a pair of measures, with their rank correlation over heads."""
    dropped: Dropped
    facts: dict[str, int]
    "What was read: words of the vocabulary and of the sample, pieces of text."


def read_circuits(
    model: Model,
    aligned: Aligned,
    relations: Pairs,
    settings: CircuitSettings,
    reading: Settings,
    progress: Callable[[int], None] = lambda texts: None,
) -> Circuits:
    """Return what the weights of a model of the BERT family say, and what its heads do on `aligned` texts.

    `progress` is told the number of texts of each batch. Raises CircuitError for another architecture, and for a
    vocabulary of fewer than FEWEST_WORDS whole words.
    """
    model = model.on_cpu()
    encoder = encoder_of(model)
    vocabulary = whole_words(model.tokenizer)
    if len(vocabulary) < FEWEST_WORDS:
        raise CircuitError(f"{model.name}: its vocabulary has {len(vocabulary)} whole words, at least {FEWEST_WORDS}")
    known = Known.of(relations, vocabulary)
    every = torch.tensor(list(vocabulary.values()))
    sample = every[np.unique(np.linspace(0, len(every) - 1, settings.words).round().astype(np.int64))]
    places = min(settings.places, encoder.config.positions - 1)
    reach = min(settings.reach, places - 1)
    inputs = layer_inputs(encoder, torch.cat([sample, known.source]), places)
    embeddings = encoder.pieces.weight.detach()
    mean = embeddings[every].mean(0)
    own = [LayerInput(part.words[: len(sample)], part.places) for part in inputs]
    said = _read_weights(encoder, own, embeddings[sample] - mean, reach, settings.near)
    text = measure_texts(model, aligned, reach, reading, progress)
    sources = [LayerInput(part.words[len(sample) :], part.places) for part in inputs]
    mapped = map_relations(model, known, sources, embeddings[every] - mean) if known.names else None
    heads = _head_rows(said, text)
    relation_rows = _relation_rows(known, mapped, TOP / len(every), (model.layers, model.heads))
    tables = {
        "circuits": heads,
        "circuit_kernels": _kernel_rows(said, text, reach),
        "circuit_relations": relation_rows,
        "circuit_links": _link_rows(heads, relation_rows, settings),
    }
    facts = {"vocabulary": len(every), "words": len(sample), "places": places, "pieces": text.pieces}
    return Circuits(tables, known.dropped, facts)


Measures = dict[str, Numbers]
"Measure -> [layer, head], or [layer, head, offset] for kernels."


def _read_weights(
    encoder: Encoder, inputs: list[LayerInput], embeddings: Float[Tensor, "word size"], reach: int, near: int
) -> Measures:
    """Return the measures of every head, from the inputs of a sample of words and of places."""
    related = nearest_words(embeddings, min(near, len(embeddings) - 2))
    rows = [
        _read_layer(layer.attention, given, embeddings.double() @ matrix, related, reach)
        for layer, given, matrix in zip(layers_of(encoder), inputs, readouts(encoder), strict=True)
    ]
    return {name: torch.stack([row[name] for row in rows]).numpy() for name in rows[0]}


def _read_layer(
    attention: MultiHeadAttention, given: LayerInput, targets: Tensor, related: Int[Tensor, "word near"], reach: int
) -> dict[str, Tensor]:
    score, share = kernel(scores_between(attention, given.places), reach)
    words = scores_between(attention, given.words)
    centred = given.words - given.words.mean(0)
    eigenvalues, positive = copying(attention, centred, targets)
    return {
        "score": score,
        "attention": share,
        "same_word": own_share(words),
        "related_words": near_share(words, related),
        "copying": eigenvalues,
        "positive_eigenvalues": positive,
        "own_word": own_share(written(attention, centred, targets)),
    }


def _head_rows(said: Measures, text: TextMeasures) -> pd.DataFrame:
    """Return one row a head."""
    shares, offsets = said["attention"], text.offsets.numpy()
    reach = shares.shape[2] // 2
    best, seen = shares.argmax(2), np.nan_to_num(offsets, nan=-1).argmax(2)
    columns = {
        "kernel_offset": best - reach,
        "kernel_attention": _at(shares, best),
        **{name: said[name] for name in ("same_word", "related_words", "copying", "positive_eigenvalues", "own_word")},
        "text_offset": seen - reach,
        "text_attention": _at(offsets, seen),
        "text_at_kernel": _at(offsets, best),
        "text_same_word": text.same_word.numpy(),
        "text_related": text.related.numpy(),
        "text_copying": text.copying.numpy(),
        "write_norm": text.write_norm.numpy(),
    }
    return pd.DataFrame(
        named_heads((len(best), best.shape[1])) | {name: values.ravel() for name, values in columns.items()}
    )


def _at(values: Numbers, place: np.ndarray) -> Numbers:
    found: Numbers = np.take_along_axis(values, place[..., None], 2)[..., 0]
    return found


def _kernel_rows(said: Measures, text: TextMeasures, reach: int) -> pd.DataFrame:
    """Return one row a head and offset."""
    layers, heads, offsets = said["score"].shape
    of_heads = pd.DataFrame(named_heads((layers, heads)))
    rows = of_heads.loc[of_heads.index.repeat(offsets)].reset_index(drop=True)
    return rows.assign(
        offset=np.tile(np.arange(-reach, reach + 1), layers * heads),
        score=said["score"].ravel(),
        attention=said["attention"].ravel(),
        text_attention=text.offsets.numpy().ravel(),
    )


def _relation_rows(known: Known, mapped: Mapped | None, chance: float, shape: tuple[int, int]) -> pd.DataFrame:
    """Return one row a relation and head."""
    frames = [pd.DataFrame(named_heads(shape)).assign(relation="", pairs=0, chance=chance).head(0)]
    for number, (name, pairs) in enumerate(zip(known.names, known.sizes(), strict=True)):
        scores = {kind: getattr(mapped, kind)[number].ravel() for kind in ("static", "suppressed", "dynamic")}
        frames.append(pd.DataFrame(named_heads(shape)).assign(relation=name, pairs=pairs, chance=chance, **scores))
    columns = ["relation", "layer", "head", "name", "pairs", "static", "suppressed", "dynamic", "chance"]
    return pd.concat(frames[1:] or frames, ignore_index=True).reindex(columns=columns)


def _link_rows(heads: pd.DataFrame, relations: pd.DataFrame, settings: CircuitSettings) -> pd.DataFrame:
    """Return one row a pair of measures: Spearman's rho over heads, with its interval."""
    pairs = [("", one, other, heads[one], heads[other]) for one, other in LINKS]
    for name, rows in relations.groupby("relation", sort=False):
        pairs.append((str(name), "static", "dynamic", rows["static"], rows["dynamic"]))
    found = []
    for relation, one, other, left, right in pairs:
        told = rank_correlation(left.to_numpy(np.float64), right.to_numpy(np.float64), settings)
        found.append((relation, one, other, *told, len(left)))
    return pd.DataFrame(found, columns=["relation", "weights", "text", "rho", "low", "high", "heads"])


def rank_correlation(first: Numbers, second: Numbers, settings: CircuitSettings) -> tuple[float, float, float]:
    """Return Spearman's rho over heads and its 95 % interval, percentiles of resamples of heads.

    NaN where a measure is missing or the same for all heads; resamples in which it is are left out.
    """
    if np.isnan(first).any() or np.isnan(second).any():
        return (np.nan,) * 3
    draws = np.random.default_rng([settings.seed, len(first)]).integers(
        len(first), size=(settings.replicates, len(first))
    )
    chosen = np.concatenate([np.arange(len(first))[None], draws])
    rho = spearman(first[chosen], second[chosen])
    if np.isnan(rho[0]):
        return (np.nan,) * 3
    low, high = np.nanquantile(rho[1:], [0.025, 0.975])
    return float(rho[0]), float(low), float(high)
