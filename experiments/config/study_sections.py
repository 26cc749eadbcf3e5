"""The tables of a config that say what is measured of heads beside their scores, see `experiments.run.studies`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from experiments.config.section import BehaviourNames, Section
from probes import get_probe
from probes.causal.ablation import WAYS
from probes.corpora.named import NAMED_RATINGS
from probes.corpora.ratings import ratings_path
from probes.trained.tasks import TASKS, ProbingTask, get_task

ALL, ARC = "all", "arc"
"What stands among the names of tasks for all of them, and for the trained probes on pairs of words."


class ShapesSection(Section):
    """Whether the shape of maps is told: entropies, what gets attention at which distance, sieves and classes."""

    enabled: bool = True
    "Whether it is measured, in the pass in which heads are scored."
    threshold: float = Field(default=3.0, gt=0)
    "A head is said to have the bias of a sieve whose score is surely above this (Pande et al. 2021: 3; even: 1)."


class RelatednessSection(Section):
    """Whether heads attend more between words that people find more related, see `probes.maps.relatedness`."""

    ratings: tuple[str, ...] = ()
    "Names of ratings (men; simlex and simverb as the contrast), or files of them, relative to the config file."
    permutations: int = Field(default=999, ge=19)
    "Times that ratings are dealt anew; p cannot be below 1 / (permutations + 1)."

    @model_validator(mode="after")
    def _there(self) -> Self:
        for name in self.ratings:
            if name not in NAMED_RATINGS:
                ratings_path(name)
            if self.ratings.count(name) > 1:
                raise ValueError(f"ratings {name!r} are named twice")
        return self


class CircuitsSection(Section):
    """What the weights alone say of heads, held against what they do on text; for models of the BERT family."""

    enabled: bool = False
    "Whether weights are asked at all."
    words: int = Field(default=500, ge=20)
    "Words of the vocabulary between which heads are asked, evenly spaced in its order."
    sentences: int = Field(default=500, ge=1)
    "Sentences of the report split that are read to compare."
    relations: Path | None = None
    """A file of word pairs in the place of those that headscope brings, relative to the config: lines of a relation, a
    source and a target, divided by tabs."""


class PatchingSection(Section):
    """Which heads bring an answer back that a corrupted sentence has lost; for models with a masked-LM head."""

    enabled: bool = False
    "Whether heads are patched at all."
    items: int = Field(default=200, ge=2)
    "Sentences of the grammar that are patched at the most."
    seed: int = 83
    "Seed of these sentences, which should be none of a grammar that the model was trained on."


class ClassifiersSection(Section):
    """What classifiers are trained to tell from the heads, beside control tasks; nothing where nothing is said."""

    tasks: tuple[str, ...] = ()
    """Tasks of `probes.trained.tasks` that a classifier of every head learns; "arc" codes those of probes.trained too,
    and "all" stands for all tasks but that."""
    examples: int = Field(default=2000, ge=20)
    "Examples a task and split at the most."
    random: bool = True
    "Whether classifiers and parsers are also trained on the heads of a model with fresh weights."
    layers: bool = True
    "Whether the tasks are also learned from whole layers, to say which layer solves what."
    codes: int = Field(default=0, ge=0)
    "How often other examples are coded, in another order and beside another control task, to say what is chance."
    coded: tuple[str, ...] = ()
    "Those of the tasks about words that are coded anew; all of them where none is named."
    parser: bool = False
    "Whether parsers are trained on the attention of all heads at once."
    sentences: int = Field(default=500, ge=1)
    "Sentences a split that a parser is shown at the most."
    workers: int = Field(default=0, ge=0)
    "Processes that train side by side, 0 for as many as there are cores; no number depends on it."

    @model_validator(mode="after")
    def _known(self) -> Self:
        for name in self.tasks:
            if name not in (ALL, ARC):
                get_task(name)
            if self.tasks.count(name) > 1:
                raise ValueError(f"task {name!r} is named twice")
        asked = [task.name for task in self.asked]
        if asked and (other := sorted({*self.coded}.difference(asked))):
            raise ValueError(f"coded has {other[0]!r}, which is not among the tasks about words: {', '.join(asked)}")
        return self

    @property
    def asked(self) -> tuple[ProbingTask, ...]:
        """The tasks that are learned from what heads give to words."""
        return tuple(task for name, task in TASKS.items() if name in self.tasks or ALL in self.tasks)


class AnswersSection(Section):
    """How well a model does that [train] trains to answer in one of two words, and what its answers rest on."""

    questions: int = Field(default=0, ge=0)
    "Held-out texts of the training, at the most, that the model is asked about; 0 for none."
    texts: int = Field(default=200, ge=0)
    "Of these, how many attention, rollout and flow are held against what their answers rest on; 0 for none."
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


class DriftSection(Section):
    """What a training made of the maps that it began with, see `probes.maps.drift`."""

    texts: int = Field(default=0, ge=0)
    "Sentences of the report split on which the maps of the first checkpoint and of the model are compared; 0 for none."


class HeadsSection(Section):
    """What is said of the heads as a set: how far they are from each other, and what several do together."""

    texts: int = Field(default=400, ge=0)
    """Texts of the report split on which all heads are compared, by the maps and the outputs that they have there; 0
    for no comparison."""
    groups: int = Field(default=0, ge=0)
    "Groups that heads are divided into; 0 for as many as have the highest mean silhouette."
    permutations: int = Field(default=9999, ge=19)
    "Times that heads are dealt out to layers anew, for the test of within-layer against between-layer pairs."
    relations: int = Field(default=24, ge=0)
    "Labels, those with the most items, for which ensembles are sought; 0 for no ensembles."
    largest: int = Field(default=4, ge=2, le=8)
    "Heads of the largest ensemble."
    choice_texts: int = Field(default=1000, ge=1)
    "Texts of the selection split, at the most, on which ensembles are chosen."
    words: int = Field(default=20_000, ge=1)
    "Words, at the most, of the texts on which heads are compared, and of those on which ensembles are chosen."


class AblationSection(Section):
    """What the model does without some of its heads: every head, every layer, and heads that the probes select."""

    behaviours: BehaviourNames = ()
    """"loss" and "embedding", on sentences of the report split, and minimal pairs as in [behaviour]; all but
    "embedding" take a model with a masked-LM head. Nothing is switched off where nothing is said."""
    ways: tuple[Literal["zero", "uniform", "mean", "mean by position", "resample"], ...] = Field(
        default=("zero",), min_length=1
    )
    "What stands in the place of a head, see `probes.causal.ablation.WAYS`."
    layers: bool = True
    "Whether whole layers are switched off as well."
    items: int = Field(default=500, ge=2)
    "Sentences, or pairs, at the most of each behaviour."
    labels: tuple[str, ...] = ()
    """Labels ("probe: label", or "probe" for any of its labels) whose heads are switched off together and held against
    random heads; where nothing is said those that match a behaviour (`probes.causal.attention_effect.ROLES`)."""
    top: int = Field(default=0, ge=0)
    """Heads of a label: that many with the largest margins on the selection split, in any variant; 0 for those with
    the verdict that they are specialised, or the one with the largest margin where there is none."""
    draws: int = Field(default=20, ge=0)
    "Sets of random heads that the heads of a label are held against; 0 for no such contrast."
    downstream: int = Field(default=0, ge=0)
    """Labels of sentences, and of windows, those with the most items, whose best head's accuracy is a behaviour too:
    heads below it are switched off. Attention is read, whatever maps are scored."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        for way in self.ways:
            if self.ways.count(way) > 1:
                raise ValueError(f"way {way!r} is named twice")
        for label in self.labels:
            probe, colon, name = label.partition(": ")
            if bool(colon) != bool(name):
                raise ValueError(f'label {label!r}: expected "probe: label", such as "agreement: all", or "agreement"')
            get_probe(probe)
        return self


class ImportanceSection(Section):
    """How much behaviours change with the gates of heads: gradient importance (Michel et al. 2019)."""

    behaviours: BehaviourNames = ()
    "As in [ablation]; importance is not measured where nothing is said."
    items: int = Field(default=500, ge=2)
    "Sentences, or pairs, at the most of each behaviour."
    directions: int = Field(default=8, ge=1)
    "Random directions in which sentence embeddings are followed."
    taylor: bool = True
    "Whether every head is also ablated by zero, to say how far Taylor's series tells what that costs."


class SlopesSection(Section):
    """How much behaviours change with single attention weights, by what they are on (Clark et al. 2019)."""

    behaviours: BehaviourNames = ()
    "As in [ablation]; slopes are not measured where nothing is said."
    items: int = Field(default=500, ge=2)
    "Sentences, or pairs, at the most of each behaviour."
    directions: int = Field(default=8, ge=1)
    "Random directions in which sentence embeddings are followed."


class PruningSection(Section):
    """What behaviours keep while heads are taken out: by importance, by their own cost, and at random."""

    behaviours: BehaviourNames = ()
    "As in [ablation]; nothing is taken out where nothing is said."
    items: int = Field(default=500, ge=4)
    "Sentences, or pairs, at the most of each behaviour: heads are chosen on one half, and told of on the other."
    directions: int = Field(default=8, ge=1)
    "As in [importance]."
    step: float = Field(default=0.1, gt=0, le=1)
    "Share of all heads that goes from one point of the curve to the next."
    draws: int = Field(default=5, ge=1)
    "Random orders."
    left: float = Field(default=0.5, ge=0, lt=1)
    "Share of the heads, by importance, with which the probes score the heads once more; 0 for not at all."


class GatesSection(Section):
    """Gates of heads that are learned and pay for being open (Louizos et al. 2018; Voita et al. 2019, section 6)."""

    behaviours: BehaviourNames = ()
    "As in [ablation]; no gates are learned where nothing is said."
    items: int = Field(default=500, ge=4)
    "Sentences, or pairs, at the most of each behaviour: gates are learned on one half, and told of on the other."
    prices: tuple[float, ...] = Field(default=(0.003, 0.01, 0.03, 0.1), min_length=1)
    "What an open head costs, in the unit of the behaviour; gates are learned anew for each."
    steps: int = Field(default=300, ge=1)
    "Batches that gates are learned on."
    rate: float = Field(default=0.1, gt=0)
    "Learning rate of the gates' log-odds."
    weights: bool = False
    "Whether the weights of a model of the BERT family are trained along, on behaviours of its masked-LM head."
    weights_rate: float = Field(default=1e-4, gt=0)
    "Learning rate of the weights, where they are."

    @model_validator(mode="after")
    def _prices(self) -> Self:
        if min(self.prices) < 0 or len(set(self.prices)) < len(self.prices):
            raise ValueError("prices: expected different numbers of 0 or more")
        return self


assert {"zero", "uniform", "mean", "mean by position", "resample"} == set(WAYS)
