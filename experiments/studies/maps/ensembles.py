"""Ensembles of a run: how much better the mean map of several heads is than the best head, relation by relation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from experiments.run.context import RunContext
from experiments.run.scope import Scored
from experiments.studies.maps.headset import HeadsSection
from experiments.studies.study import ReadOfStudy, Result, Study
from probes import Probe
from probes.corpora.corpus import MemoryTexts
from probes.evidence.leads import Documents
from probes.maps.ensembles import Answers, choose_ensemble, ensemble_hits, gather_answers
from probes.scoring.aligned import sample_texts
from probes.scoring.tally import Question, Sums

FEWEST = 50
"Items that a relation has on each split, at the least."


@dataclass(frozen=True)
class Relation:
    """A question for which an ensemble is sought."""

    question: Question
    first: int
    "The head that was selected on the selection split, as a flat index."
    baseline: str
    "The strongest baseline or control on the report split."


def choose_relations(scores: pd.DataFrame, probes: Sequence[Probe], count: int, heads: int) -> list[Relation]:
    """Return the `count` labels with the most items on the selection split, each in its best variant there.

    Of probes that need more than words, and of labels with FEWEST items on both splits and something to beat; not of
    those that pool subtypes ("nsubj:*"), whose items other labels ask about. The variant is the one in which the chosen
    head has the largest margin on the selection split.
    """
    key = ["probe", "variant", "label"]
    rows = scores[scores.selected & (scores.n >= FEWEST) & (scores.baseline != "")]
    rows = rows[
        ~rows.label.str.endswith(":*") & rows.probe.isin([probe.name for probe in probes if probe.needs != "words"])
    ]
    report = rows[rows.split == "report"].set_index(key).baseline
    select = rows[(rows.split == "select") & rows.set_index(key).index.isin(report.index)]
    best = select.sort_values(["margin", *key], ascending=[False, True, True, True]).drop_duplicates(["probe", "label"])
    kept = best.sort_values(["n", *key], ascending=[False, True, True, True]).head(count)
    places = zip(*(kept[column].tolist() for column in (*key, "layer", "head")), strict=True)
    return [
        Relation((probe, variant, label), layer * heads + head, str(report[probe, variant, label]))
        for probe, variant, label, layer, head in places
    ]


@dataclass(frozen=True)
class Ensembles(Study[HeadsSection]):
    """The ensembles of all relations of a run."""

    name = "ensembles"
    reads = HeadsSection

    @classmethod
    def open(cls, run: RunContext, section: HeadsSection) -> Self | None:
        """Return the study where it is asked for."""
        return cls(run, section) if section.relations else None

    def of_part(self, scored: Scored) -> Sequence[pd.DataFrame]:
        """Add heads one by one on the selection split, and evaluate all sizes on the report split; a table a relation.

        Texts are read once more, of the selection split no more than `heads.choice_texts` and `heads.words`.
        """
        if all(probe.needs == "words" for probe in scored.part.probes):
            return ()
        with self.run.journal.stage(self.name):
            return [*self._seek(scored)]

    def measure(self, read: ReadOfStudy) -> Result:
        """Return one row a relation and size, the single head first; nothing where no relation has enough items."""
        return Result({"ensembles": pd.concat(read.rows, ignore_index=True)} if read.rows else {})

    def _seek(self, scored: Scored) -> Iterator[pd.DataFrame]:
        """Yield the rows of one relation after the other."""
        model, part = self.run.model, scored.part
        section, report = self.section, scored.splits[1]
        relations = choose_relations(scored.scores, part.probes, section.relations, model.heads)
        sample = MemoryTexts(sample_texts(part.texts[0], section.choice_texts, section.words))
        asked: dict[Question, None] = dict.fromkeys(relation.question for relation in relations)
        known = gather_answers(model, sample, part.probes, asked, part.settings)
        sought = {
            relation.question: choose_ensemble(known[relation.question], relation.first, section.largest)
            for relation in relations
            if relation.question in known
        }
        heads = {question: found[0] for question, found in sought.items()}
        told = gather_answers(model, part.texts[1], part.probes, heads, part.settings)
        for relation in relations:
            if relation.question in told:
                baseline = report.baselines[relation.baseline][relation.question]
                found = sought[relation.question]
                yield _rows(relation, *found, told[relation.question], baseline, model.heads)


def _rows(
    relation: Relation,
    chosen: Sequence[int],
    accuracy: Sequence[float],
    answers: Answers,
    baseline: Sums,
    heads: int,
) -> pd.DataFrame:
    """Return the rows of one relation, a size each."""
    clusters, n, hits = ensemble_hits(answers)
    assert clusters == baseline.clusters, "both answer the same items, so that they are paired"
    documents, told, beaten = Documents.of(n), hits.sum(0) / n.sum(), baseline.hits.sum() / n.sum()
    intervals = {
        "ci": documents.share_interval(hits),
        "gain": np.append(np.zeros((2, 1)), documents.lead_interval(hits[:, 1:] - hits[:, :1]), axis=1),
        "margin": documents.lead_interval(hits - baseline.hits),
    }
    bounds = {
        f"{name}_{end}": bound
        for name, interval in intervals.items()
        for end, bound in zip(("low", "high"), interval, strict=True)
    }
    names = [f"{head // heads + 1}-{head % heads + 1}" for head in chosen]
    probe, variant, label = relation.question
    frame = pd.DataFrame({"select_accuracy": accuracy, "accuracy": told, **bounds})
    return frame.assign(
        probe=probe,
        label=label,
        variant=variant,
        size=frame.index + 1,
        heads=[" ".join(names[: size + 1]) for size in frame.index],
        selected=frame.index == int(np.argmax(accuracy)),
        n=int(n.sum()),
        clusters=len(clusters),
        gain=told - told[0],
        baseline=relation.baseline,
        baseline_accuracy=beaten,
        margin=told - beaten,
    )
