"""The part of a run in which a model, and what it is compared with, reads texts of one scope, and its scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import pandas as pd

from experiments.config.config import Config
from experiments.inputs.controls import Control, controls
from experiments.inputs.corpora import remark_notes
from experiments.record.job import AsSums
from experiments.run.context import RunContext
from mha import Model
from mha.models.kept_maps import KeptMaps
from mha.parallel import side_by_side
from probes import Probe
from probes.corpora.corpus import MemoryTexts, Texts
from probes.evidence.control_heads import best_heads
from probes.evidence.results import SPLITS, Split, pooled_sums, score_table
from probes.maps.relation_attention import RelationAttention, add_relation_attention
from probes.registry import NEEDS, RANDOM, Selective
from probes.scoring.aligned import Places, name_of, sample_texts
from probes.scoring.baselines import BASELINES
from probes.scoring.observers import Observer
from probes.scoring.prepared import PreparedTargets
from probes.scoring.score import Settings, learn_baselines, score_corpus
from probes.scoring.tally import Pooled
from probes.words.own import OwnProbe

Looker = TypeVar("Looker", bound=Observer)
"A kind of observer."

ShowScores = Callable[[pd.DataFrame], None]
"Is shown the scores of a part before it is compared with other models; nothing in them is tested."


Observe = Callable[[str, str, Texts], Sequence[Observer]]
"Returns what sees the maps of a split of a scope, and of its texts, while heads are scored."


@dataclass(frozen=True)
class Part:
    """The part of a run in which the model reads texts of one scope."""

    run: RunContext
    scope: str
    observe: Observe | None = None
    "None where nothing is measured, and for what is read by workers."
    codelength: bool = False
    "Whether trained probes are coded too."
    first: ShowScores | None = None

    @property
    def config(self) -> Config:
        """The config of the run."""
        return self.run.config

    @property
    def model(self) -> Model:
        """The model of the run."""
        return self.run.model

    @cached_property
    def probes(self) -> Sequence[Probe]:
        """The probes of the scope."""
        return self.run.probes(self.scope)

    @cached_property
    def texts(self) -> Sequence[Texts]:
        """What the model reads, of the selection split and of the report split."""
        return self.run.texts(self.scope)

    @property
    def settings(self) -> Settings:
        """How maps are read; those of the run's model are kept when its heads are scored."""
        return replace(self.run.settings, kept=self.own_maps)

    @cached_property
    def own_maps(self) -> KeptMaps:
        """Maps of the run's model, where anything asks for them after its heads were scored."""
        scoring, later = self.config.scoring, self.config.probes.trained or self.observe
        return KeptMaps(self.model, scoring.kept_mb << 20 if later else 0)

    def score(self) -> Scored:
        """Return the scores of all heads, and those of trained probes if the config wants them."""
        journal = self.run.journal
        observers: dict[str, Sequence[Observer]] = {
            split: [] if self.observe is None else self.observe(self.scope, split, texts)
            for split, texts in zip(SPLITS, self.texts, strict=True)
        }
        observers[SPLITS[1]] = [*observers[SPLITS[1]], *self._relation_attention()]
        splits = self._splits(observers)
        if self.first is not None:
            with journal.stage("first page"):
                self.first(self._table(splits, observers[SPLITS[1]], test=False))
        observers |= self._add_controls(splits[1])
        with journal.stage("statistics"):
            scores = self._table(splits, observers[SPLITS[1]], test=True)
        for probe in self.probes:
            for split, texts in zip(SPLITS, self.texts, strict=True):
                for note in remark_notes(f"{probe.name} ({split})", _left_out(probe, texts)):
                    journal.note(note)
            if isinstance(probe, OwnProbe):
                both = (text for texts in self.texts for chunk in texts.chunks(1000) for text in chunk)
                for note in probe.notes(both):
                    journal.note(note)
                evaluated = (text for chunk in self.texts[1].chunks(1000) for text in chunk)
                journal.questions[probe.name] = probe.fingerprint(evaluated)
            if probe.name not in set(scores.probe):
                journal.note(f"{probe.name}: the corpora have no items for it, it needs {NEEDS[probe.needs]}")
        if not self.config.probes.trained:
            return Scored(self, scores, splits, (), observers)
        with journal.stage("trained probes"):
            name = f"trained probes ({self.scope}s)"
            trained = self.run.part(name, lambda: {name: self._trained(name)})
            return Scored(self, scores, splits, [*trained.values()], observers)

    @cached_property
    def controls(self) -> Sequence[Control]:
        """The controls that any probe of the scope has."""
        kinds = {kind for probe in self.probes for kind in probe.controls}
        return [one for one in controls(self.config, self.model) if one.kind in kinds]

    @cached_property
    def sample(self) -> MemoryTexts:
        """The texts of the report split that controls read."""
        words = self.config.controls.sample_words
        return MemoryTexts(sample_texts(self.texts[1], words, words))

    @cached_property
    def sampled_targets(self) -> PreparedTargets:
        """What is asked about the sample, laid out once for all controls that read words in their order."""
        return self._targets(None)

    def _targets(self, places: Places | None) -> PreparedTargets:
        return PreparedTargets.of(self.model, self.sample, self.probes, {}, self.settings, places)

    def _add_controls(self, split: Split) -> Mapping[str, Sequence[Observer]]:
        """Add controls to what heads of the report split are compared with.

        Several read at a time. Return what has seen the maps of some, by name.
        """
        models = self.controls
        if not models:
            return {}
        beside = {one.name: self.control_observers(one) for one in models}
        seconds: dict[str, float] = {}

        def read(one: Control) -> Pooled:
            start = time.perf_counter()
            see = beside[one.name]
            heads = self.run.job.part(self.part_name(one), lambda: self.control_heads(one, see), AsSums(see))
            seconds[f"control: {one.kind}"] = seconds.get(f"control: {one.kind}", 0) + time.perf_counter() - start
            return heads

        start = time.perf_counter()
        self.run.journal.begin("controls")
        heads = self.each_control(read, models)
        for kind in dict.fromkeys(one.kind for one in models):
            of_kind = [pooled for one, pooled in zip(models, heads, strict=True) if one.kind == kind]
            split.controls[kind] = best_heads(of_kind)
            split.controlled[kind] = next(one for one in models if one.kind == kind).controlled(self.probes)
        self.run.journal.share(seconds, time.perf_counter() - start)
        self.run.journal.note(self._sample_note(split))
        return beside

    def _sample_note(self, split: Split) -> str:
        """Say what controls read, and how exact their levels are."""
        errors = np.array(
            [
                float(level.error)
                for question in split.heads
                for level in split.levels(question).values()
                if np.isfinite(level.error)
            ]
        )
        if not len(errors):
            return f"{self.scope}s: nothing that controls read is asked about in two documents: no levels, no tests"
        lacking = sum(map(split.lacks, split.heads))
        untested = (
            f"; {lacking} labels and directions are not tested, for controls read them in fewer than two documents"
        )
        return (
            f"{self.scope}s: controls read {len(self.sample):,} of {len(self.texts[1]):,} texts of the report "
            f"split; the standard error of their levels is {100 * np.median(errors):.1f} points (median; "
            f"{100 * errors.max():.1f} at the most){untested * bool(lacking)}"
        )

    def each_control(self, read: Callable[[Control], Pooled], models: Sequence[Control]) -> list[Pooled]:
        """Return the sums of all controls, of which several are read at a time."""
        self.sampled_targets  # noqa: B018  # once, before threads ask for it
        return side_by_side(read, models)

    def part_name(self, one: Control) -> str:
        """Return what the sums of a control are kept as."""
        return f"{one.name} ({self.scope}s)"

    def control_observers(self, one: Control) -> list[RelationAttention]:
        """Return the observers of a control's maps: of the first with random weights, over all words."""
        return self._relation_attention() if one.name == RANDOM else []

    def _relation_attention(self) -> list[RelationAttention]:
        """Return what measures attention over all words; nothing where other maps are read."""
        weights = self.config.scoring.maps == "weights"
        return [RelationAttention(self.model.layers, self.model.heads, self.probes)] if weights else []

    def _table(self, splits: Sequence[Split], observers: Sequence[Observer], *, test: bool) -> pd.DataFrame:
        """Return the scores of all heads; `observers` have seen the report split."""
        shape, margin = (self.model.layers, self.model.heads), self.config.verdict.margin
        scores = score_table(*splits, shape=shape, effort=self.run.effort, margin=margin, test=test)
        for pairs in (one for one in observers if isinstance(one, RelationAttention)):
            scores = add_relation_attention(scores, pairs)
        return scores

    def _splits(self, observers: Mapping[str, Sequence[Observer]]) -> list[Split]:
        """Return the sums of both splits: of heads and baselines, which take one pass."""
        journal = self.run.journal
        with journal.stage("learn baselines"):
            left_out = {*BASELINES}.difference(self.config.probes.baselines or BASELINES)
            names = {name for probe in self.probes for name in (*probe.baselines, *probe.rules)}
            baselines = learn_baselines(self.texts[0], self.probes, sorted(names - left_out))
        if ungraded := [one.name for one in self.probes if one.rules and baselines.keys().isdisjoint(one.rules)]:
            journal.note(
                "fewer than half of the words have a part of speech of Universal Dependencies, by which rules of "
                f"grammar go; without a rule no head has grade 3: {', '.join(ungraded)}"
            )
        splits = []
        for split, texts in zip(SPLITS, self.texts, strict=True):
            with journal.stage(f"score {split}"):
                step = self._counter(split, len(texts))
                outcome = score_corpus(
                    self.model,
                    texts,
                    self.probes,
                    baselines,
                    self.settings,
                    step,
                    observers=[*observers[split], self.own_maps],
                )
                step(len(texts) - outcome.texts)
            journal.count(split, self.scope, outcome)
            splits.append(Split(*pooled_sums(outcome, self.probes)))
        return splits

    def _counter(self, what: str, of: int) -> Callable[[int], None]:
        return self.run.counter(f"{what} ({self.scope}s)", of)

    def control_heads(self, one: Control, observers: Sequence[RelationAttention]) -> Pooled:
        """Return the sums of a control's heads on the sample; `observers` see its maps."""
        model, step = one.load(), self._counter(one.kind, len(self.sample))
        if observers:
            outcome = score_corpus(
                model, self.sample, self.probes, {}, self.settings, step, hits_alone=True, observers=observers
            )
            heads = pooled_sums(outcome, self.probes)[0]
        else:
            targets = self.sampled_targets if one.places is None else self._targets(one.places)
            heads = targets.put(model, step, hits_alone=True)
        return one.applicable(heads, self.probes)

    def _trained(self, name: str) -> pd.DataFrame:
        from probes.trained.classifier import fit_classifiers

        select, report = self.texts
        return fit_classifiers(
            self.model,
            select,
            report,
            self.probes,
            self.settings,
            pairs=self.config.probes.trained_pairs,
            replicates=self.config.scoring.replicates,
            seed=self.config.seed,
            codelength=self.codelength,
            progress=lambda done, of: self.run.progress(name, done, of),
        )


def _left_out(probe: Probe, texts: Texts) -> Iterator[tuple[str, str]]:
    """Yield the id of a sentence and why for everything that a probe does not ask about."""
    if isinstance(probe, Selective):
        for chunk in texts.chunks(1000):
            for text in chunk:
                yield from ((name_of(text), reason) for reason in probe.left_out(text))


@dataclass(frozen=True)
class Scored:
    """A part of a run whose heads have been scored."""

    part: Part
    scores: pd.DataFrame
    splits: Sequence[Split]
    "The sums that the scores come from."
    trained: Sequence[pd.DataFrame]
    "The scores of trained probes, where the config wants them."
    observers: Mapping[str, Sequence[Observer]]
    "Split, or name of a control -> what has seen its maps: of all measures; of a control's only the report split."

    @property
    def frames(self) -> list[pd.DataFrame]:
        """All scores: those of the heads, then those of trained probes."""
        return [self.scores, *self.trained]

    def observed(self, kind: type[Looker], split: str) -> list[Looker]:
        """Return the observers of a kind that have seen the maps of a split, or of a control; none where it was not."""
        return [one for one in self.observers.get(split, ()) if isinstance(one, kind)]
