"""The behaviours of a run's model by the names that its config has for them: loss, embedding, minimal pairs, labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from pathlib import Path
from typing import Final, Self, cast

import numpy as np

from experiments.config.config import Config
from experiments.config.section import EMBEDDING, LABELS, LOSS
from experiments.run.context import RunContext
from experiments.run.scope import Scored
from mha import MaskedLM, Model, ModelError
from mha.models.packages import sha256
from probes.causal.ablation import ZERO, Heads, measure, single_heads
from probes.causal.behaviours import Behaviour, masked_pieces, preferences, sentence_embeddings
from probes.causal.decisions import Choices, Labels, Score
from probes.causal.downstream import head_accuracy
from probes.causal.gradients import Slopes, slopes
from probes.causal.labelled_rows import LabelError, has_labels, labelled_rows
from probes.causal.labels import Classifier, head_for, label_lead, labels
from probes.corpora.corpus import MemoryTexts
from probes.evidence.question import Effort
from probes.evidence.relations import choose_relations
from probes.pairs.corpora import PairCorpus, open_pairs
from probes.pairs.scores import decide
from probes.scoring.aligned import Aligned, Dropped, sample_texts
from probes.scoring.hashed_random import draws
from probes.scoring.tally import Numbers
from reports.formats import percent, signed, signed_interval
from reports.measures.registry import MeasureError, module_of


@dataclass(frozen=True)
class Behaviours:
    """What a study asks a run's model about: sentences of the report split, minimal pairs, and labelled rows."""

    run: RunContext
    names: Sequence[str]
    items: int
    "Sentences, or pairs, at the most of each: those with the smallest hash."
    pairs: Mapping[str, PairCorpus]
    rows: Mapping[str, Behaviour]
    "What the model's classifier decides of files of labelled rows, by the name of the file."

    @classmethod
    def of(cls, run: RunContext, names: Sequence[str], items: int) -> Self:
        """Return behaviours that can be opened, each by itself.

        Raises ModelError for what needs a masked-LM head, or one of a classifier, where the model has none; CorpusError
        for pairs that are not there, and LabelError for rows without a label of the model.
        """
        section, files = run.config.behaviour, [name for name in names if has_labels(Path(name))]
        paired = [name for name in names if name not in (LOSS, EMBEDDING, *files)]
        if paired or LOSS in names:
            try:
                run.lm  # noqa: B018  # raises now what it would raise after all heads have been scored
            except ModelError as error:
                raise ModelError(f'{error}; behaviours without are "{EMBEDDING}" and {LABELS}') from error
        pairs = {name: open_pairs(name, first=section.first, seed=section.seed) for name in paired}
        return cls(run, names, items, pairs, {name: decisions(run, Path(name), items) for name in files})

    def __iter__(self) -> Iterator[Behaviour]:
        """Yield one after the other; what is left out is noted among the dropped of the run."""
        return (one.behaviour for one in self.weighed())

    def weighed(self) -> Iterator[Weighed]:
        """Yield one after the other with what is measured of it; opened and measured once for all measures."""
        opened = self.run.once(OpenedBehaviours)
        for name in self.names:
            if (name, self.items) not in opened:
                opened[name, self.items] = Weighed(self.run, self._open(name))
            yield opened[name, self.items]

    def _open(self, name: str) -> Behaviour:
        """Open a behaviour: LOSS, EMBEDDING, labelled rows, or minimal pairs, decided as [behaviour] says."""
        if name in self.pairs or name in self.rows:
            behaviour = self._pairs(self.pairs[name]) if name in self.pairs else self.rows[name]
            if name in self.rows:
                own = self.run.config.behaviour.score
                measured = "" if own is None else f"; measured by score of {own.name}, sha256 {sha256([own])[:12]}"
                self.run.note(f"{behaviour.name}: {decided_by(behaviour, self.run.effort)}{measured}")
            dropped = Dropped.of(behaviour.left_out)
        else:
            aligned = self._sentences()
            behaviour, dropped = self._on_sentences(name, aligned), aligned.dropped
        self.run.journal.drop("report", behaviour.name, dropped)
        return behaviour

    def _on_sentences(self, name: str, aligned: Aligned) -> Behaviour:
        if name == EMBEDDING:
            return sentence_embeddings(self.run.model, aligned)
        return masked_pieces(self.run.lm, aligned, seed=self.run.config.seed)

    def _sentences(self) -> Aligned:
        texts = self.run.texts("sentence")[1]
        return Aligned.of(self.run.model, MemoryTexts(sample_texts(texts, self.items)))

    def _pairs(self, corpus: PairCorpus) -> Behaviour:
        items = nsmallest(self.items, enumerate(corpus.stream()), key=lambda one: (draws(corpus.name, one[1]), one[0]))
        method = self.run.config.behaviour.method
        return preferences(self.run.lm, corpus.name, [item for _, item in items], method=method)


SCORE: Final = "a function score(logits, gold)"
"What a file has that says what is measured of labelled rows."


class Classifiers(dict[str, Classifier]):
    """What head decides rows -> the classifier that a study of the run has opened."""


def decisions(run: RunContext, file: Path, items: int) -> Behaviour:
    """Return what the classifier of a run's model decides of at most so many rows of a file."""
    rows, opened = labelled_rows(file), run.once(Classifiers)
    head = head_for(rows)
    if head not in opened:
        opened[head] = Classifier.of(run.model, head)
    own = run.config.behaviour.score
    return labels(opened[head], file.stem, rows, items, None if own is None else own_score(own))


def own_score(file: Path) -> Score:
    """Return the function `score` of a Python file; raises LabelError where there is none."""
    try:
        found = getattr(module_of(file, "headscope_score_", SCORE), "score", None)
    except MeasureError as error:
        raise LabelError(f"behaviour.score: {error}") from error
    if not callable(found):
        raise LabelError(f"behaviour.score: {file}: no function called score in it; expected {SCORE}")
    return cast(Score, found)


def decided_by(behaviour: Behaviour, effort: Effort) -> str:
    """Return in words what decides labelled rows, and how often correctly, beside the most frequent label."""
    assert isinstance(behaviour.reader, Classifier)
    by = f"decided by {behaviour.reader.described}"
    if not isinstance(behaviour, Labels) or isinstance(behaviour, Choices):
        return by
    lead = label_lead(behaviour, effort)
    by += f"; correct for {percent(lead.accuracy)} % of labels, of which {percent(lead.frequent)} % are {lead.label}"
    if lead.low > 0:
        return by
    ends = f"{signed(lead.accuracy - lead.frequent)} points {signed_interval(lead.low, lead.high)}"
    order = "; do the rows number labels in another order?" * (behaviour.reader.numbered and lead.high < 0)
    return f"{by} (⚠ no significant lead over always {lead.label}: {ends}; what heads cost then says little{order})"


@dataclass(frozen=True)
class Weighed:
    """A behaviour, and what is measured of all heads once for all measures that ask."""

    run: RunContext
    behaviour: Behaviour
    _slopes: dict[int, Slopes] = field(default_factory=dict, init=False)

    def slopes(self, directions: int) -> Slopes:
        """Return how the value of each item changes with the gate of each head; embeddings in so many directions."""
        if directions not in self._slopes:
            model, seed = self.run.model, self.run.config.seed
            step = self.run.counter(f"importance, {self.behaviour.name}", len(self.behaviour.prompts))
            found = slopes(self.behaviour, model.layers, model.heads, directions=directions, seed=seed, step=step)
            self._slopes[directions] = found
        return self._slopes[directions]

    @property
    def shape(self) -> tuple[int, int]:
        """Layers with heads that have a part in the behaviour, and heads of each."""
        model, below = self.run.model, self.behaviour.below
        return model.layers if below is None else below, model.heads

    @cached_property
    def singles(self) -> Numbers:
        """Values of all items [1 + head, item]: of the intact model, and with each head ablated by zero."""
        sets = [(), *(one.heads for one in single_heads(*self.shape))]
        step = self.run.counter(f"every head off, {self.behaviour.name}", len(self.behaviour.prompts))
        found: Numbers = measure(self.behaviour, sets, step=step).numpy()
        return found

    def without(self, sets: Sequence[Heads], way: str) -> Numbers:
        """Return values [1 + set, item], the intact model's first; every single head comes first in `sets`."""
        known = [self.singles] if way == ZERO else []
        wanted = [(), *sets][sum(map(len, known)) :]
        if wanted:
            step = self.run.counter(f"ablation, {self.behaviour.name}, {way}", len(self.behaviour.prompts))
            known.append(measure(self.behaviour, wanted, way, step=step).numpy())
        return np.concatenate(known)


class OpenedBehaviours(dict[tuple[str, int], Weighed]):
    """Name and most items -> a behaviour that a study of the run has opened."""


def downstream(run: RunContext, scored: Scored, labels: int, items: int) -> Iterator[Weighed]:
    """Yield the accuracy of the best heads of the labels of a part with the most items, below which are heads."""
    part, model = scored.part, run.model
    by_name = {probe.name: probe for probe in part.probes}
    texts = MemoryTexts(sample_texts(part.texts[1], items))
    for relation in choose_relations(scored.scores, part.probes, labels, model.heads):
        question, head = relation.question, divmod(relation.first, model.heads)
        if not head[0]:
            run.note(f"ablation: the best head on {' '.join(question)} is of the first layer: no head is below it")
            continue
        aligned, reduce = Aligned.of(model, texts), run.config.scoring.reduce
        behaviour = head_accuracy(model, aligned, by_name[question[0]], question, head, reduce=reduce)
        run.journal.drop("report", behaviour.name, aligned.dropped)
        yield Weighed(run, behaviour)


def grader(config: Config, model: Model) -> Callable[[Model], float] | None:
    """Return what tells the accuracy of models on the pairs of the first corpus that have attractors, in [0, 1].

    On all its pairs where none is said to have any. None where the config's [behaviour] names no pairs; raises
    ModelError for a model without a masked-LM head and CorpusError for pairs that are not there.
    """
    section = config.behaviour
    if not section.corpora:
        return None
    MaskedLM.of(model)  # raises now what it would raise after all checkpoints
    first, *_ = [open_pairs(name, first=section.first, seed=section.seed) for name in section.corpora]

    def grade(model: Model) -> float:
        lm = MaskedLM.of(model)
        made = decide(lm, first.stream(), method=section.method, batch_pieces=config.scoring.batch_pieces).made
        attracted = [one for one in made if one.kind.attractors]
        return float(np.mean([one.credit for one in attracted or made])) if made else float("nan")

    return grade
