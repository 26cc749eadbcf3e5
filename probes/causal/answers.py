"""What the answer to a masked word rests on, beside attention, rollout and flow (Abnar and Zuidema 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from mha import Model, collate
from mha.models.masked_prediction import MaskedLM
from mha.reading.flow import flow_maps
from probes.causal.ablation import Heads
from probes.causal.attribution import blank_out, input_gradients
from probes.causal.behaviours import Predictions, Prompt

AGAINST: Final = ("blank-out", "gradients")
"What maps are compared with."


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
