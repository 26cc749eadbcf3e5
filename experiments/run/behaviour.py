"""The behaviour of a run's model: which sentences of minimal pairs it prefers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.config.config import Config
from experiments.record.progress import Progress, counter
from experiments.record.run_record import Journal
from mha import MaskedLM, Model
from probes.minimal_pairs import LeftOut
from probes.pairs.corpora import PairCorpus, open_pairs
from probes.pairs.scores import Decisions, decide
from probes.pairs.table import pair_table
from probes.scoring.aligned import Dropped
from reports.run.study_facts import DecidedPairs

SCOPE = "minimal pairs"
"What stands among the dropped, in place of sentences or windows."


@dataclass(frozen=True)
class Examination:
    """The minimal pairs that a run asks its model about."""

    lm: MaskedLM
    corpora: Sequence[PairCorpus]
    config: Config

    @classmethod
    def of(cls, config: Config, model: Model) -> Examination | None:
        """Open what the config's [behaviour] names; None where it names nothing.

        Raises ModelError for a model without a masked-LM head and CorpusError for pairs that are not there.
        """
        section = config.behaviour
        if not section.corpora:
            return None
        lm = MaskedLM.of(model, config.seed)
        corpora = [open_pairs(name, first=section.first, seed=section.seed) for name in section.corpora]
        return cls(lm, corpora, config)

    @classmethod
    def grader(cls, config: Config, model: Model) -> Callable[[Model], float] | None:
        """Return what `grade`s models; None where the config names no pairs, see `of`."""
        examination = cls.of(config, model)
        return None if examination is None else examination.grade

    def hold(self, journal: Journal, progress: Progress) -> pd.DataFrame:
        """Return the accuracy on all pairs, without columns of the run; note what was asked and left out."""
        decided = {}
        for corpus in self.corpora:
            with journal.stage(f"behaviour: {corpus.name}"):
                decided[corpus.name] = self._decide(corpus, journal, progress)
            journal.drop(corpus.name, SCOPE, _dropped(decided[corpus.name].left_out))
        scoring = self.config.scoring
        return pair_table(decided, replicates=scoring.replicates, seed=self.config.seed)

    def grade(self, model: Model) -> float:
        """Return the accuracy of another model on the pairs of the first corpus that have attractors, in [0, 1].

        On all its pairs where none is said to have any.
        """
        first, batch_pieces = self.corpora[0], self.config.scoring.batch_pieces
        lm = MaskedLM.of(model, self.config.seed)
        made = decide(lm, first.stream(), method=self.config.behaviour.method, batch_pieces=batch_pieces).made
        attracted = [one for one in made if one.kind.attractors]
        return float(np.mean([one.credit for one in attracted or made])) if made else float("nan")

    def _decide(self, corpus: PairCorpus, journal: Journal, progress: Progress) -> Decisions:
        items, fingerprint = corpus.count()
        step = counter(progress, f"minimal pairs, {corpus.name}", items)
        section, scoring = self.config.behaviour, self.config.scoring
        batch_pieces = scoring.batch_pieces
        decisions = decide(self.lm, corpus.stream(), method=section.method, batch_pieces=batch_pieces, step=step)
        noted = DecidedPairs(items, len(decisions.made), fingerprint)
        journal.behaviour = {**(journal.behaviour or {}), corpus.name: noted}
        return decisions


def _dropped(left_out: Sequence[LeftOut]) -> Dropped:
    dropped = Dropped()
    for one in left_out:
        dropped.add(one.reason, one.source)
    return dropped
