"""Head biographies: the heads of trainings, followed through their checkpoints without a second training."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from experiments.config.biography_section import BiographiesSection
from experiments.config.config import Config, ConfigError
from experiments.training.biography_frames import Followed, life_rows, profile_rows, step_rows
from experiments.training.checkpoints import read_checkpoints
from experiments.training.matched_heads import Kinship
from mha import Model, load_model
from probes import Corpus, Probe, get_probe
from probes.corpora.corpus import MemoryTexts, Texts
from probes.scoring.aligned import Dropped
from probes.scoring.prepared import Exam
from probes.scoring.score import Settings, learn_baselines
from probes.scoring.tally import Pooled, Question
from probes.training.biography import Biography, Marks, courses, marks
from probes.training.concentration import LifeRule, Profiles
from probes.training.onset import OnsetRule
from probes.training.onset_order import head_onsets, timeline
from reports.run.biography_files import write_biographies
from reports.run.record import Lost, read_record

Behaviour = Callable[[Model], float]
"Says how well a model behaves, such as its accuracy on minimal pairs of agreement; in [0, 1]."

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Biographies:
    """The tables of a run's biographies, by the name of their file (`reports.run.biography_tables`)."""

    tables: Mapping[str, pd.DataFrame]
    dropped: Mapping[str, Dropped]
    "What the exam left out, by scope."
    seconds: float


def biographies(
    config: Config,
    trainings: Mapping[int, Path],
    corpora: tuple[Corpus, Corpus],
    *,
    behaviour: Behaviour | None = None,
    progress: Progress = lambda what, done, of: None,
) -> Biographies:
    """Score every checkpoint of `trainings` (seed -> folder) on the report corpus, and tell when heads got which role.

    Baselines learn on the selection corpus, `corpora[0]`. What does not depend on weights is made once for all models
    with the same tokenizer. Raises ConfigError where there is no [biographies] in `config`, or nothing to ask.
    """
    if config.biographies is None:
        raise ConfigError("the config has no table [biographies]")
    start = time.perf_counter()
    reader = _Reader(config, config.biographies, corpora, behaviour, progress)
    lives = [reader.read(seed, folder) for seed, folder in sorted(trainings.items())]
    if not any(life.biography.courses for life in lives):
        labels = config.biographies.labels
        raise ConfigError(f"[biographies]: {corpora[1].name} has no items with the labels {labels!r}")
    tables = reader.tables(lives)
    dropped = {exam.probes[0].scope: exam.dropped for exam in reader.exams}
    return Biographies(tables, dropped, time.perf_counter() - start)


def add_biographies(biographies: Biographies, folder: Path) -> None:
    """Write the tables into a run folder, where `write_report` finds them; time and what was dropped into run.json."""
    write_biographies(biographies.tables, folder)
    path = folder / "run.json"
    record = read_record(path)
    lost = [
        Lost("biographies", scope, reason, count, tuple(dropped.examples[reason]))
        for scope, dropped in biographies.dropped.items()
        for reason, count in dropped.counts.items()
    ]
    stages = {**record.stages, "biographies": round(biographies.seconds, 3)}
    replace(record, stages=stages, dropped=(*(record.dropped or ()), *lost)).write(path)


@dataclass(frozen=True)
class _Reader:
    config: Config
    section: BiographiesSection
    corpora: tuple[Corpus, Corpus]
    behaviour: Behaviour | None
    progress: Progress

    @cached_property
    def exams(self) -> list[Exam]:
        """The exams made so far, one a tokenizer and scope."""
        return []

    @cached_property
    def kinship(self) -> Kinship:
        """The maps of heads, and who is whose."""
        texts = self.corpora[1].sentences()
        chosen = texts.take(range(min(self.section.match_texts, len(texts))))
        return Kinship([text.words for text in chosen], within_layers=self.section.within_layers)

    @cached_property
    def probes(self) -> list[Probe]:
        """What is asked."""
        return [get_probe(name) for name in self.section.probes]

    def read(self, seed: int, folder: Path) -> Followed:
        """Put the exams to every checkpoint of a training."""
        steps = None if self.section.steps == "all" else self.section.steps
        labels = None if self.section.labels == "all" else self.section.labels
        checkpoints, found, behaviour = read_checkpoints(folder, steps), list[dict[Question, Marks]](), list[float]()
        for number, checkpoint in enumerate(checkpoints):
            model = load_model(str(checkpoint.folder), device=self.config.model.device)
            model = replace(model, precision=self.config.model.precision)
            exams = self._exams_for(model)
            found.append({})
            for exam in exams:
                found[-1] |= marks(exam.put(model), labels)
            behaviour.append(math.nan if self.behaviour is None else self.behaviour(model))
            if self.section.match_texts:
                self.kinship.see(seed, checkpoint.step, model)
            self.progress(f"biographies, seed {seed}", number + 1, len(checkpoints))
        biography = Biography(
            seed=seed,
            steps=tuple(one.step for one in checkpoints),
            tokens=tuple(one.tokens for one in checkpoints),
            corpus=self.corpora[1].name,
            layers=model.layers,
            heads=model.heads,
            courses=courses(found, _baselines(exams)),
        )
        return Followed(biography, Profiles.of(biography, self.probes), checkpoints, behaviour)

    def _exams_for(self, model: Model) -> list[Exam]:
        """Return the exams that fit a model, made if there are none yet."""
        fit = [exam for exam in self.exams if exam.fits(model)]
        if not fit:
            fit = [self._exam(model, scope) for scope in dict.fromkeys(probe.scope for probe in self.probes)]
            self.exams.extend(fit)
        return fit

    def _exam(self, model: Model, scope: str) -> Exam:
        asked = [probe for probe in self.probes if probe.scope == scope]
        select, report = (self._texts(corpus, scope) for corpus in self.corpora)
        if self.section.first is not None:
            report = MemoryTexts(report.take(range(min(self.section.first, len(report)))))
        names = sorted({name for probe in asked for name in probe.baselines})
        baselines = learn_baselines(select, asked, names, lexical=False)
        scoring = self.config.scoring
        return Exam.of(
            model, report, asked, baselines, Settings(scoring.batch_pieces, scoring.reduce, maps=scoring.maps)
        )

    def _texts(self, corpus: Corpus, scope: str) -> Texts:
        return corpus.sentences() if scope == "sentence" else corpus.windows(self.config.scoring.window_words)

    def tables(self, lives: Sequence[Followed]) -> dict[str, pd.DataFrame]:
        """Return everything that is told, by the name of its file."""
        margin, seed, replicates = self.config.verdict.margin, self.config.seed, self.section.replicates
        rule, life_rule = OnsetRule(rise=margin, level=margin), LifeRule(margin=margin)
        told = [life.biography for life in lives]
        when = timeline(told, rule, replicates=replicates, seed=seed)
        tables = {
            "biographies": pd.concat([one.table(replicates, seed) for one in told], ignore_index=True),
            "biography_steps": pd.concat([step_rows(life) for life in lives], ignore_index=True),
            "biography_onsets": when.onsets,
            "biography_order": when.order,
            "biography_curves": when.curves,
            "biography_head_onsets": pd.concat([head_onsets(one, rule) for one in told], ignore_index=True),
            "biography_profiles": pd.concat([profile_rows(life, life_rule) for life in lives], ignore_index=True),
            "biography_lives": pd.concat([life_rows(life, life_rule) for life in lives], ignore_index=True),
        }
        if self.section.match_texts:
            roles = {life.biography.seed: life.roles(life_rule) for life in lives}
            matches, partners = self.kinship.tables(roles, told[0].heads)
            tables |= {"biography_matches": matches, "biography_partners": partners}
        return tables


def _baselines(exams: Sequence[Exam]) -> dict[str, Pooled]:
    """Return the sums of all baselines, those of every scope together."""
    names = {name for exam in exams for name in exam.baselines}
    return {
        name: {question: sums for exam in exams for question, sums in exam.baselines.get(name, {}).items()}
        for name in sorted(names)
    }
