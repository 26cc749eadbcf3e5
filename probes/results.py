"""Scores of heads as a table: accuracy, interval, baseline and margin, chosen on one split and told on the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from probes.baselines import LEXICAL
from probes.registry import Probe
from probes.scoring import Outcome
from probes.statistics import Bootstrap
from probes.tally import Question, Sums

SPLITS = ("select", "report")

KEY = ("probe", "label", "variant", "layer", "head", "name", "split")
NUMBERS = ("accuracy", "ci_low", "ci_high", "mass", "coverage", "share")
MARGINS = ("baseline_accuracy", "margin", "margin_low", "margin_high", "lexical_accuracy")
COLUMNS = (*KEY, "n", "clusters", *NUMBERS, "baseline", *MARGINS, "near_ties", "selected")
"The columns of a run folder that are told here, in their order."

Pooled = Mapping[Question, Sums]


def pooled_sums(outcome: Outcome, probes: Sequence[Probe]) -> tuple[Pooled, dict[str, Pooled]]:
    """Return the sums by question with pooled labels: of the heads, and of each baseline."""
    by_name = {probe.name: probe for probe in probes}
    heads: Pooled = dict(outcome.heads.pooled(lambda question: by_name[question[0]].pool(question[2])))
    baselines: dict[str, Pooled] = {
        name: dict(tally.pooled(lambda question: (question[2],))) for name, tally in outcome.baselines.items()
    }
    return heads, baselines


def best_head(sums: Sums) -> int:
    """Return the flat index of the head with the highest accuracy, the first of equals."""
    return int(np.argmax(sums.hits.sum(0) / sums.n.sum()))


def control_sums(select: Pooled, report: Pooled) -> tuple[Pooled, Pooled]:
    """Return a control model as a baseline: for every question its head that is best on the selection split."""
    chosen = {question: best_head(sums) for question, sums in select.items()}
    one, other = (
        {question: _column(sums, chosen[question]) for question, sums in pooled.items() if question in chosen}
        for pooled in (select, report)
    )
    return one, other


def _column(sums: Sums, head: int) -> Sums:
    every = (sums.hits, sums.mass, sums.coverage, sums.near_ties)
    return Sums(sums.clusters, sums.n, *(part[:, [head]] for part in every))  # copies: the other heads are let go


@dataclass(frozen=True)
class Split:
    """The sums of one split: of the heads, of each baseline (controls included) and of the lexical table."""

    heads: Pooled
    baselines: dict[str, Pooled]


def score_table(select: Split, report: Split, *, shape: tuple[int, int], replicates: int, seed: int) -> pd.DataFrame:
    """Return one row a question, head and split, in COLUMNS.

    `shape` is (layers, heads). The baseline of a question is the one with the highest accuracy on the selection split,
    its head the one with the highest accuracy there. Intervals are percentile bootstraps over clusters.
    """
    bootstraps = [
        Bootstrap.draw(_clusters(split), replicates, seed + number) for number, split in enumerate((select, report))
    ]
    frames = []
    for question in questions(select, report):
        chosen = best_head(select.heads[question]) if question in select.heads else None
        baseline = strongest(select, question)
        for name, split, bootstrap in zip(SPLITS, (select, report), bootstraps, strict=True):
            rows = _rows(split, question, baseline, bootstrap, shape)
            head = np.arange(shape[0] * shape[1])
            frames.append(rows.assign(split=name, selected=head == chosen if chosen is not None else False))
    return pd.concat(frames, ignore_index=True)[[*COLUMNS]] if frames else pd.DataFrame(columns=[*COLUMNS])


def questions(select: Split, report: Split) -> list[Question]:
    """Return the questions of both splits, sorted; "det:*" is left out where "det" has no subtypes to pool."""
    known = set(select.heads) | set(report.heads)
    parts = Counter((probe, variant, label.partition(":")[0]) for probe, variant, label in known)
    return sorted(
        (probe, variant, label)
        for probe, variant, label in known
        if not label.endswith(":*") or parts[probe, variant, label.removesuffix(":*")] > 2
    )


def _clusters(split: Split) -> tuple[int, ...]:
    return tuple(sorted({cluster for sums in split.heads.values() for cluster in sums.clusters}))


def strongest(select: Split, question: Question) -> str:
    """Return the name of the baseline with the highest accuracy on the selection split; "" where there is none."""
    found = {
        name: float(pooled[question].hits.sum() / pooled[question].n.sum())
        for name, pooled in select.baselines.items()
        if name != LEXICAL and question in pooled
    }
    return max(sorted(found), key=found.__getitem__, default="")


def _rows(
    split: Split, question: Question, baseline: str, bootstrap: Bootstrap, shape: tuple[int, int]
) -> pd.DataFrame:
    layers, heads = shape
    count = layers * heads
    layer, head = np.divmod(np.arange(count), heads)
    columns: dict[str, object] = {
        "probe": question[0],
        "label": question[2],
        "variant": question[1],
        "layer": layer,
        "head": head,
        "name": [f"{one + 1}-{other + 1}" for one, other in zip(layer, head, strict=True)],
        "baseline": baseline,
    }
    return pd.DataFrame(columns | _numbers(split, question, baseline, bootstrap, count))


def _numbers(split: Split, question: Question, baseline: str, bootstrap: Bootstrap, count: int) -> dict[str, object]:
    missing = np.full(count, np.nan)
    numbers: dict[str, object] = dict.fromkeys((*NUMBERS, *MARGINS), missing)
    numbers |= {"n": 0, "clusters": 0, "near_ties": 0}
    sums = split.heads.get(question)
    if sums is None:
        return numbers
    n = sums.n.sum()
    accuracy, mass, coverage = (part.sum(0) / n for part in (sums.hits, sums.mass, sums.coverage))
    low, high = bootstrap.interval(sums, sums.hits)
    numbers |= {"n": int(n), "clusters": len(sums.clusters), "near_ties": sums.near_ties.sum(0).astype(np.int64)}
    numbers |= {"accuracy": accuracy, "ci_low": low, "ci_high": high, "mass": mass, "coverage": coverage}
    numbers["share"] = np.divide(mass, coverage, out=np.full(count, np.nan), where=coverage > 0)
    other = split.baselines.get(baseline, {}).get(question)
    if other is not None:
        beaten = float(other.hits.sum() / n)
        low, high = bootstrap.interval(sums, sums.hits - other.hits)
        numbers |= {"baseline_accuracy": beaten, "margin": accuracy - beaten, "margin_low": low, "margin_high": high}
    table = split.baselines.get(LEXICAL, {}).get(question)
    if table is not None:
        numbers["lexical_accuracy"] = float(table.hits.sum() / n)
    return numbers
