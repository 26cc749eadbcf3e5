"""Scores of heads as a table: numbers, leads, tests, grades and verdicts, by question and head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probes.evidence.leads import p_unseen
from probes.evidence.question import GRADED, Effort, QuestionScores, estimate, stability, strongest_leads
from probes.evidence.statistics import MARGIN, VerdictRule, adjust
from probes.records import IntArray
from probes.registry import Probe
from probes.scoring.baselines import LEXICAL
from probes.scoring.expert_rules import RULES
from probes.scoring.score import Outcome
from probes.scoring.tally import Numbers, Pooled, Question, Sums
from reports.tables.grades import POSITION
from reports.tables.scores import SCORES
from reports.tables.shared_columns import SPLITS as SPLITS

OF_RUNS = ("model", "step", "corpus", "maps", "layer_attention")
"Columns that a run adds."

COLUMNS = tuple(name for name in SCORES.names if name not in OF_RUNS)
"The columns of scores that are computed here, in the order of a run folder."

ADJUSTED = ("p_adjusted", *GRADED[1:])
"The columns with the p of each grade in turn, corrected for all labels of a run."


def pooled_sums(outcome: Outcome, probes: Sequence[Probe]) -> tuple[Pooled, dict[str, Pooled]]:
    """Return the sums by question with pooled labels: of the heads, and of each baseline."""
    by_name = {probe.name: probe for probe in probes}
    heads: Pooled = dict(outcome.heads.pooled(lambda question: by_name[question[0]].pool(question[2])))
    baselines: dict[str, Pooled] = {
        name: dict(tally.pooled(lambda question: (question[2],))) for name, tally in outcome.baselines.items()
    }
    return heads, baselines


def best_head(*splits: Sums | None) -> int:
    """Return the flat index of the head with the most hits in all of these, the first of equals."""
    return int(np.sum([sums.hits.sum(0) for sums in splits if sums is not None], axis=0).argmax())


def _columns(pooled: Pooled, chosen: Mapping[Question, int]) -> Pooled:
    """Return the sums of the head that is chosen for each question; those without one are left out."""
    return {question: sums.columns([chosen[question]]) for question, sums in pooled.items() if question in chosen}


def control_sums(select: Pooled, report: Pooled) -> tuple[Pooled, Pooled]:
    """Return a control model as a baseline: for every question its head that is best on both splits together.

    It is what others have to beat, so the choice may know the report split: on a small selection split alone a control
    would often be told by a head that is not its best. Questions that the selection split does not ask have none.
    """
    chosen = {question: best_head(sums, report.get(question)) for question, sums in select.items()}
    return _columns(select, chosen), _columns(report, chosen)


def blind_control_sums(select: Pooled, report: Pooled) -> Pooled:
    """Return the sums on the report split of the head that is best on the selection split."""
    return _columns(report, {question: best_head(sums) for question, sums in select.items()})


def guessed_control_sums(sample: Pooled, report: Pooled) -> Pooled:
    """Return the same of the head that is best on a sample of the selection split; the first where it does not ask.

    Whichever head it is, it was chosen without the report split, so that bounds of leads over it hold.
    """
    first = dict.fromkeys(report, 0)
    return _columns(report, first | {question: best_head(sums) for question, sums in sample.items()})


def known_control_sums(report: Pooled) -> Pooled:
    """Return a control model as a baseline of the report split: for every question its head that is best there.

    No other choice of a head has more hits, so that no lead is larger with it.
    """
    return _columns(report, {question: best_head(sums) for question, sums in report.items()})


@dataclass(frozen=True)
class Split:
    """The sums of one split: of the heads, of each baseline (controls included), of rules and of the lexical table."""

    heads: Pooled
    baselines: dict[str, Pooled]
    blind: dict[str, Pooled] = field(default_factory=dict)
    "Of the report split: controls, each by the head that the selection split alone chooses."
    _stability: dict[Effort, Mapping[Question, Numbers]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def clusters(self) -> tuple[int, ...]:
        """The clusters that have an item of any question."""
        return tuple(sorted({cluster for sums in self.heads.values() for cluster in sums.clusters}))

    def stability(self, effort: Effort) -> Mapping[Question, Numbers]:
        """Return by question the stability of each head, [head], on this selection split; it is computed once."""
        if effort not in self._stability:
            drawn = effort.resamples(self.clusters, SPLITS.index("select"))
            self._stability[effort] = {question: stability(heads, drawn) for question, heads in self.heads.items()}
        return self._stability[effort]

    def estimate(self, question: Question, *, test: bool, margin: float) -> QuestionScores:
        """Return the scores of one question; no columns where the split has no item of it."""
        if question not in self.heads:
            return {}
        found = {name: pooled[question] for name, pooled in self.baselines.items() if question in pooled}
        table = found.pop(LEXICAL, None)
        rules = {name: found.pop(name) for name in RULES if name in found}
        blind = {name: pooled[question] for name, pooled in self.blind.items() if question in pooled}
        heads = self.heads[question]
        return estimate(heads, found, table, test=test, rules=rules, blind=blind, margin=margin)


def score_table(
    select: Split, report: Split, *, shape: tuple[int, int], effort: Effort, margin: float = MARGIN, test: bool = True
) -> pd.DataFrame:
    """Return one row a question, head and split, in COLUMNS; `shape` is (layers, heads).

    The head of a question is the one with the highest accuracy on the selection split, and its stability that of this
    choice. Leads above `margin` are tested on the report split, of questions that the selection split asks as well: of
    others no baseline learned anything, and no control has a head. Without `test` nothing is tested. What depends on
    all questions of a run is left to `add_verdicts`.
    """
    stable = select.stability(effort)
    blocks: list[QuestionScores] = []
    for question in questions(select, report):
        told = SCORES.missing | {"effective_clusters": 0.0} | _named(question, shape)
        for name, split in zip(SPLITS, (select, report), strict=True):
            tested = test and name == "report" and question in select.heads
            scores = split.estimate(question, test=tested, margin=margin)
            if name == "select" and scores:
                told["selected"] = np.arange(len(scores["accuracy"])) == scores["accuracy"].argmax()
                told["stability"] = stable[question]
            blocks.append(told | scores | {"split": name})
    whole = {name: dtype for name, dtype in SCORES.dtypes.items() if name in COLUMNS and dtype == "int64"}
    return stacked(blocks, shape[0] * shape[1], COLUMNS).astype(whole)


def stacked(blocks: Sequence[Mapping[str, object]], rows: int, columns: Sequence[str]) -> pd.DataFrame:
    """Return the columns of blocks of so many rows, one below the other; what is one value stands in every row."""
    if not blocks:
        return pd.DataFrame(columns=[*columns])
    return pd.DataFrame({name: np.concatenate([_filled(block[name], rows) for block in blocks]) for name in columns})


def _filled(value: object, rows: int) -> npt.NDArray[Any]:
    """Return a column of a block; texts as objects, so that long ones are not cut."""
    column = np.asarray(value, dtype=object if isinstance(value, str) else None)
    return np.broadcast_to(column.astype(object) if column.dtype.kind == "U" else column, rows)


def add_verdicts(scores: pd.DataFrame, rule: VerdictRule) -> pd.DataFrame:
    """Return the scores of a whole run with adjusted p-values, grades and the verdicts of questions.

    All labels of a run are one family. A head is specialised if it has a grade in a linguistic role. The verdict of
    a question is yes if some head has a grade; no if every head's lead significantly lies below the margin
    (`excluded` does); else undecided.
    """
    scores = scores.copy()
    tested = np.flatnonzero(scores.p_label.notna())
    unseen = p_unseen(strongest_leads(scores), scores.effective_clusters.to_numpy(np.float64), rule.margin)
    for adjusted, corrected, missing in zip(ADJUSTED, GRADED, unseen, strict=True):
        scores[adjusted] = np.maximum(_adjusted(scores, tested, scores[corrected].to_numpy(np.float64)), missing)
    scores["grade"] = rule.grades([scores[name].to_numpy(np.float64) for name in ADJUSTED])
    scores["specialised"] = (scores.grade > 0) & (scores.probe != POSITION)
    of_question = scores.iloc[tested].groupby(["probe", "variant", "label", "split"], sort=False)
    graded = of_question.grade.transform("max") > 0
    excluded = np.where(scores.excluded.iloc[tested] < rule.margin, "no", "undecided")
    verdict = np.full(len(scores), "", dtype=object)
    verdict[tested] = np.where(graded, "yes", excluded)
    scores["verdict"] = verdict
    return scores


def _adjusted(scores: pd.DataFrame, tested: IntArray, corrected: Numbers) -> Numbers:
    """Return p-values that are corrected for the heads of their label, corrected for all labels of the run too."""
    labels = scores.iloc[tested].groupby(["probe", "variant", "label", "split"], sort=True).indices.values()
    families = [tested[places] for places in labels]
    adjusted = np.full(len(scores), np.nan)
    for places, p in zip(families, adjust([corrected[places] for places in families], dependent=True), strict=True):
        adjusted[places] = p
    return adjusted


def questions(select: Split, report: Split) -> list[Question]:
    """Return the questions of both splits, as `reported_questions` leaves them."""
    return reported_questions(set(select.heads) | set(report.heads))


def reported_questions(known: Collection[Question]) -> list[Question]:
    """Return questions, sorted; "det:*" is left out where "det" has no subtypes to pool."""
    parts = Counter((probe, variant, label.partition(":")[0]) for probe, variant, label in known)
    return sorted(
        (probe, variant, label)
        for probe, variant, label in known
        if not label.endswith(":*") or parts[probe, variant, label.removesuffix(":*")] > 2
    )


def _named(question: Question, shape: tuple[int, int]) -> dict[str, object]:
    return {"probe": question[0], "label": question[2], "variant": question[1]} | named_heads(shape)


def named_heads(shape: tuple[int, int]) -> dict[str, object]:
    """Return the columns layer, head and name of all heads; `shape` is (layers, heads)."""
    return flat_heads(np.arange(shape[0] * shape[1]), shape[1])


def flat_heads(flat: IntArray, heads: int) -> dict[str, object]:
    """Return the columns layer, head and name of heads by their flat index; layers have `heads`."""
    layer, head = np.divmod(flat, heads)
    names = [f"{one + 1}-{other + 1}" for one, other in zip(layer.tolist(), head.tolist(), strict=True)]
    return {"layer": layer, "head": head, "name": names}
