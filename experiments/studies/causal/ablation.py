"""Ablation in a run: what its model does without single heads, whole layers, and the heads that probes select."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pandas as pd

from experiments.studies.causal.behaviours import Behaviours, Weighed
from experiments.studies.maps.ensembles import choose_relations
from experiments.studies.scope import Scored
from experiments.studies.study import Study, Surroundings
from probes.causal.ablation import ZERO, Heads, measure
from probes.causal.ablation_table import COLUMNS, CONTRASTS, ablation_table, contrast_table
from probes.causal.attention_effect import ROLES
from probes.causal.behaviours import Behaviour
from probes.causal.downstream import head_accuracy
from probes.causal.head_sets import CHOSEN, RANDOM, HeadSet, random_sets, single_heads, whole_layers
from probes.corpora.corpus import MemoryTexts
from probes.scoring.aligned import Aligned, sample_texts
from probes.scoring.tally import Numbers
from reports.studies.ablation.tables import CHOSEN_BY

SPECIALISED, MARGIN = CHOSEN_BY


@dataclass
class AblationStudy(Study):
    """What heads cost, on all behaviours that the config names and in all ways."""

    name = "ablation"
    run: Surroundings
    behaviours: Behaviours
    parts: list[Scored] = field(default_factory=list)

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config names behaviours, or asks for accuracies downstream."""
        section = run.config.ablation
        if not (section.behaviours or section.downstream):
            return None
        return cls(run, Behaviours.of(run, section.behaviours, section.items))

    def scored(self, scored: Scored) -> None:
        """Keep the scores: they say which heads the probes select."""
        self.parts.append(scored)

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Return what every set of heads costs, and the chosen heads against random ones."""
        scores = self.run.verdicts([frame for part in self.parts for frame in (part.scores, *part.trained)])
        costs, contrasts, effort = [], [], self.run.effort
        for one, labels in self._behaviours():
            sets, elsewhere = self._sets(one, scores, labels)
            for way in self.run.config.ablation.ways:
                values = self._values(one, sets, way)
                costs.append(ablation_table(one.behaviour, way, sets, values, effort))
                contrasts.append(contrast_table(one.behaviour, way, sets, values, effort, elsewhere=elsewhere))
        found = {"ablations": (costs, COLUMNS), "ablation_contrasts": (contrasts, CONTRASTS)}
        return {name: _joined(frames, columns) for name, (frames, columns) in found.items()}

    def _values(self, one: Weighed, sets: Sequence[HeadSet], way: str) -> Numbers:
        """Return [1 + set, item], the intact model's first; single heads, which come first, by zero once for all."""
        known = one.singles if way == ZERO else np.empty((0, len(one.behaviour.clusters)))
        wanted = [(), *(one.heads for one in sets)][len(known) :]
        if not wanted:
            return known
        step = self.run.counter(f"ablation, {one.behaviour.name}, {way}", len(one.behaviour.asked))
        return np.concatenate([known, measure(one.behaviour, wanted, way, step=step).numpy()])

    def _behaviours(self) -> Iterator[tuple[Weighed, Sequence[str]]]:
        """Yield every behaviour, and the labels whose heads should matter for it."""
        labels = self.run.config.ablation.labels
        for one in self.behaviours.weighed():
            own = tuple(role.selects for role in ROLES if one.behaviour.name in role.behaviours)
            yield one, labels or own
        for behaviour in self._downstream():
            yield Weighed(self.run, behaviour), ()

    def _downstream(self) -> Iterator[Behaviour]:
        """Yield the accuracy of the best heads of the labels with the most items, but for those of the first layer."""
        config, model = self.run.config, self.run.model
        if not config.ablation.downstream:
            return
        for scored in self.parts:
            part = scored.part
            by_name = {probe.name: probe for probe in part.probes}
            texts = MemoryTexts(sample_texts(part.texts[1], config.ablation.items))
            for relation in choose_relations(scored.scores, part.probes, config.ablation.downstream, model.heads):
                question, head = relation.question, divmod(relation.first, model.heads)
                if not head[0]:
                    self.run.note(
                        f"ablation: the best head on {' '.join(question)} is of the first layer: no head is below it"
                    )
                    continue
                aligned, reduce = Aligned.of(model, texts), config.scoring.reduce
                behaviour = head_accuracy(model, aligned, by_name[question[0]], question, head, reduce=reduce)
                self.behaviours.note(behaviour.name, aligned.dropped)
                yield behaviour

    def _sets(self, one: Weighed, scores: pd.DataFrame, labels: Sequence[str]) -> tuple[list[HeadSet], dict[str, int]]:
        """Return what is switched off, and how many random heads of each label are of other layers than its own."""
        section, shape = self.run.config.ablation, one.shape
        sets = single_heads(*shape) + (whole_layers(*shape) if section.layers else [])
        elsewhere = {}
        for label in labels if section.draws else ():
            chosen, by = choose_heads(scores, label, section.top)
            drawn = random_sets(chosen, shape, section.draws, (self.run.config.seed,))
            if drawn is None:
                many = f"{len(chosen)} of {shape[0] * shape[1]} heads are chosen" if chosen else "no head is chosen"
                self.run.note(f"ablation: {many} by {label}, so none are held against random ones")
                continue
            sets.append(HeadSet(CHOSEN, label, chosen, by=by))
            sets += [HeadSet(RANDOM, label, heads, number) for number, heads in enumerate(drawn.sets, 1)]
            elsewhere[label] = drawn.elsewhere
        return sets, elsewhere


def choose_heads(scores: pd.DataFrame, label: str, top: int) -> tuple[Heads, str]:
    """Return the heads of "probe: label", or of any label of "probe", in order, and what they are chosen by.

    See `AblationSection.top`. None where nothing of the label was scored.
    """
    probe, _, name = label.partition(": ")
    rows = scores[(scores["probe"] == probe) & (scores["label"] == name if name else True)]
    found, by = rows[(rows["split"] == "report") & rows["specialised"]], SPECIALISED
    if top or found.empty:
        best = rows[(rows["split"] == "select") & rows["margin"].notna()]
        best = best.sort_values(["margin", "layer", "head"], ascending=[False, True, True])
        found, by = best.drop_duplicates(["layer", "head"]).head(max(top, 1)), MARGIN
    places = zip(found["layer"].tolist(), found["head"].tolist(), strict=True)
    return tuple(sorted(set(places))), by


def _joined(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    kept = [frame for frame in frames if len(frame)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=list(columns))
