"""Whether functions migrate: which head is the best at what, before and after others are taken out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from mha.causal.interventions import Ablate
from mha.models.model import Model
from probes.causal.ablation import Heads
from probes.causal.head_sets import head_name
from probes.corpora.corpus import Texts
from probes.evidence.question import Effort
from probes.evidence.results import Split, pooled_sums, questions
from probes.registry import Probe
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Numbers, Sums

COLUMNS = (
    *("probe", "label", "variant", "n", "clusters", "best", "best_accuracy", "stays", "kept", "kept_accuracy"),
    *("after", "after_accuracy", "change", "ci_low", "ci_high"),
)
"Columns of `migration_table`."


def score_without(
    model: Model, texts: Sequence[Texts], probes: Sequence[Probe], heads: Heads, settings: Settings
) -> list[Split]:
    """Return the hits of all heads on each of `texts` while some heads are ablated by zero."""
    changes = tuple(Ablate(*head) for head in heads)
    outcomes = (
        score_corpus(model, one, probes, {}, settings, changes=lambda documents, batch: changes, hits_alone=True)
        for one in texts
    )
    return [Split(*pooled_sums(outcome, probes)) for outcome in outcomes]


def migration_table(
    before: Sequence[Split], after: Sequence[Split], kept: npt.NDArray[np.bool_], effort: Effort
) -> pd.DataFrame:
    """Return one row a question, in COLUMNS; `kept` [layer, head] says which heads are left.

    Three heads are selected on the selection split, and told of on the report split: `best` of all heads before,
    `kept`, the best before of those that stay, and `after`, the best of these once the others are gone. `change` is
    the accuracy of `after` less that of `kept`, paired, with an interval of resampled clusters: above 0 where the
    heads that are left have taken over. Questions that a split does not ask are left out.
    """
    bootstrap = effort.resamples(before[1].clusters, 1)
    stay = kept.ravel()
    rows = []
    for question in questions(*before):
        asked = [split.heads.get(question) for split in (*before, *after)]
        if any(sums is None for sums in asked):
            continue
        select, report, select_after, report_after = (sums for sums in asked if sums is not None)
        best = int(select.hits.sum(0).argmax())
        own = int(_only(select, stay).argmax())
        new = int(_only(select_after, stay).argmax())
        hits = np.stack([report.hits[:, best], report.hits[:, own], report_after.hits[:, new]], axis=1)
        resamples = bootstrap.of(report.clusters, report.n)
        low, high = resamples.interval(resamples.means((hits[:, 2] - hits[:, 1])[:, None]))[:, 0]
        accuracy = hits.sum(0) / report.n.sum()
        named = {
            name: head_name(divmod(head, kept.shape[1]))
            for name, head in (("best", best), ("kept", own), ("after", new))
        }
        told = dict(zip(("best_accuracy", "kept_accuracy", "after_accuracy"), accuracy.tolist(), strict=True))
        about = {"probe": question[0], "label": question[2], "variant": question[1], "n": int(report.n.sum())}
        about |= {"clusters": len(report.clusters), "stays": bool(stay[best])}
        rows.append({**about, **named, **told, "change": accuracy[2] - accuracy[1], "ci_low": low, "ci_high": high})
    return pd.DataFrame(rows, columns=[*COLUMNS])


def _only(sums: Sums, stay: npt.NDArray[np.bool_]) -> Numbers:
    """Return the hits of each head, less than none of those that are gone."""
    return np.where(stay, sums.hits.sum(0), -1)
