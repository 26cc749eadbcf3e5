"""Attention, rollout and flow of a masked answer, held against what the answer rests on (Abnar and Zuidema 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

import numpy as np
import pandas as pd
import torch
from scipy.stats import spearmanr

from experiments.section import ConfigError
from experiments.study import Study, Surroundings
from experiments.texts import open_material
from mha import collate
from mha.flow import flow_maps
from mha.masked_prediction import MaskedLM
from probes.attribution import asked_number, blank_out, input_gradients
from probes.behaviours import Asked, Predictions, of_items
from reports.flow_tables import AGAINST

HELD_OUT = "held-out texts"
"The corpus of these tables: what the training did not see."


@dataclass(frozen=True)
class FlowStudy(Study):
    """How well a model trained to answer in one of two words does, and which maps tell what its answers rest on."""

    name = "flows"
    run: Surroundings
    answers: tuple[str, str]

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config asks for texts."""
        if not run.config.flows.texts:
            return None
        assert run.config.train is not None  # the config saw to it
        one, other = run.config.train.masking.answers
        return cls(run, (one, other))

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Return the log-odds of held-out questions, and the rank correlations of some of them."""
        section, lm = self.run.config.flows, self.run.lm
        questions = self._questions(section.questions)
        asked = list(asked_number(lm, questions, self.answers))
        words = np.array([len(question) - 1 for question in questions])
        answers = pd.DataFrame({"text": range(len(asked)), "words": words, "answer": [one[0] for one in questions]})
        answers["log_odds"] = log_odds(lm, asked, self.run.config.scoring.batch_pieces)
        fits = [place for place in first_places(questions) if section.shortest <= words[place] <= section.longest]
        self._note(len(questions), len(fits))
        step = self.run.counter("attention flow", min(len(fits), section.texts))
        frames = []
        for place in fits[: section.texts]:
            frames.append(correlations(lm, asked[place]).assign(text=place, words=words[place]))
            step()
        flows = pd.concat(frames, ignore_index=True)
        return {name: frame.assign(corpus=HELD_OUT) for name, frame in (("answers", answers), ("flows", flows))}

    def _questions(self, count: int) -> list[list[str]]:
        """Return the first held-out texts of the training as words."""
        assert self.run.config.train is not None
        return [text.split() for text in islice(open_material(self.run.config.train).held_out, count)]

    def _note(self, questions: int, fits: int) -> None:
        section, notes = self.run.config.flows, self.run.journal.record["notes"]
        if not fits:
            wanted = f"{section.shortest} to {section.longest} words"
            raise ConfigError(f"flows: none of {questions} held-out texts has {wanted}: raise train.held_out_share")
        notes.append(
            f"flows: of {questions} held-out questions {fits} are different from all before and of {section.shortest} "
            f"to {section.longest} words; the first {min(fits, section.texts)} of these were read for attention flow"
        )


def first_places(questions: Sequence[Sequence[str]]) -> list[int]:
    """Return the places of questions that no earlier one is equal to."""
    return sorted({tuple(words): place for place, words in reversed([*enumerate(questions)])}.values())


def log_odds(lm: MaskedLM, asked: Sequence[Asked], batch_pieces: int) -> np.ndarray:
    """Return the value of each question, in nats for log-odds."""
    behaviour = Predictions("answers", "nats", lm, asked, ("",) * len(asked))

    def values(batch: Sequence[int]) -> torch.Tensor:
        texts = behaviour.texts(batch)
        output = lm.read(texts.ids, texts.real, texts.chosen)
        return behaviour.values(batch, texts, output[None], output)

    with torch.inference_mode():
        found = of_items(behaviour, ((batch, values(batch)) for batch in behaviour.batches(batch_pieces)), 1)
    return found[0].numpy()


def correlations(lm: MaskedLM, asked: Asked) -> pd.DataFrame:
    """Return Spearman's rho over the words of a question: layer, measure, against, rho.

    What the place of the answer attends to, and what flows to it, is held against what changes the answer. Special
    tokens and the answer itself do not count. NaN where all words are equal in one of the two.
    """
    maps = flow_maps(lm.model, collate([asked.text], padding=lm.model.padding))
    place = asked.text.word[asked.places[0]]
    importance = dict(zip(AGAINST, (blank_out(lm, asked), input_gradients(lm, asked)), strict=True))
    rows = []
    for measure, (against, words) in ((m, a) for m in maps for a in importance.items()):
        others = np.isfinite(words)
        for layer, row in enumerate(maps[measure][:, place, : len(words)][:, others].astype(np.float64)):
            varied = np.ptp(row) > 0 and np.ptp(words[others]) > 0
            rho = float(spearmanr(row, words[others]).statistic) if varied else np.nan
            rows.append((layer, measure, against, rho))
    return pd.DataFrame(rows, columns=["layer", "measure", "against", "rho"])
