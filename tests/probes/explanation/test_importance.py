"""Importance of pieces: beside one sentence at a time, and beside finite differences."""

import numpy as np
import pytest
import torch
from torch import Tensor

from mha.models.masked_prediction import MaskedLM
from probes.explanation.classifier import TrainedClassifier
from probes.explanation.importance import input_gradients, left_out, own_attention
from probes.explanation.sentences import SubjectNumberTask, read_task

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def task(lm: MaskedLM) -> SubjectNumberTask:
    return read_task(lm.model, 70, 3)


@pytest.fixture(scope="module")
def classifier(task: SubjectNumberTask) -> TrainedClassifier:
    return TrainedClassifier.fitted(task.states, task.real, task.plural, 0)


def output(lm: MaskedLM, classifier: TrainedClassifier, ids: np.ndarray, attention: Tensor | None = None) -> float:
    """Return the probability of the plural for one text."""
    with torch.no_grad():
        states = lm.model.run(torch.from_numpy(ids).long()[None], None)[:, 1:-1]
        decided = classifier(states, torch.ones(states.shape[:2], dtype=torch.bool))
        return float(decided.output(decided.attention if attention is None else attention[None]).double())


def test_what_is_left_out_is_not_read(lm: MaskedLM, task: SubjectNumberTask, classifier) -> None:
    found = left_out(lm.model, classifier, task.texts)
    for number in (0, 66):
        ids = task.texts[number].ids
        whole = output(lm, classifier, ids)
        expected = [abs(output(lm, classifier, np.delete(ids, place)) - whole) for place in range(1, len(ids) - 1)]
        assert found[number].tolist() == pytest.approx(expected, abs=1e-5)
        assert max(expected) > 1e-3


def test_gradients_are_the_slopes_of_the_output_with_attention_held(
    lm: MaskedLM, task: SubjectNumberTask, classifier
) -> None:
    found = input_gradients(lm.model, classifier, task.texts)
    assert not lm.model.module.pieces._forward_hooks
    attention = own_attention(lm.model, classifier, task.texts)
    for number in (0, 66):
        held = torch.from_numpy(attention[number]).float()
        for place in range(len(held)):
            slope = _slope(lm, classifier, task.texts[number].ids, place + 1, held)
            assert found[number][place] == pytest.approx(abs(slope), rel=0.05, abs=2e-4)


def _slope(lm: MaskedLM, classifier: TrainedClassifier, ids: np.ndarray, place: int, held: Tensor) -> float:
    """Return how the output changes as the embedding of a piece grows, by a central difference."""
    step, ends = 0.02, []
    for scale in (1 + step, 1 - step):

        def grown(_module: object, _inputs: object, vectors: Tensor, scale: float = scale) -> Tensor:
            factors = torch.ones(vectors.shape[:-1])
            factors[..., place] = scale
            return vectors * factors[..., None]

        handle = lm.model.module.pieces.register_forward_hook(grown)
        try:
            ends.append(output(lm, classifier, ids, held))
        finally:
            handle.remove()
    return (ends[0] - ends[1]) / (2 * step)
