"""Ablation in a run: what its model does without single heads, whole layers, and the heads that probes select."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import pandas as pd

from experiments.behaviours import Behaviours
from experiments.ensembles import choose_relations
from experiments.study import Scored, Study, Surroundings
from probes.ablation import Heads, measure
from probes.ablation_table import COLUMNS, CONTRASTS, ablation_table, contrast_table
from probes.aligned import Aligned, sample_texts
from probes.behaviours import Behaviour
from probes.corpora import MemoryTexts
from probes.downstream import head_accuracy
from probes.evidence import Effort
from probes.head_sets import CHOSEN, RANDOM, HeadSet, random_sets, single_heads, whole_layers
from probes.link import ROLES
from probes.results import add_verdicts
from probes.statistics import Rule
from reports.ablation_tables import CHOSEN_BY

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
        scores, costs, contrasts = self._verdicts(), [], []
        for behaviour, labels in self._behaviours():
            sets, elsewhere = self._sets(behaviour, scores, labels)
            for way in self.run.config.ablation.ways:
                step = self._counter(f"ablation, {behaviour.name}, {way}", len(behaviour.asked))
                values = measure(behaviour, [(), *(one.heads for one in sets)], way, step=step).numpy()
                costs.append(ablation_table(behaviour, way, sets, values, self._effort))
                contrasts.append(contrast_table(behaviour, way, sets, values, self._effort, elsewhere=elsewhere))
        found = {"ablations": (costs, COLUMNS), "ablation_contrasts": (contrasts, CONTRASTS)}
        return {name: _joined(frames, columns) for name, (frames, columns) in found.items()}

    @property
    def _effort(self) -> Effort:
        scoring = self.run.config.scoring
        return Effort(scoring.replicates, scoring.flips, self.run.config.seed)

    def _counter(self, what: str, of: int) -> Callable[[int], None]:
        done = 0

        def step(texts: int) -> None:
            nonlocal done
            done += texts
            self.run.progress(what, done, of)

        return step

    def _verdicts(self) -> pd.DataFrame:
        """Return the scores of the whole run with the verdicts that it will give."""
        frames = [frame for part in self.parts for frame in (part.scores, *part.trained) if len(frame)]
        verdict = self.run.config.verdict
        return add_verdicts(pd.concat(frames, ignore_index=True), Rule(verdict.alpha, verdict.margin))

    def _behaviours(self) -> Iterator[tuple[Behaviour, Sequence[str]]]:
        """Yield every behaviour, and the labels whose heads should matter for it."""
        labels = self.run.config.ablation.labels
        for name in self.behaviours.names:
            behaviour = self.behaviours.open(name)
            own = tuple(role.selects for role in ROLES if behaviour.name in role.behaviours)
            yield behaviour, labels or own
        for behaviour in self._downstream():
            yield behaviour, ()

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
                    self._note(f"the best head on {' '.join(question)} is of the first layer: no head is below it")
                    continue
                aligned, reduce = Aligned.of(model, texts), config.scoring.reduce
                behaviour = head_accuracy(model, aligned, by_name[question[0]], question, head, reduce=reduce)
                self.behaviours.note(behaviour.name, aligned.dropped)
                yield behaviour

    def _sets(
        self, behaviour: Behaviour, scores: pd.DataFrame, labels: Sequence[str]
    ) -> tuple[list[HeadSet], dict[str, int]]:
        """Return what is switched off, and how many random heads of each label are of other layers than its own."""
        section, model = self.run.config.ablation, self.run.model
        shape = (model.layers if behaviour.below is None else behaviour.below, model.heads)
        sets = single_heads(*shape) + (whole_layers(*shape) if section.layers else [])
        elsewhere = {}
        for label in labels if section.draws else ():
            chosen, by = choose_heads(scores, label, section.top)
            drawn = random_sets(chosen, shape, section.draws, (self.run.config.seed,))
            if drawn is None:
                many = f"{len(chosen)} of {shape[0] * shape[1]} heads are chosen" if chosen else "no head is chosen"
                self._note(f"{many} by {label}, so none are held against random ones")
                continue
            sets.append(HeadSet(CHOSEN, label, chosen, by=by))
            sets += [HeadSet(RANDOM, label, heads, number) for number, heads in enumerate(drawn.sets, 1)]
            elsewhere[label] = drawn.elsewhere
        return sets, elsewhere

    def _note(self, said: str) -> None:
        notes = self.run.journal.record["notes"]
        if (note := f"ablation: {said}") not in notes:
            notes.append(note)


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
