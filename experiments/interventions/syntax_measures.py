"""How much syntax is in the attention of an encoder: attention on gold arcs, and what the best heads find."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from experiments.config.config import CorpusPart
from experiments.config.train_config import ArcsSection, TrainSection
from experiments.inputs.corpora import open_part
from experiments.training.texts import open_arcs, open_material, open_rows, open_vocabulary
from experiments.training.train import encoder_config, training_settings
from mha import Encoder, Model
from mha.encoder.masked_lm import MaskedBatch
from mha.training.objective import ArcBatch, MaskedLMObjective
from mha.training.task import Task, evaluation_batches
from probes import get_probe
from probes.scoring.prepared import Exam
from probes.scoring.score import Settings
from probes.scoring.tally import Pooled

TO_HEAD = "dependent->head"
"The direction of a word to the word that it depends on."


def held_out_arcs(train: TrainSection, batches: int) -> list[tuple[MaskedBatch, ArcBatch]]:
    """Return the first held-out batches of a training, masked as for its evaluation, with the arcs of their texts."""
    material = open_material(train)
    vocabulary = open_vocabulary(train, material)
    rows, held = open_rows(train, material, vocabulary)
    settings = training_settings(train, rows, 0)
    gold = open_arcs(train.model_copy(update={"arcs": ArcsSection(weight=0.0)}), vocabulary)
    assert gold is not None
    task = Task(encoder_config(train, vocabulary), vocabulary, rows, held)
    found = []
    for number, batch in enumerate(evaluation_batches(task, settings, 0, 1)[:batches]):
        own = held.rows[number * settings.rows : (number + 1) * settings.rows]
        (arcs,) = gold.batches(np.asarray(own), vocabulary, [slice(None)])
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
            best = int(_hits(select, question).argmax())
            right += float(_hits(report, question)[best])
            words += float(sums.n.sum())
    return right / words if words else float("nan")


def _hits(pooled: Pooled, question: tuple[str, str, str]) -> npt.NDArray[np.float64]:
    hits: npt.NDArray[np.float64] = pooled[question].hits.sum(0)
    return hits


@dataclass
class Attachment:
    """What the best heads of models with one tokenizer find, of the texts of two corpora."""

    select: CorpusPart
    report: CorpusPart
    _exams: list[Exam] = field(default_factory=list)
    "Made for the first model."

    def of(self, model: Model) -> float:
        """Return `best_head_attachment` of a model."""
        if not self._exams:
            self._exams = [self._exam(model, part) for part in (self.select, self.report)]
        select, report = (exam.put(model) for exam in self._exams)
        return best_head_attachment(select, report)

    def _exam(self, model: Model, part: CorpusPart) -> Exam:
        return Exam.of(model, open_part(part).sentences(), [get_probe("dependency")], {}, Settings())
