"""Scores of heads as a table: numbers, leads, tests, grades and verdicts, by question and head."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probes.evidence.control_heads import ControlHeads, away
from probes.evidence.leads import ControlLevel, Documents, p_unseen
from probes.evidence.question import (
    GRADED,
    Comparisons,
    Effort,
    QuestionScores,
    estimate,
    redrawn,
    stability,
    strongest_leads,
)
from probes.evidence.statistics import MARGIN, VerdictRule, adjust
from probes.records import IntArray
from probes.registry import Probe
from probes.scoring.baselines import LEXICAL
from probes.scoring.expert_rules import RULES
from probes.scoring.score import Outcome
from probes.scoring.tally import Numbers, Pooled, Question, reported_questions
from reports.tables.grades import REDRAWS, has_stable_grade, is_of_language
from reports.tables.scores import SCORES
from reports.tables.shared_columns import SPLITS as SPLITS

OF_RUNS = ("model", "step", "corpus", "maps", "layer_attention")
"Columns that a run adds."

COLUMNS = tuple(name for name in SCORES.names if name not in OF_RUNS)
"The columns of scores that are computed here, in the order of a run folder."

REDRAWN = tuple(redrawn(name, number) for number in range(REDRAWS) for name in GRADED)
"Columns that scores have until verdicts are added: the p of every redraw."

ADJUSTED = ("p_adjusted", *GRADED[1:])
"The columns with the p of each grade in turn, corrected for all labels of a run."


def pooled_sums(outcome: Outcome, probes: Sequence[Probe]) -> tuple[Pooled, dict[str, Pooled]]:
    """Return the sums by question with pooled labels: of the heads, and of each baseline."""
    by_name = {probe.name: probe for probe in probes}
    heads = outcome.heads.pooled(lambda question: by_name[question[0]].pool(question[2]))
    baselines: dict[str, Pooled] = {
        name: dict(tally.pooled(lambda question: (question[2],))) for name, tally in outcome.baselines.items()
    }
    return heads, baselines


@dataclass(frozen=True)
class Split:
    """The sums of one split: of the heads, of each baseline, of rules and of the lexical table."""

    heads: Pooled
    baselines: dict[str, Pooled]
    controls: dict[str, Pooled] = field(default_factory=dict)
    "Of the report split, by kind of control: the best heads of its models on a sample, [document, model]."
    controlled: dict[str, Collection[tuple[str, str]]] = field(default_factory=dict)
    "By kind, the probe and variant of all questions that it is a control of."
    _stability: dict[Effort, Mapping[Question, Numbers]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def clusters(self) -> tuple[int, ...]:
        """The clusters that have an item of any question."""
        return tuple(sorted({cluster for sums in self.heads.values() for cluster in sums.clusters}))

    def stability(self, effort: Effort) -> Mapping[Question, Numbers]:
        """Return by question the stability of each head, [head], on this selection split; it is computed once."""
        if effort not in self._stability:
            drawn = effort.resamples(self.clusters, SPLITS.index("select"))
            self._stability[effort] = {question: stability(heads, drawn) for question, heads in self.heads.items()}
        return self._stability[effort]

    def compared(self, question: Question) -> Comparisons:
        """Return what the heads are compared with on one question."""
        found = {name: pooled[question] for name, pooled in self.baselines.items() if question in pooled}
        table = found.pop(LEXICAL, None)
        rules = {name: found.pop(name) for name in RULES if name in found}
        controls = {
            name: ControlHeads(pooled[question], away(name), seed)
            for seed, (name, pooled) in enumerate(sorted(self.controls.items()))
            if question in pooled
        }
        return Comparisons(found, controls, table, rules)

    def lacks(self, question: Question) -> bool:
        """Return whether a kind that is a control of the question has no level, for its sample asks it too rarely."""
        pooled = [of for kind, of in self.controls.items() if question[:2] in self.controlled.get(kind, ())]
        return any(question not in of or len(of[question].n) < 2 for of in pooled)

    def levels(self, question: Question) -> dict[str, ControlLevel]:
        """Return the level of each kind of control on one question."""
        return {name: one.level() for name, one in self.compared(question).controls.items()}

    def lead(self, name: str, question: Question, hits: Numbers) -> tuple[float, Numbers]:
        """Return the accuracy of a baseline, or the level of a control, and the intervals [2, scored] of leads over it.

        `hits` are [document, scored], of the documents of the heads.
        """
        documents = Documents.of(self.heads[question].n)
        if name in self.baselines:
            sums = self.baselines[name][question]
            return float(sums.hits.sum() / sums.n.sum()), documents.lead_interval(hits - sums.hits)
        level = self.levels(question)[name]
        return float(level.accuracy), documents.lead_interval(hits, level)

    def estimate(self, question: Question, *, test: bool, margin: float, redraws: int = 0) -> QuestionScores:
        """Return the scores of one question; no columns where the split has no item of it."""
        if question not in self.heads:
            return {}
        return estimate(self.heads[question], self.compared(question), test=test, margin=margin, redraws=redraws)


def score_table(
    select: Split, report: Split, *, shape: tuple[int, int], effort: Effort, margin: float = MARGIN, test: bool = True
) -> pd.DataFrame:
    """Return one row a question, head and split, in COLUMNS; `shape` is (layers, heads).

    The head of a question is the one with the highest accuracy on the selection split, and its stability that of this
    choice. Leads above `margin` are tested on the report split, of questions that the selection split asks as well (of
    others no baseline learned anything) and the sample of every control. Without `test` nothing is tested. What depends
    on all questions of a run is left to `add_verdicts`.
    """
    stable, later = select.stability(effort), REDRAWN if test else ()
    blocks: list[QuestionScores] = []
    for question in questions(select, report):
        told = SCORES.missing | {"effective_clusters": 0.0} | dict.fromkeys(later, np.nan) | named_heads(shape)
        told |= dict(zip(("probe", "variant", "label"), question, strict=True))
        for name, split in zip(SPLITS, (select, report), strict=True):
            tested = test and name == "report" and question in select.heads and not report.lacks(question)
            scores = split.estimate(question, test=tested, margin=margin, redraws=REDRAWS if tested else 0)
            if name == "select" and scores:
                told["selected"] = np.arange(len(scores["accuracy"])) == scores["accuracy"].argmax()
                told["stability"] = stable[question]
            blocks.append(told | scores | {"split": name})
    whole = {name: dtype for name, dtype in SCORES.dtypes.items() if name in COLUMNS and dtype == "int64"}
    return stacked(blocks, shape[0] * shape[1], (*COLUMNS, *later)).astype(whole).copy()


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

    All labels of a run are one family. A head is specialised if it has a stable grade in a linguistic role: in a label
    of any probe but position that the answer does not define. The verdict of a question is yes if some head has a
    grade; no if every head's lead significantly lies below the margin (`excluded` does); else undecided.
    """
    scores = scores.copy()
    tested = np.flatnonzero(scores.p_label.notna())
    labels = scores.iloc[tested].groupby(["probe", "variant", "label", "split"], sort=True).indices.values()
    families = [tested[places] for places in labels]
    unseen = p_unseen(strongest_leads(scores), scores.effective_clusters.to_numpy(np.float64), rule.margin)

    def adjusted(columns: Sequence[str]) -> list[Numbers]:
        """Return the p of each grade, corrected for the heads of a label, corrected for all labels of the run too."""
        return [
            np.maximum(_adjusted(families, scores[name].to_numpy(np.float64)), missing)
            for name, missing in zip(columns, unseen, strict=True)
        ]

    found = adjusted(GRADED)
    scores = scores.assign(**dict(zip(ADJUSTED, found, strict=True)))
    redraws = [adjusted(columns) for columns in zip(*[iter(REDRAWN)] * len(GRADED), strict=True)]
    grade, holds = held_grades(rule, found, redraws)
    scores["grade"], scores["holds"] = grade, np.where(scores.p_label.notna(), holds, np.nan)
    scores = scores.drop(columns=[*REDRAWN])
    scores["specialised"] = has_stable_grade(scores) & is_of_language(scores)
    of_question = scores.iloc[tested].groupby(["probe", "variant", "label", "split"], sort=False)
    graded = of_question.grade.transform("max") > 0
    excluded = np.where(scores.excluded.iloc[tested] < rule.margin, "no", "undecided")
    verdict = np.full(len(scores), "", dtype=object)
    verdict[tested] = np.where(graded, "yes", excluded)
    scores["verdict"] = verdict
    return scores


def held_grades(
    rule: VerdictRule, adjusted: Sequence[Numbers], redraws: Sequence[Sequence[Numbers]]
) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Return grades, and the share of redraws in which each holds; both have the shape of a p.

    `adjusted` has the p of each grade in turn, `redraws` the same for other draws of the controls; what documents were
    not seen bounds both alike, by the leads of the run. Where there is no
    grade the share is that of the redraws in which there is one.
    """
    grade = rule.grades(adjusted)
    again = np.stack([rule.grades(one) for one in redraws])
    return grade, (again >= np.maximum(grade, 1)).mean(0)


def _adjusted(families: Sequence[IntArray], corrected: Numbers) -> Numbers:
    """Return p-values that are corrected for the heads of their label, corrected for the labels of a run too.

    `families` has the places of each label's heads.
    """
    adjusted = np.full(len(corrected), np.nan)
    for places, p in zip(families, adjust([corrected[places] for places in families], dependent=True), strict=True):
        adjusted[places] = p
    return adjusted


def questions(select: Split, report: Split) -> list[Question]:
    """Return the questions of both splits, as `reported_questions` leaves them."""
    return reported_questions(set(select.heads) | set(report.heads))


def named_heads(shape: tuple[int, int]) -> dict[str, object]:
    """Return the columns layer, head and name of all heads; `shape` is (layers, heads)."""
    return flat_heads(np.arange(shape[0] * shape[1]), shape[1])


def flat_heads(flat: IntArray, heads: int) -> dict[str, object]:
    """Return the columns layer, head and name of heads by their flat index; layers have `heads`."""
    layer, head = np.divmod(flat, heads)
    names = [f"{one + 1}-{other + 1}" for one, other in zip(layer.tolist(), head.tolist(), strict=True)]
    return {"layer": layer, "head": head, "name": names}
