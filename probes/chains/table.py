"""Coreference chains of heads and of their baselines on both splits, as a table: F1 with intervals, and leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import pandas as pd

from probes.chains.links import BASELINES, Links
from probes.chains.scores import MEASURES, SCORES, chain_scores, chain_sums
from probes.evidence.question import Effort
from probes.evidence.results import SPLITS, named_heads
from probes.evidence.statistics import Bootstrap
from probes.records import IntArray
from probes.registry import RANDOM
from probes.scoring.tally import Numbers, cluster_blocks

OPTIONS: Final = np.arange(10) / 10
"Shares of the links of a method that may be left out, the weakest ones."

MENTIONS: Final = MEASURES.index("B3"), 1
"Where the terms of `chain_sums` have the number of mentions."

CHAINS: Final = MEASURES.index("CEAF-e"), 1
"Where they have the number of gold chains."


@dataclass(frozen=True)
class MethodSums:
    """What methods achieve on both splits."""

    least: Numbers
    "[method] How strong a link must be, as learned on the selection split."
    sums: tuple[Numbers, Numbers]
    "Of the selection split and of the report split: the terms of `chain_sums`, [cluster, method, measure, 4]."

    @classmethod
    def of(cls, select: Sequence[Links], report: Sequence[Links]) -> Self:
        """Learn on the texts of the selection split, and score the chains of both."""
        least = learned(select)
        return cls(least, (document_sums(select, least), document_sums(report, least)))

    @property
    def best(self) -> int:
        """The method with the highest CoNLL average on the selection split, the first of equals."""
        return int(chain_scores(self.sums[0].sum(0))[:, -1, 2].argmax())

    def first(self, count: int) -> Self:
        """Return the first methods alone."""
        return type(self)(self.least[:count], (self.sums[0][:, :count], self.sums[1][:, :count]))

    def with_best_of(self, other: Self) -> Self:
        """Return these methods and, behind them, the best one of others that linked the same texts."""
        best = [other.best]
        select, report = (np.hstack([own, sums[:, best]]) for own, sums in zip(self.sums, other.sums, strict=True))
        return type(self)(np.append(self.least, other.least[best]), (select, report))


def document_sums(texts: Sequence[Links], least: Numbers) -> Numbers:
    """Return the terms of `chain_sums` by cluster, [cluster, method, measure, 4], for links of at least `least`.

    A chain ends where its text does: those of windows are cut with them, gold and predicted ones alike.
    """
    blocks = cluster_blocks(text.document for text in texts)
    sums = np.zeros((max(blocks.values()) + 1, len(least), len(MEASURES), 4))
    for text in texts:
        sums[blocks[text.document]] += chain_sums(text.entity, text.chains(least))
    return sums


def learned(texts: Sequence[Links]) -> Numbers:
    """Return [method], how strong a link must be: what gives the highest CoNLL average on these texts.

    All links are tried, then all but the weakest tenth, and so on (OPTIONS); of equals the one with most links wins.
    """
    antecedent = np.concatenate([text.antecedent for text in texts])
    strength = np.concatenate([text.strength for text in texts])
    options = np.zeros((len(OPTIONS), antecedent.shape[1]))
    for method in np.flatnonzero((antecedent >= 0).any(0)):
        links = strength[antecedent[:, method] >= 0, method]
        options[:, method] = np.quantile(links, OPTIONS, method="higher")
    averages = [chain_scores(document_sums(texts, least).sum(0))[:, -1, 2] for least in options]
    best: Numbers = options[np.argmax(averages, 0), np.arange(options.shape[1])]
    return best


def chain_table(own: MethodSums, random: MethodSums | None, shape: tuple[int, int], effort: Effort) -> pd.DataFrame:
    """Return one row a split, method and score.

    `own` are the heads of a model of `shape` (layers, heads) and BASELINES; `random` are heads of randomly initialised
    weights, of which the best one is a baseline too. The head of the highest CoNLL average on the selection split is
    `selected`. Leads are those over the baseline that is strongest on the split by the score in question, and their
    intervals are of the same resamples of documents.
    """
    heads = shape[0] * shape[1]
    methods = own if random is None else own.with_best_of(random)
    baselines = np.arange(heads, len(methods.least))
    about = _about(shape, (*BASELINES, RANDOM)[: len(baselines)])
    about = about.assign(least=methods.least, selected=np.arange(len(about)) == own.first(heads).best)
    rows = about.loc[about.index.repeat(len(SCORES))].reset_index(drop=True)
    rows["measure"] = np.tile(SCORES, len(about))
    found = []
    for number, split in enumerate(SPLITS):
        columns = _measured(methods.sums[number], baselines, effort, number)
        baseline = [about["name"][place] if place >= 0 else "" for place in columns.pop("baseline")]
        found.append(rows.assign(split=split, baseline=baseline, **columns))
    return pd.concat(found, ignore_index=True)


def _about(shape: tuple[int, int], baselines: Sequence[str]) -> pd.DataFrame:
    """Return one row a head, and one a baseline, which has no layer and head."""
    heads = pd.DataFrame(named_heads(shape)).astype({"layer": "Int64", "head": "Int64"}).assign(method="head")
    missing = pd.array([pd.NA] * len(baselines), "Int64")
    others = pd.DataFrame({"layer": missing, "head": missing, "name": baselines, "method": "baseline"})
    return pd.concat([heads, others], ignore_index=True)


def _measured(sums: Numbers, baselines: IntArray, effort: Effort, split: int) -> dict[str, Any]:
    """Return the columns of numbers of a split, [method * score]; `baselines` are indices of methods.

    `baseline` is the index of the strongest one, -1 where the method is a baseline itself.
    """
    n = sums[:, 0, *MENTIONS]
    drawn = Bootstrap.draw(range(len(n)), effort.replicates, effort.seed + split).of(range(len(n)), n)
    scores = chain_scores(sums.sum(0))
    f1, resampled = scores[..., 2], chain_scores(np.tensordot(drawn.weights, sums, 1))[..., 2]
    strongest, score = baselines[f1[baselines].argmax(0)], np.arange(len(SCORES))
    lead, leads = f1 - f1[strongest, score], resampled - resampled[:, None, strongest, score]
    lead[baselines], leads[:, baselines] = np.nan, np.nan
    (low, high), (lead_low, lead_high) = (drawn.interval(one.reshape(len(one), -1)) for one in (resampled, leads))
    baseline = np.where(np.isin(np.arange(len(f1)), baselines)[:, None], -1, strongest)
    return {
        "n": int(n.sum()),
        "chains": int(sums[:, 0, *CHAINS].sum()),
        "clusters": len(n),
        **{name: scores[..., place].ravel() for place, name in enumerate(("precision", "recall", "f1"))},
        **{"low": low, "high": high, "baseline": baseline.ravel()},
        **{"lead": lead.ravel(), "lead_low": lead_low, "lead_high": lead_high},
    }
