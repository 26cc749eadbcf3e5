"""Ablation in a run: what its model does without single heads, whole layers, and the heads that probes select."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from experiments.config.config import StudySection
from experiments.config.section import BehaviourNames
from experiments.measures.ensembles import choose_relations
from experiments.run.behaviours import Behaviours, Weighed
from experiments.run.context import RunContext
from experiments.run.scope import Scored
from experiments.studies.study import ReadOfStudy, Result, Study
from probes import get_probe
from probes.causal.ablation import WAYS, ZERO, Heads, measure
from probes.causal.ablation_table import COLUMNS, CONTRASTS, ablation_table, contrast_table
from probes.causal.attention_effect import ROLES
from probes.causal.behaviours import Behaviour
from probes.causal.downstream import head_accuracy
from probes.causal.head_sets import RANDOM, SELECTED, HeadSet, random_sets, single_heads, whole_layers
from probes.corpora.corpus import MemoryTexts
from probes.scoring.aligned import Aligned, sample_texts
from probes.scoring.tally import Numbers
from reports.studies.ablation.tables import SELECTED_BY

SPECIALISED, MARGIN = SELECTED_BY


class AblationSection(StudySection):
    """What the model does without some of its heads: every head, every layer, and heads that the probes select."""

    table = "ablation"
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
    that they have a grade, or the one with the largest margin where there is none."""
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


assert {"zero", "uniform", "mean", "mean by position", "resample"} == set(WAYS)


@dataclass(frozen=True)
class AblationResult(Result):
    """What sets of heads cost, and how that compares with random sets."""

    @property
    def costs(self) -> pd.DataFrame:
        """A row a behaviour, way, measure and set of heads (`reports.studies.ablation`)."""
        return self.tables["ablations"]


@dataclass(frozen=True)
class AblationStudy(Study[AblationSection]):
    """What heads cost, on all behaviours that the config names and in all ways."""

    name = "ablation"
    reads, gives = AblationSection, AblationResult
    behaviours: Behaviours

    @classmethod
    def open(cls, run: RunContext, section: AblationSection) -> Self | None:
        """Return the study where its section names behaviours, or wants accuracies downstream."""
        if not (section.behaviours or section.downstream):
            return None
        return cls(run, section, Behaviours.of(run, section.behaviours, section.items))

    def measure(self, read: ReadOfStudy) -> AblationResult:
        """Return what every set of heads costs, and the chosen heads against random ones."""
        scores = self.run.verdicts([frame for part in read.parts for frame in part.frames])
        costs, contrasts, effort = [], [], self.run.effort
        for one, labels in self._behaviours(read.parts):
            sets, elsewhere = self._sets(one, scores, labels)
            for way in self.section.ways:
                values = self._values(one, sets, way)
                costs.append(ablation_table(one.behaviour, way, sets, values, effort))
                contrasts.append(contrast_table(one.behaviour, way, sets, values, effort, elsewhere=elsewhere))
        found = {"ablations": (costs, COLUMNS), "ablation_contrasts": (contrasts, CONTRASTS)}
        return AblationResult({name: _joined(frames, columns) for name, (frames, columns) in found.items()})

    def _values(self, one: Weighed, sets: Sequence[HeadSet], way: str) -> Numbers:
        """Return [1 + set, item], the intact model's first; single heads, which come first, by zero once for all."""
        known = one.singles if way == ZERO else np.empty((0, len(one.behaviour.clusters)))
        wanted = [(), *(one.heads for one in sets)][len(known) :]
        if not wanted:
            return known
        step = self.run.counter(f"ablation, {one.behaviour.name}, {way}", len(one.behaviour.prompts))
        return np.concatenate([known, measure(one.behaviour, wanted, way, step=step).numpy()])

    def _behaviours(self, parts: Sequence[Scored]) -> Iterator[tuple[Weighed, Sequence[str]]]:
        """Yield every behaviour, and the labels whose heads should matter for it."""
        labels = self.section.labels
        for one in self.behaviours.weighed():
            own = tuple(role.selects for role in ROLES if one.behaviour.name in role.behaviours)
            yield one, labels or own
        for behaviour in self._downstream(parts):
            yield Weighed(self.run, behaviour), ()

    def _downstream(self, parts: Sequence[Scored]) -> Iterator[Behaviour]:
        """Yield the accuracy of the best heads of the labels with the most items, but for those of the first layer."""
        section, model, reduce = self.section, self.run.model, self.run.config.scoring.reduce
        if not section.downstream:
            return
        for scored in parts:
            part = scored.part
            by_name = {probe.name: probe for probe in part.probes}
            texts = MemoryTexts(sample_texts(part.texts[1], section.items))
            for relation in choose_relations(scored.scores, part.probes, section.downstream, model.heads):
                question, head = relation.question, divmod(relation.first, model.heads)
                if not head[0]:
                    self.run.note(
                        f"ablation: the best head on {' '.join(question)} is of the first layer: no head is below it"
                    )
                    continue
                aligned = Aligned.of(model, texts)
                behaviour = head_accuracy(model, aligned, by_name[question[0]], question, head, reduce=reduce)
                self.behaviours.note(behaviour.name, aligned.dropped)
                yield behaviour

    def _sets(self, one: Weighed, scores: pd.DataFrame, labels: Sequence[str]) -> tuple[list[HeadSet], dict[str, int]]:
        """Return what is switched off, and how many random heads of each label are of other layers than its own."""
        section, shape = self.section, one.shape
        sets = single_heads(*shape) + (whole_layers(*shape) if section.layers else [])
        elsewhere = {}
        for label in labels if section.draws else ():
            chosen, by = choose_heads(scores, label, section.top)
            drawn = random_sets(chosen, shape, section.draws, (self.run.config.seed,))
            if drawn is None:
                many = f"{len(chosen)} of {shape[0] * shape[1]} heads are selected" if chosen else "no head is selected"
                self.run.note(f"ablation: {many} by {label}, so none are compared with random ones")
                continue
            sets.append(HeadSet(SELECTED, label, chosen, by=by))
            sets += [HeadSet(RANDOM, label, heads, number) for number, heads in enumerate(drawn.sets, 1)]
            elsewhere[label] = drawn.elsewhere
        return sets, elsewhere


def choose_heads(scores: pd.DataFrame, label: str, top: int) -> tuple[Heads, str]:
    """Return the heads of "probe: label", or of any label of "probe", in order, and what they are chosen by.

    See `AblationSection.top`. None where nothing of the label was scored.
    """
    probe, _, name = label.partition(": ")
    rows = scores[(scores["probe"] == probe) & (scores["label"] == name if name else True)]
    found, by = rows[(rows["split"] == "report") & (rows["grade"] > 0)], SPECIALISED
    if top or found.empty:
        best = rows[(rows["split"] == "select") & rows["margin"].notna()]
        best = best.sort_values(["margin", "layer", "head"], ascending=[False, True, True])
        found, by = best.drop_duplicates(["layer", "head"]).head(max(top, 1)), MARGIN
    places = zip(found["layer"].tolist(), found["head"].tolist(), strict=True)
    return tuple(sorted(set(places))), by


def _joined(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    kept = [frame for frame in frames if len(frame)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=list(columns))
