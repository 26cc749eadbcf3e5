"""How well predicted coreference chains meet the gold ones: MUC, B-cubed, CEAF and their average (CoNLL-2012).

Gold mentions are given, so that both sides divide the same mentions into chains. Every number is a ratio of sums over
texts, as in the scorer of the CoNLL-2011 and CoNLL-2012 shared tasks (Pradhan et al. 2014, "Scoring coreference
partitions of predicted mentions").
"""

from __future__ import annotations

from typing import Final

import numpy as np

from probes.records import IntArray
from probes.scoring.tally import Numbers

MEASURES: Final = ("MUC", "B3", "CEAF-m", "CEAF-e")
"What has precision and recall of its own."

CONLL: Final = "CoNLL"
"The mean of the F1 of MUC, B3 and CEAF-e (Pradhan et al. 2012)."

SCORES: Final = (*MEASURES, CONLL)

AVERAGED: Final = tuple(MEASURES.index(name) for name in ("MUC", "B3", "CEAF-e"))


def chain_sums(gold: IntArray, predicted: IntArray) -> Numbers:
    """Return [method, measure, 4]: the terms of recall, then of precision, each a numerator and a denominator.

    `gold` [mention] numbers the gold chain of each mention from 0, without gaps; `predicted` [mention, method] that of
    every method, below the number of mentions. Terms of several texts are added.

    MUC counts the links that join a chain and those of them that the other side keeps (Vilain et al. 1995); B3 counts
    for each mention the share of its chain that the other side leaves with it (Bagga and Baldwin 1998); CEAF pairs each
    chain with one of the other side at the most, so that the mentions that paired chains share are as many as can be
    (CEAF-m), or the sum of their Dice coefficients is greatest (CEAF-e; Luo 2005, similarities phi 3 and phi 4).
    """
    shared = _shared(gold, predicted)
    of_gold, of_predicted = shared.sum(2), shared.sum(1)
    mentions = np.full(len(shared), len(gold), float)
    inside = np.maximum(of_predicted, 1)
    kept = [(of_gold - (shared > 0).sum(2)).sum(1), (of_predicted - (shared > 0).sum(1)).sum(1)]
    with_mention = [(shared**2 / size).sum((1, 2)) for size in (of_gold[:, :, None], inside[:, None])]
    most = _best_pairs(shared)
    alike = _best_pairs(2 * shared / (of_gold[:, :, None] + of_predicted[:, None]))
    chains = [np.count_nonzero(size, axis=1) for size in (of_gold, of_predicted)]
    terms = (
        (kept[0], mentions - chains[0], kept[1], mentions - chains[1]),
        (with_mention[0], mentions, with_mention[1], mentions),
        (most, mentions, most, mentions),
        (alike, chains[0], alike, chains[1]),
    )
    return np.stack([np.stack(one, 1) for one in terms], 1)


def _shared(gold: IntArray, predicted: IntArray) -> Numbers:
    """Return [method, gold chain, predicted chain], the number of mentions that two chains share."""
    methods = np.arange(predicted.shape[1])
    shared = np.zeros((len(methods), int(gold.max(initial=-1)) + 1, len(gold)))
    for chain, chains in zip(gold, predicted, strict=True):
        shared[methods, chain, chains] += 1
    return shared


def _best_pairs(similarity: Numbers) -> Numbers:
    """Return [method], the greatest sum of similarities of chains that are paired one to one."""
    from scipy.optimize import linear_sum_assignment

    return np.array([one[linear_sum_assignment(one, maximize=True)].sum() for one in similarity])


def chain_scores(sums: Numbers) -> Numbers:
    """Return [..., score, 3]: precision, recall and F1 of SCORES, from terms [..., measure, 4] summed over texts.

    In [0, 1]; 0 where a denominator is 0, as in the scorer of the shared tasks: chains of single mentions have no link,
    so that MUC is 0 even where all of them are right. The average has no precision and recall: NaN.
    """
    recall, precision = (
        np.divide(sums[..., i], sums[..., i + 1], out=np.zeros_like(sums[..., 0]), where=sums[..., i + 1] > 0)
        for i in (0, 2)
    )
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    missing = np.full_like(f1[..., 0], np.nan)
    average = np.stack([missing, missing, f1[..., AVERAGED].mean(-1)], -1)
    return np.concatenate([np.stack([precision, recall, f1], -1), average[..., None, :]], -2)
