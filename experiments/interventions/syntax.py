"""Claim: without attention between words that depend on each other an encoder does not learn grammar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from pydantic import Field, model_validator

from experiments.config.config import CorpusPart
from experiments.config.train_config import ArcsSection, TrainSection
from experiments.inputs.corpora import open_part
from experiments.statements.claim import Claim, ClaimError, Work, claim_measure, rows_of
from experiments.statements.estimates import Estimate, difference, mean_of
from experiments.statements.rule import Rule
from experiments.statements.trained import AgreementSection, agreement_accuracy, by_seed, each_training, held_out
from experiments.training.checkpoints import Checkpoint, read_checkpoints
from experiments.training.texts import open_arcs
from mha import Encoder, Model, load_model
from mha.encoder.masked_lm import MaskedBatch
from mha.training.objective import ArcBatch, MaskedLMObjective
from probes import get_probe
from probes.scoring.prepared import PreparedTargets
from probes.scoring.score import Settings
from probes.scoring.tally import Pooled
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, Row
from reports.statements.statement import JudgedStatement, judged

TO_HEAD = "dependent->head"
"The direction of a word to the word that it depends on."


def held_out_arcs(train: TrainSection, batches: int) -> list[tuple[MaskedBatch, ArcBatch]]:
    """Return the first held-out batches of a training, masked as for its evaluation, with the arcs of their texts."""
    task, held = held_out(train)
    gold = open_arcs(train.model_copy(update={"arcs": ArcsSection(weight=0.0)}), task.vocabulary)
    assert gold is not None
    assert task.held_out is not None
    if not held:
        raise ClaimError("no held-out text has a masked piece, so that there is no attention to measure")
    found, size = [], len(held[0].pieces)
    for number, batch in enumerate(held[:batches]):
        own = task.held_out.rows[number * size : (number + 1) * size]
        (arcs,) = gold.batches(np.asarray(own), task.vocabulary, [slice(None)])
        found.append((batch, arcs))
    return found


@torch.no_grad()
def attention_on_arcs(encoder: Encoder, batches: list[tuple[MaskedBatch, ArcBatch]]) -> float:
    """Return the attention that a word gives to its head and dependents, mean over words, heads and layers.

    In [0, 1]; the mean of batches (Chen et al. 2023 call its sum over heads syntactic attention structure).
    """
    objective = MaskedLMObjective(encoder.eval())
    return float(np.mean([objective(batch, arcs)[1].item() for batch, arcs in batches]))


def best_head_attachment(select: Pooled, report: Pooled) -> float:
    """Return the share of words whose head is found by the head of attention that is best for their relation.

    The best is selected by `select` and evaluated by `report`; relations that either lacks are left out. In [0, 1];
    NaN where none is left (the "implicit parse" of Chen et al. 2023, after Clark et al. 2019, section 4.2).
    """
    right = words = 0.0
    for question, sums in report.items():
        _, variant, label = question
        if variant == TO_HEAD and label != "all" and not label.endswith(":*") and question in select:
            best = int(select[question].hits.sum(0).argmax())
            right += float(sums.hits.sum(0)[best])
            words += float(sums.n.sum())
    return right / words if words else float("nan")


@dataclass
class Attachment:
    """What the best heads of models with one tokenizer find, of the texts of two corpora."""

    select: CorpusPart
    report: CorpusPart
    _prepared: list[PreparedTargets] = field(default_factory=list)
    "Made for the first model."

    def of(self, model: Model) -> float:
        """Return `best_head_attachment` of a model."""
        if not self._prepared:
            self._prepared = [self._prepare(model, part) for part in (self.select, self.report)]
        select, report = (targets.put(model) for targets in self._prepared)
        return best_head_attachment(select, report)

    def _prepare(self, model: Model, part: CorpusPart) -> PreparedTargets:
        return PreparedTargets.of(model, open_part(part).sentences(), [get_probe("dependency")], {}, Settings())


NONE, REWARDED, PUNISHED = "no term", "rewarded", "punished"
EARLY, LATE = "punished early", "punished late"
CONTROL = "control arcs punished"

LOSS, AGREEMENT, ACROSS, ATTENTION, ATTACHMENT = "loss", "agreement", "across", "attention", "attachment"

MEASURES = (
    (AGREEMENT, "agreement", "%"),
    (ACROSS, "agreement across a noun of the other number", "%"),
    (LOSS, "evaluation loss", "nats"),
    (ATTENTION, "attention on arcs", "%"),
    (ATTACHMENT, "words whose head the best head of their relation finds", "%"),
)
"Key, name on the page, and unit of what is measured at every checkpoint."

CHANCE_AT_MOST = 0.55
"Accuracy, of 50 % by chance, below which agreement counts as not learnt."

Trajectory = Mapping[str, Sequence[Any]]
"Measure -> its values at the checkpoints, in the order of the steps, which are under the key steps."

Trajectories = Mapping[str, Mapping[int, Trajectory]]
"Cell -> seed -> course."


class SyntaxSection(AgreementSection):
    """The config of the claim."""

    select: CorpusPart
    "Texts on which the best head of each relation is selected."
    report: CorpusPart
    "Others on which it is evaluated."
    weight: float = Field(default=1.0, gt=0)
    "Of the term, in nats, rewarded and punished alike."
    early: int = Field(default=300, ge=1)
    "Last step in which attention is punished where that is done early."
    late: int = Field(default=1001, ge=2)
    "First step in which it is punished where that is done late."
    batches: int = Field(default=4, ge=1)
    "Held-out batches on which attention on arcs is measured."

    @model_validator(mode="after")
    def _steps_fit(self) -> Self:
        last = self.train.steps
        if last is None or max(self.early + 1, self.late) > last:
            raise ValueError(f"early = {self.early} and late = {self.late} are steps of a training of {last} steps")
        if self.train.arcs is not None:
            raise ValueError("train.arcs is set by the cells; leave it out")
        return self

    @property
    def cells(self) -> dict[str, ArcsSection | None]:
        """The term of every cell."""
        return {
            NONE: None,
            REWARDED: ArcsSection(weight=self.weight),
            PUNISHED: ArcsSection(weight=-self.weight),
            EARLY: ArcsSection(weight=-self.weight, last_step=self.early),
            LATE: ArcsSection(weight=-self.weight, first_step=self.late),
            CONTROL: ArcsSection(weight=-self.weight, control=True),
        }


def folder_of(cell: str) -> str:
    """Return the name of the folder of a cell's trainings; other claims look at that of NONE."""
    return cell.replace(" ", "-")


def measure(section: SyntaxSection, work: Work) -> ClaimRecord:
    """Train the encoders of every cell, cell by cell, and follow each through its checkpoints."""
    attachment, batches = Attachment(section.select, section.report), held_out_arcs(section.train, section.batches)
    found: dict[str, dict[int, Any]] = {}

    def examine(checkpoint: Checkpoint) -> dict[str, float]:
        model = load_model(str(checkpoint.folder))
        assert isinstance(model.module, Encoder)
        agreement = agreement_accuracy(model, section.pairs, section.pairs_seed)
        return {
            LOSS: checkpoint.evaluation_loss,
            AGREEMENT: agreement.every,
            ACROSS: agreement.across,
            ATTENTION: attention_on_arcs(model.module, batches),
            ATTACHMENT: attachment.of(model),
        }

    for cell, arcs in section.cells.items():
        found[cell] = each_training(section, work, folder_of(cell), partial(follow, examine), train={"arcs": arcs})
    return ClaimRecord(course_measures(found, MEASURES), _statements(found, section))


def follow(examine: Callable[[Checkpoint], Mapping[str, float]], training: Path) -> dict[str, list[Any]]:
    """Return what is measured of every checkpoint of a training, a list a measure, and the steps."""
    checkpoints = read_checkpoints(training)
    found = [{"steps": checkpoint.step, **examine(checkpoint)} for checkpoint in checkpoints]
    return {name: [one[name] for one in found] for name in found[0]}


def course_measures(cells: Trajectories, measured: Sequence[tuple[str, str, str]]) -> list[ClaimMeasure]:
    """Return what was measured (key, name and unit) at every checkpoint of all courses."""
    courses = [(cell, seed, course) for cell, by in cells.items() for seed, course in by.items()]

    def rows(key: str) -> tuple[Row, ...]:
        points = ((cell, seed, *at) for cell, seed, of in courses for at in zip(of["steps"], of[key], strict=True))
        return tuple(Row(cell, step, seed, float(value)) for cell, seed, step, value in points)

    return [claim_measure(name, unit, rows(key), axis="step") for key, name, unit in measured]


def condition_measures(
    conditions: Mapping[str, Mapping[int, Mapping[str, float]]], measured: Sequence[tuple[str, str, str]]
) -> list[ClaimMeasure]:
    """Return what was measured (key, name and unit) once for each condition and seed."""
    return [
        claim_measure(
            name, unit, tuple(row for way, seeds in conditions.items() for row in rows_of(by_seed(seeds, key), way))
        )
        for key, name, unit in measured
    ]


def at_end(courses: Mapping[int, Trajectory], measure: str) -> dict[int, float]:
    """Return a measure at the last checkpoint, by seed."""
    return {seed: float(course[measure][-1]) for seed, course in courses.items()}


def _against_none(found: Trajectories, cell: str, measure: str) -> Estimate:
    return difference(at_end(found[cell], measure), at_end(found[NONE], measure))


def _statements(found: Trajectories, section: SyntaxSection) -> list[JudgedStatement]:
    works = judged(
        "Punished throughout, words attend less to what depends on them and to what they depend on",
        f"attention on arcs at the end, {PUNISHED} − {NONE}, paired by seed",
        _against_none(found, PUNISHED, ATTENTION),
        Rule(below=0.0),
        kind="measurement",
        why="it says that the term does what it is for",
    )
    never = judged(
        "Punished throughout, agreement across a noun of the other number is not learnt",
        f"accuracy at the end, {PUNISHED}; 50 % by chance",
        mean_of([*at_end(found[PUNISHED], ACROSS).values()]),
        Rule(below=CHANCE_AT_MOST, unit="%"),
    )
    compared = (
        (PUNISHED, AGREEMENT, Rule(below=0.0), "Punished throughout, agreement is worse at the end"),
        (PUNISHED, LOSS, Rule(above=0.0, unit="nats"), "Punished throughout, the loss is higher at the end"),
        (EARLY, AGREEMENT, Rule(above=0.0), f"Punished to step {section.early} alone, agreement is better at the end"),
        (
            EARLY,
            LOSS,
            Rule(below=0.0, unit="nats"),
            f"Punished to step {section.early} alone, the loss is lower at the end",
        ),
        (LATE, AGREEMENT, Rule(below=0.0), f"Punished from step {section.late} on, agreement is worse at the end"),
        (REWARDED, AGREEMENT, Rule(below=0.0), "Rewarded throughout, agreement is worse at the end"),
        (REWARDED, LOSS, Rule(above=0.0, unit="nats"), "Rewarded throughout, the loss is higher at the end"),
    )
    beside = judged(
        "Punished throughout, agreement is worse than where attention on control arcs is punished",
        f"accuracy at the end, {PUNISHED} − {CONTROL}, paired by seed",
        difference(at_end(found[PUNISHED], AGREEMENT), at_end(found[CONTROL], AGREEMENT)),
        Rule(below=0.0),
    )
    return [works, never, beside, *(_statement(found, *one) for one in compared)]


def _statement(found: Trajectories, cell: str, measure: str, rule: Rule, text: str) -> JudgedStatement:
    name = "accuracy" if measure == AGREEMENT else "evaluation loss"
    number = f"{name} at the end, {cell} − {NONE}, paired by seed"
    return judged(text, number, _against_none(found, cell, measure), rule)


CLAIM = Claim(
    name="syntax",
    title="Does grammar need attention to syntax?",
    sentence="Without attention between words that depend on each other grammar is not learnt; kept from it for a "
    "short time at the start, an encoder ends better.",
    source="Chen et al. 2023, Sudden Drops in the Loss (the experiments that suppress or promote syntactic attention)",
    about=(
        "Encoders trained from scratch on the embedded grammar, with the same first weights, texts and masks in every "
        "cell. To the masked-LM loss comes a term: the attention that a word gives to the words that it depends on or "
        "that depend on it, by the gold trees of the training texts, mean over words, heads and layers; it is taken "
        "from the loss (rewarded) or added to it (punished), in all steps, in the first or in the last ones.",
        "Control arcs join random words at the distances of the gold arcs of their sentence, none of them a gold arc: "
        "to punish attention on them takes attention from near words alike, and leaves the trees alone.",
        "At every checkpoint: the masked-LM loss on held-out rows, without the term; agreement on minimal pairs, the "
        "verb masked; attention on arcs on held-out rows; and the share of words whose head is the most attended word "
        "of the head of attention that is best for their relation, selected on other texts.",
    ),
    limits=(
        "The paper sums over heads and trains BERT base on English; here a small encoder learns a generated language.",
        "One weight and one schedule of each kind. A weight so strong that it hurts all attention would hurt grammar "
        "for that reason: the loss beside the accuracy shows how far that goes.",
        "Heads may pass on syntax along other ways than arcs of the gold trees.",
        "All verbs of the grammar agree: it has no other phenomenon that minimal pairs of BLiMP would test.",
    ),
    section=SyntaxSection,
    measure=measure,
)
