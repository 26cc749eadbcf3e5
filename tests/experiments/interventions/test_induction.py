import math
from pathlib import Path
from typing import Any

import pytest

from experiments.interventions import induction
from experiments.interventions.induction import ONE, TWO, abruptness, statements
from experiments.interventions.induction_measures import (
    COPIED,
    INDUCTION,
    LEFT,
    SCORE,
    SINKS,
    InductionSection,
    beside_others,
)
from experiments.statements.claim import Work
from mha import Encoder, EncoderConfig
from tests.experiments.findings.planted import rules_in

STEPS = [0.0, 100.0, 200.0, 300.0, 1000.0]


def course(values: list[float], scores: list[float]) -> dict[str, list[float]]:
    return {"steps": STEPS, INDUCTION: values, SCORE: scores, SINKS: [0.5 * (values[-1] < 0.5)] * 5}


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (lambda step: step, 2.0),
        (lambda step: 1 - math.exp(-step / 300), 2 * math.log(2) / math.log(4 / 3) - 1),
        (lambda step: 1 / (1 + math.exp(-(step - 1000) / 50)), 2 * math.log(3) / (1000 / 50 - math.log(3))),
        (lambda step: 5 - step, 2.0),
    ],
)
def test_abruptness_depends_on_the_shape_of_a_course_alone(shape: Any, expected: float) -> None:
    steps = [float(step) for step in range(0, 3001, 5)]
    for stretch in (1, 7):
        measured = {"steps": [step * stretch for step in steps], INDUCTION: [shape(step) for step in steps]}
        assert abruptness(measured) == pytest.approx(expected, rel=0.01)
    assert math.isnan(abruptness({"steps": [0.0, 5.0], INDUCTION: [0.1, 0.1]}))


def told(grown: bool) -> list[str]:
    jitter = (0.0, 0.01, 0.02)
    two = {
        seed: course([0.0, 0.1, 0.9, 0.9 - one, 0.9], [0.0, 0.0, -0.5, -0.5 - one, -0.5])
        if grown
        else course([(0.01 + one) * (1 + step / 300) for step in STEPS], [0.0, -0.1, -0.1, -0.1, -0.1])
        for seed, one in enumerate(jitter)
    }
    flat = [0.0, -0.05, -0.06, -0.07, -0.08]
    one = {
        seed: course([0.01 if grown else 0.3] * 4 + [0.02 + more if grown else 0.3 + more], flat)
        for seed, more in enumerate(jitter)
    }
    effects = {
        seed: {SCORE: [-0.1 + more, -0.4], COPIED: [0.1, 0.4 + more], LEFT: [0.3, 0.8 + more]}
        if grown
        else {SCORE: [-0.5 - more, -0.4], COPIED: [0.7, 0.4 + more], LEFT: [0.3, 0.3 + more]}
        for seed, more in enumerate(jitter)
    }
    return [one.verdict for one in statements({ONE: one, TWO: two}, effects)]


def test_statements_hold_where_heads_grow_and_matter_and_fail_where_they_do_not() -> None:
    assert told(grown=True) == ["holds"] * 9
    assert told(grown=False) == ["does not hold"] * 9


def test_a_head_is_compared_with_every_other_one_of_its_layer() -> None:
    encoder = Encoder(EncoderConfig(vocab=9, layers=2, heads=4, model=8, feed_forward=8, positions=4, causal=True))
    asked: list[list[tuple[int, int]]] = []

    def measured(heads: Any) -> float:
        asked.append([*heads])
        return float(heads[0][1])

    assert beside_others(encoder, (1, 2), measured) == [2.0, pytest.approx((0 + 1 + 3) / 3)]
    assert asked == [[(1, 2)], [(1, 0)], [(1, 1)], [(1, 3)]]


SMALL: dict[str, Any] = {
    "data": {"name": "grammar", "documents": 60, "seed": 3, "unit": "document"},
    "tokenizer": {"size": 300},
    "encoder": {"heads": 2, "model": 16, "feed_forward": 24, "causal": True},
    "length": 32, "rows": 8, "steps": 4, "warmup": 1, "held_out_share": 0.1, "seeds": (0, 1),
    "checkpoints": {"per_doubling": 0, "safety": 0},
}  # fmt: skip

SECTION: dict[str, Any] = {
    "claim": "induction",
    "train": SMALL,
    "texts": {"name": "grammar", "documents": 20, "seed": 4, "unit": "document"},
    "sequences": 4,
    "sequence_length": 32,
}


@pytest.mark.slow
def test_small_decoders_are_trained_and_read(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path))
    section = InductionSection.model_validate(SECTION)
    found = induction.measure(section, work)
    loss = next(one for one in found.measures if one.name == "evaluation loss")
    assert {(row.condition, row.at, row.repeat) for row in loss.rows} == {
        (depth, step, seed) for depth in (ONE, TWO) for step in (0.0, 4.0) for seed in (0, 1)
    }
    assert found.noticed[-1].startswith("The commonest distance finds")
    score = next(one for one in found.measures if one.name == "in-context learning score at the end")
    assert {row.condition for row in score.rows} == {
        f"{TWO}, {way}" for way in ("all heads", "without the induction head", "without another head")
    }
    early = next(one for one in found.measures if one.name == "loss early in held-out texts at the end")
    assert all(math.isfinite(row.value) for row in (*score.rows, *early.rows))
    assert len({row.value for row in early.rows}) == 6  # no two conditions and seeds are alike


def test_the_sentences_of_findings_stand_in_the_claim() -> None:
    courses = {depth: {seed: course([0.01] * 5, [0.0] * 5) for seed in range(2)} for depth in (ONE, TWO)}
    told = {one.text: one.rule for one in statements(courses, {})}
    for opening, rule in rules_in("induction").items():
        assert [told[text] for text in told if text.startswith(opening)] == [rule]
