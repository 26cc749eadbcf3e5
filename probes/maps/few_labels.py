"""Heads from few labels: heads selected, and rules learned, from the same few labelled arcs, on held-out text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd

from mha.models.model import Model
from probes.corpora.corpus import Texts
from probes.maps.ensembles import Answers, choose_ensemble, joined_answers, stream_answers
from probes.records import IntArray
from probes.registry import Probe
from probes.scoring.baseline_texts import Shown
from probes.scoring.baselines import BASELINES, LEXICAL, Baseline, LexicalTable, Offset
from probes.scoring.expert_rules import RULES
from probes.scoring.score import Settings, applicable
from probes.scoring.scorer import score_rows
from probes.scoring.tag_rule import TagRule
from probes.scoring.tally import Numbers, Question
from probes.targets import Items

HEAD, ENSEMBLE, UNTRAINED = "head", "ensemble", "head, random weights"
"What is selected: a head, several whose maps are averaged, a head of randomly initialised weights."

FIXED = "fixed rule"
"The baseline or rule that needs no labels and is best on the arcs."

HEADS = (HEAD, ENSEMBLE, UNTRAINED)

LEARNERS: Final[Mapping[str, Callable[[], Baseline]]] = {
    "offset": Offset,
    LEXICAL: LexicalTable,
    "nearest word of a tag set": TagRule,
}
"What is learned from the same arcs."

RESAMPLES = 20
"Times that the documents of the held-out text are drawn anew for each draw of labelled arcs."


@dataclass
class LabelledArcs:
    """The arcs of one question on one split: what the heads answer, and the texts for those who learn."""

    parts: list[tuple[Shown, Items]] = field(default_factory=list)
    "Batch by batch."
    answered: list[Answers] = field(default_factory=list)

    @cached_property
    def answers(self) -> Answers:
        """Those of all batches, in their order."""
        return joined_answers(self.answered)

    @cached_property
    def hits(self) -> Numbers:
        """[arc, head]."""
        return self.answers.hits(self.answers.values)

    def hits_of_mean(self, heads: Sequence[int]) -> Numbers:
        """Return the hits [arc] of the mean map of some heads."""
        return self.answers.hits(self.answers.values[:, list(heads)].mean(1, keepdim=True))[:, 0]

    def taken(self, arcs: IntArray) -> Iterator[tuple[Shown, Items]]:
        """Yield the texts of each batch with those of its items that are among `arcs`."""
        first = 0
        for shown, items in self.parts:
            inside = arcs[(arcs >= first) & (arcs < first + len(items))] - first
            if len(inside):
                yield shown, items.take(np.sort(inside))
            first += len(items)


def labelled(
    model: Model, texts: Texts, probes: Sequence[Probe], questions: Sequence[Question], settings: Settings
) -> dict[Question, LabelledArcs]:
    """Return the labelled arcs of every question that a text has any for."""
    found: dict[Question, LabelledArcs] = {}
    for batch in stream_answers(model, texts, probes, dict.fromkeys(questions), settings):
        shown = Shown(batch.documents)
        for question, items, answers in batch.questions:
            one = found.setdefault(question, LabelledArcs())
            one.parts.append((shown, items))
            one.answered.append(answers)
    return found


@dataclass(frozen=True)
class FewLabels:
    """Selects and learns from draws of labelled arcs of one question, and evaluates on held-out arcs."""

    select: LabelledArcs
    report: LabelledArcs
    untrained: tuple[Numbers, Numbers]
    "[arc, head] Hits of the heads of randomly initialised weights on both splits."
    probe: Probe
    "Says which baselines and rules make sense."
    draws: int
    largest: int
    "Heads of the largest ensemble."
    seed: int

    def table(self, sizes: Sequence[int]) -> pd.DataFrame:
        """Return a row for each method and number of labelled arcs, where there are as many.

        `accuracy` is the mean over draws of arcs. Its interval, and that of the `lead` of a head or ensemble over the
        strongest rule, are percentiles over draws and resampled documents of the held-out text.
        """
        rows = []
        for size in (size for size in sizes if size <= len(self.select.hits)):
            hits = np.stack([self._hits(size, draw) for draw in range(self.draws)])
            rows += self._rows(size, hits)
        return pd.DataFrame(rows)

    def _hits(self, size: int, draw: int) -> Numbers:
        """[method, arc] Return the hits on the report split after one draw of labelled arcs."""
        arcs = np.random.default_rng((self.seed, draw)).permutation(len(self.select.hits))[:size]
        head, untrained, fixed = (
            int(hits[arcs].mean(0).argmax()) for hits in (self.select.hits, self.untrained[0], self.fixed[0])
        )
        found = [self.report.hits[:, head], self._ensemble(arcs, head), self.untrained[1][:, untrained]]
        found.append(self.fixed[1][:, fixed])
        return np.stack([*found, *(self._learned(LEARNERS[name](), arcs) for name in self.learners)])

    @cached_property
    def learners(self) -> list[str]:
        """The names of what learns."""
        return applicable(self.probe, LEARNERS)

    @cached_property
    def fixed(self) -> list[Numbers]:
        """[arc, rule] The hits of all that needs no labels on both splits."""
        names = [name for name in applicable(self.probe, BASELINES | RULES) if name not in LEARNERS]
        rules = [(BASELINES | RULES)[name]() for name in names]
        return [np.stack([_hits(rule, one.parts) for rule in rules], 1) for one in (self.select, self.report)]

    def _ensemble(self, arcs: IntArray, head: int) -> Numbers:
        """Return the hits of the ensemble that is best on the arcs, the smallest of equals."""
        heads, accuracy = choose_ensemble(self.select.answers.take(arcs).in_runs(), head, self.largest)
        return self.report.hits_of_mean(heads[: int(np.argmax(accuracy)) + 1])

    def _learned(self, learner: Baseline, arcs: IntArray) -> Numbers:
        """Return the hits of what learns from the arcs."""
        for shown, items in self.select.taken(arcs):
            learner.learn(items, shown)
        return _hits(learner, self.report.parts)

    def _rows(self, size: int, hits: Numbers) -> list[dict[str, Any]]:
        """Return the rows of one number of arcs; `hits` is [draw, method, arc]."""
        accuracy, drawn = hits.mean((0, 2)), self._resampled(hits)
        methods = [*HEADS, FIXED, *self.learners]
        best = len(HEADS) + int(accuracy[len(HEADS) :].argmax())
        rows = []
        for place, method in enumerate(methods):
            low, high = np.percentile(drawn[place], (2.5, 97.5))
            row = {"method": method, "arcs": size, "accuracy": accuracy[place], "low": low, "high": high}
            lead = {"best_rule": "", "lead": np.nan, "lead_low": np.nan, "lead_high": np.nan}
            if method in HEADS:
                low, high = np.percentile(drawn[place] - drawn[best], (2.5, 97.5))
                ahead = accuracy[place] - accuracy[best]
                lead = {"best_rule": methods[best], "lead": ahead, "lead_low": low, "lead_high": high}
            rows.append(row | lead)
        return rows

    def _resampled(self, hits: Numbers) -> Numbers:
        """[method, resample] Return the accuracies of every draw on resampled documents, the same for all methods."""
        clusters, of_arc = np.unique(self.report.answers.cluster, return_inverse=True)
        random = np.random.default_rng((self.seed, self.draws))
        times = random.multinomial(len(clusters), np.full(len(clusters), 1 / len(clusters)), (len(hits), RESAMPLES))
        weight = times[..., of_arc].astype(np.float64)
        sums = np.einsum("dma,dra->mdr", hits, weight) / weight.sum(2)
        accuracies: Numbers = sums.reshape(hits.shape[1], -1)
        return accuracies


def _hits(rule: Baseline, parts: Sequence[tuple[Shown, Items]]) -> Numbers:
    """Return the hits [arc] of a baseline or rule as it is."""
    scored = [score_rows(rule.rows(items, shown), items, shown.words)[:, 0, 0] for shown, items in parts]
    hits: Numbers = np.concatenate(scored).astype(np.float64)
    return hits
