"""What a masked answer rests on, word by word: what changes without a word, and the gradient at its input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float64
from torch import Tensor

from mha.batches import collate
from mha.encoder.encoder import Encoder
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from mha.models.states import followed_embeddings
from mha.pieces import align
from mha.reading.flow import flow_maps
from probes.causal.ablation import Heads
from probes.causal.behaviours import Predictions, Prompt

AGAINST: Final = ("blank-out", "gradients")
"What maps are compared with."


def number_prompts(lm: MaskedLM, questions: Sequence[Sequence[str]], answers: tuple[str, str]) -> Iterator[Prompt]:
    """Yield the texts of questions whose first word is one of two answers, that word masked.

    What is asked for is the log-odds of the right answer against the other. An item is the place among the questions.
    Raises ValueError where a question does not begin with an answer, or the model's tokenizer cuts one into pieces.
    """
    for item, (words, text) in enumerate(zip(questions, align(lm.model.tokenizer, questions), strict=True)):
        if words[0] not in answers:
            raise ValueError(f"{' '.join(words)!r} does not begin with {' or '.join(map(repr, answers))}")
        places = np.flatnonzero(text.word == 0)
        right, wrong = (_piece(lm, one) for one in sorted(answers, key=lambda answer: answer != words[0]))
        ids = np.where(text.word == 0, lm.mask, text.ids).astype(text.ids.dtype)
        place = int(places[0])
        yield Prompt(replace(text, ids=ids), item, (place, place), (right, wrong), (1.0, -1.0))


def _piece(lm: MaskedLM, answer: str) -> int:
    found = align(lm.model.tokenizer, [[answer]])[0]
    ids = found.ids[found.word == 0]
    if len(ids) != 1:
        raise ValueError(f"the tokenizer of {lm.model.name} makes {len(ids)} pieces of {answer!r}, expected one")
    return int(ids[0])


def blank_out(lm: MaskedLM, prompt: Prompt) -> Float64[np.ndarray, " word"]:
    """Return by how much the answer changes when all pieces of a word are unknown ones; of the asked words NaN.

    The absolute difference of what is asked for, in nats for log-odds; from 0, higher where more rests on the word
    (Abnar and Zuidema 2020, who blank out the words of a sentence one by one). The mask stands for a word where the
    vocabulary has no unknown piece.
    """
    text = prompt.text
    ids = np.tile(text.ids.astype(np.int64), (text.words + 1, 1))
    ids[1:][text.word == np.arange(text.words)[:, None]] = lm.mask if lm.unknown is None else lm.unknown
    with torch.inference_mode():
        found = _wanted(lm, prompt, torch.from_numpy(ids)).double().numpy()
    return _but_asked(np.abs(found[1:] - found[0]), prompt)


def input_gradients(lm: MaskedLM, prompt: Prompt) -> Float64[np.ndarray, " word"]:
    """Return the length (L2) of the gradient of the answer at the embedding of each word; of the asked words NaN.

    The lengths of a word's pieces are added. From 0, higher where a small change of the word changes more; the
    embedding is that of the piece alone, before position and LayerNorm.
    """
    text, encoder = prompt.text, lm.module
    assert isinstance(encoder, Encoder)  # what was trained to answer is ours
    with torch.enable_grad(), followed_embeddings(encoder) as seen:
        answer = _wanted(lm, prompt, torch.from_numpy(text.ids.astype(np.int64))[None])
    slopes = torch.autograd.grad(answer.sum(), seen[-1])[0]
    lengths = slopes.cpu().double().reshape(len(text), -1).norm(dim=1).numpy()
    own = text.word >= 0
    return _but_asked(np.bincount(text.word[own], lengths[own], text.words), prompt)


def _wanted(lm: MaskedLM, asked: Prompt, ids: Tensor) -> Float64[Tensor, " text"]:
    """Return what is asked for of texts [text, piece] that differ in what was blanked out alone."""
    places = torch.arange(len(ids))[:, None] * ids.shape[1] + torch.tensor(asked.places)
    logits = lm.read(ids, None, places.flatten()).cpu().double().view(*places.shape, -1).log_softmax(-1)
    wanted = torch.tensor(asked.wanted).expand(len(ids), -1)[..., None]
    found: Tensor = (logits.gather(2, wanted)[..., 0] * torch.tensor(asked.weights, dtype=torch.float64)).sum(1)
    return found


def _but_asked(of_words: np.ndarray, asked: Prompt) -> Float64[np.ndarray, " word"]:
    of_words[asked.text.word[list(asked.places)]] = np.nan
    return of_words


def first_places(questions: Sequence[Sequence[str]]) -> list[int]:
    """Return the places of questions that no earlier one is equal to."""
    return sorted({tuple(words): place for place, words in reversed([*enumerate(questions)])}.values())


def as_behaviour(lm: MaskedLM, prompts: Sequence[Prompt]) -> Predictions:
    """Return questions as a behaviour, an item each; its values are log-odds in nats."""
    return Predictions("answers", "nats", lm, prompts, ("",) * len(prompts))


def one_head_left(model: Model) -> dict[tuple[int, int], Heads]:
    """Return for each head the others of its layer, (layer, head) from 0."""
    heads = range(model.heads)
    return {
        (layer, head): tuple((layer, other) for other in heads if other != head)
        for layer in range(model.layers)
        for head in heads
    }


def correlations(lm: MaskedLM, prompt: Prompt) -> pd.DataFrame:
    """Return Spearman's rho over the words of a question: layer, measure, against, rho.

    What the place of the answer attends to, and what flows to it, is compared with what changes the answer. Special
    tokens and the answer itself do not count. NaN where all words are equal in one of the two.
    """
    from scipy.stats import spearmanr

    maps = flow_maps(lm.model, collate([prompt.text], padding=lm.model.padding))
    place = prompt.text.word[prompt.places[0]]
    importance = dict(zip(AGAINST, (blank_out(lm, prompt), input_gradients(lm, prompt)), strict=True))
    rows = []
    for kind, (against, words) in ((kind, one) for kind in maps for one in importance.items()):
        others = np.isfinite(words)
        for layer, row in enumerate(maps[kind][:, place, : len(words)][:, others].astype(np.float64)):
            varied = np.ptp(row) > 0 and np.ptp(words[others]) > 0
            rho = float(spearmanr(row, words[others]).statistic) if varied else np.nan
            rows.append((layer, kind, against, rho))
    return pd.DataFrame(rows, columns=["layer", "measure", "against", "rho"])
