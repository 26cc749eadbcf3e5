"""Attention, rollout and flow of a masked answer, compared with what the answer rests on (Abnar and Zuidema 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator
from scipy.stats import spearmanr

from experiments.config.config import Config, StudySection
from experiments.config.section import ConfigError
from experiments.config.train_config import TrainSection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from experiments.training.texts import open_material
from mha import Model, align, collate
from mha.models.masked_prediction import MaskedLM
from mha.reading.flow import flow_maps
from probes.causal.ablation import Heads, measure
from probes.causal.attribution import blank_out, input_gradients, number_prompts
from probes.causal.behaviours import Predictions, Prompt
from probes.scoring.aligned import Dropped
from reports.studies.answers.tables import AGAINST

HELD_OUT = "held-out texts"
"The corpus of these tables: what the training did not see."


class AnswersSection(StudySection):
    """How well a model does that [train] trains to answer in one of two words, and what its answers rest on."""

    table = "answers"
    questions: int = Field(default=0, ge=0)
    "Held-out texts of the training, at the most, that the model is asked about; 0 for none."
    texts: int = Field(default=200, ge=0)
    "Of these, how many attention, rollout and flow are compared with what their answers rest on; 0 for none."
    one_head: int = Field(default=0, ge=0)
    "Of these, how many the model is asked again with one head of a layer left, each in turn; 0 for none."
    shortest: int = Field(default=4, ge=3)
    "Words, without the answer, of the shortest text for attention flow."
    longest: int = Field(default=20, ge=3)
    "Words of the longest."

    @model_validator(mode="after")
    def _room(self) -> Self:
        if self.shortest > self.longest:
            raise ValueError(f"no text has {self.shortest} words or more and {self.longest} or fewer")
        return self

    def check(self, config: Config) -> None:
        """Refuse a training without two answers."""
        if self.questions and (config.train is None or len(config.train.masking.answers) != 2):
            raise ValueError("[answers] needs a [train] with two masking.answers, one of which every text begins with")


@dataclass(frozen=True)
class AnswerStudy(Study[AnswersSection]):
    """How often a model is right that was trained to answer in one of two words, and which maps tell why."""

    name = "answers"
    reads = AnswersSection
    train: TrainSection

    @classmethod
    def open(cls, run: RunContext, section: AnswersSection) -> Self | None:
        """Return the study where its section wants questions."""
        train = run.config.train
        return cls(run, section, train) if section.questions and train is not None else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the log-odds of held-out questions, and the rank correlations of some of them."""
        section, lm = self.section, self.run.lm
        questions = self._questions(section.questions)
        one, other = self.train.masking.answers
        asked = list(number_prompts(lm, questions, (one, other)))
        words = [len(question) - 1 for question in questions]
        found = {"text": range(len(asked)), "words": words, "answer": [one[0] for one in questions]}
        odds = measure(as_behaviour(lm, asked), [()])[0].numpy()
        tables = {"answers": pd.DataFrame(found).assign(log_odds=odds)}
        if section.texts:
            tables["flows"] = self._flows(questions, asked)
        if section.one_head:
            tables["one_head"] = self._one_head(asked[: section.one_head])
        return Result({name: frame.assign(corpus=HELD_OUT) for name, frame in tables.items()})

    def _questions(self, count: int) -> list[list[str]]:
        """Return the first held-out texts of the training as words; leave out, and count, what is too long."""
        model, dropped, fit = self.run.model, Dropped(), []
        texts = [text.split() for text in islice(open_material(self.train).held_out, count)]
        for place, (words, cut) in enumerate(zip(texts, align(model.tokenizer, texts), strict=True)):
            if len(cut) > model.max_pieces:
                dropped.add(f"longer than the model ({model.max_pieces} pieces)", f"held-out text {place}")
            else:
                fit.append(words)
        self.run.note_dropped("report", "sentence", "answers", dropped)
        return fit

    def _one_head(self, asked: Sequence[Prompt]) -> pd.DataFrame:
        """Return the log-odds of questions where each head in turn is the only one of its layer."""
        switched_off = one_head_left(self.run.model)
        step = self.run.counter("one head a layer", len(asked))
        found = measure(as_behaviour(self.run.lm, asked), list(switched_off.values()), step=step).numpy()
        frames = [
            pd.DataFrame({"text": range(len(asked)), "log_odds": odds}).assign(
                layer=layer, head=head, name=f"{layer + 1}-{head + 1}"
            )
            for (layer, head), odds in zip(switched_off, found, strict=True)
        ]
        return pd.concat(frames, ignore_index=True)

    def _flows(self, questions: Sequence[Sequence[str]], asked: Sequence[Prompt]) -> pd.DataFrame:
        """Return the rank correlations of the first questions of the right length, each once."""
        section = self.section
        lengths = range(section.shortest, section.longest + 1)
        fits = [place for place in first_places(questions) if len(questions[place]) - 1 in lengths]
        wanted = f"{section.shortest} to {section.longest} words"
        if not fits:
            raise ConfigError(f"answers: none of {len(questions)} held-out texts has {wanted}: raise held_out_share")
        chosen = fits[: section.texts]
        self.run.note(
            f"answers: of {len(questions)} held-out questions {len(fits)} are new and of {wanted}; "
            f"attention flow was worked out for {len(chosen)}, the first of these"
        )
        step = self.run.counter("attention flow", len(chosen))
        frames = []
        for place in chosen:
            rows = correlations(self.run.lm, asked[place])
            frames.append(rows.assign(text=place, words=len(questions[place]) - 1))
            step()
        return pd.concat(frames, ignore_index=True)


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
