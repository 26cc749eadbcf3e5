"""Importance of pieces beside one sentence at a time and finite differences, and how far rankings agree."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from torch import Tensor

from mha.models.masked_prediction import MaskedLM
from probes.explanation.classifier import TrainedClassifier
from probes.explanation.importance import (
    ATTENTION,
    GRADIENT,
    LEFT_OUT,
    PAIRS,
    input_gradients,
    left_out,
    own_attention,
    rank_table,
    summary,
    taus,
)
from probes.explanation.measure import SubjectNumberTask, read_task


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


@pytest.mark.slow
def test_what_is_left_out_is_not_read(lm: MaskedLM, task: SubjectNumberTask, classifier) -> None:
    found = left_out(lm.model, classifier, task.texts)
    for number in (0, 66):
        ids = task.texts[number].ids
        whole = output(lm, classifier, ids)
        expected = [abs(output(lm, classifier, np.delete(ids, place)) - whole) for place in range(1, len(ids) - 1)]
        assert found[number].tolist() == pytest.approx(expected, abs=1e-5)
        assert max(expected) > 1e-3


@pytest.mark.slow
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


ATTENDED = np.array([0.5, 0.2, 0.2, 0.1])
SLOPES = np.array([3.0, 4.0, 1.0, 2.0])


def measured(attention: list[np.ndarray], gradient: list[np.ndarray], left: list[np.ndarray]) -> dict:
    return {ATTENTION: attention, GRADIENT: gradient, LEFT_OUT: left}


def test_tau_is_the_one_counted_by_hand() -> None:
    # of six pairs of pieces one ties in attention, 3 > 1, 3 > 2 and 4 > 2 are in its order, 3 < 4 and 1 < 2 are not
    found = taus(measured([ATTENDED], [SLOPES], [SLOPES]), "attention and gradient")
    assert found.tau[0] == pytest.approx((3 - 2) / np.sqrt(5 * 6))


def test_orders_that_are_the_same_or_the_other_way_round_have_tau_one_and_minus_one() -> None:
    random = np.random.default_rng(1)
    texts = [random.random(8) for _ in range(30)]
    table = rank_table(measured(texts, [one**2 for one in texts], [-one for one in texts])).set_index("pair")
    assert table.tau.to_dict() == pytest.approx(dict(zip(PAIRS, (1, -1, -1), strict=True)))
    assert table.significant.tolist() == [1, 1, 1]
    assert (table.high - table.low).tolist() == pytest.approx([0, 0, 0], abs=1e-12)


def test_the_interval_is_students_t_over_sentences() -> None:
    values = np.array([0.1, 0.5, 0.3, 0.2])
    found = summary(pd.DataFrame({"tau": values, "p": [0.05, 0.01, 0.2, 0.051]}))
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert (found["tau"], found["low"], found["high"]) == pytest.approx((0.275, low, high))
    assert (found["significant"], found["n"]) == (0.5, 4)


def test_sentences_in_which_a_measure_is_the_same_for_all_pieces_are_left_out() -> None:
    flat, steep = np.ones(5), np.arange(5.0)
    table = rank_table(measured([flat, steep, steep], [steep] * 3, [steep] * 3)).set_index("pair")
    assert table.n.tolist() == [2, 2, 3]
    assert table.tau.tolist() == pytest.approx([1, 1, 1])
    nothing = rank_table(measured([flat], [steep], [steep])).iloc[0]
    assert (nothing.n, np.isnan(nothing.tau)) == (0, True)
