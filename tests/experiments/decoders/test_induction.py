import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.claims.claim import Work
from experiments.decoders import induction
from experiments.decoders.induction import ONE, TWO, fall, rise, statements
from experiments.decoders.induction_measures import COPIED, LEFT, SCORE, SINKS, InductionSection, others
from experiments.decoders.repeated_pieces import INDUCTION
from experiments.findings.gu_2025 import LITTLE
from experiments.findings.olsson_2022 import CAUSE, CHANGE, DEPTH

STEPS = [0.0, 100.0, 200.0, 300.0, 1000.0]


def course(values: list[float], scores: list[float]) -> dict[str, list[float]]:
    return {"steps": STEPS, INDUCTION: values, SCORE: scores, SINKS: [0.5 * (values[-1] < 0.5)] * 5}


def test_the_rise_goes_from_a_quarter_to_three_quarters_of_the_way() -> None:
    found = rise(course([0.0, 0.1, 0.5, 0.8, 0.6], [0.0] * 5))
    assert found == pytest.approx((125.0, 200 + 100 / 3))
    assert rise(course([0.3, 0.2, 0.1, 0.1, 0.1], [0.0] * 5)) == (0.0, 0.0)


def test_the_fall_is_read_between_checkpoints() -> None:
    assert fall(course([0.0] * 5, [0.0, 0.0, -0.2, -0.4, -1.1]), 150.0, 650.0) == pytest.approx(-0.75 + 0.1)


def told(grown: bool) -> list[str]:
    jitter = (0.0, 0.01, 0.02)
    two = {
        seed: course([0.0, 0.1, 0.9, 0.9 - one, 0.9], [0.0, 0.0, -0.5, -0.5 - one, -0.5])
        if grown
        else course([0.01, 0.02, 0.02, 0.03, 0.05 + one], [0.0, -0.1, -0.1, -0.1, -0.1])
        for seed, one in enumerate(jitter)
    }
    flat = [0.0, -0.05, -0.06, -0.07, -0.08]
    one = {
        seed: course([0.01 if grown else 0.3] * 4 + [0.02 + more if grown else 0.3 + more], flat)
        for seed, more in enumerate(jitter)
    }
    sign = 1 if grown else -1
    effects = {
        seed: {
            SCORE: [-0.1 + sign * more, -0.4],
            COPIED: [0.4 - sign * 0.3, 0.4 + more],
            LEFT: [0.3, 0.3 + 0.5 * grown],
        }
        for seed, more in enumerate(jitter)
    }
    if not grown:
        effects = {seed: effect | {SCORE: [-0.5 - jitter[seed], -0.4]} for seed, effect in effects.items()}
    return [one.verdict for one in statements({ONE: one, TWO: two}, effects)]


def test_statements_hold_where_heads_grow_and_matter() -> None:
    assert told(grown=True) == ["holds"] * 9


def test_statements_fail_where_they_do_not() -> None:
    assert told(grown=False) == ["does not hold"] * 9


def test_without_an_induction_head_nothing_is_said_of_what_rests_on_it() -> None:
    courses = {depth: {seed: course([0.01] * 5, [0.0] * 5) for seed in range(3)} for depth in (ONE, TWO)}
    rest = statements(courses, {seed: {} for seed in range(3)})[-4:-1]
    assert [one.verdict for one in rest] == ["not decided"] * 3
    assert all(math.isnan(one.estimate.value) for one in rest)


def test_others_are_of_the_same_layers_and_as_many() -> None:
    every = [(layer, head) for layer in range(2) for head in range(4)]
    for drawn in others([(0, 1), (1, 0), (1, 2), (1, 3)], every, 20, np.random.default_rng(0)):
        assert sorted(layer for layer, _ in drawn) == [0, 1]
        assert (1, 1) in drawn
        assert (0, 1) not in drawn


@pytest.mark.slow
def test_small_decoders_are_trained_and_read(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small: dict[str, Any] = {
        "data": {"name": "grammar", "documents": 60, "seed": 3, "unit": "document"},
        "tokenizer": {"size": 300},
        "encoder": {"heads": 2, "model": 16, "causal": True},
        "length": 32, "rows": 8, "steps": 4, "warmup": 1, "held_out_share": 0.1, "seeds": (0, 1),
        "checkpoints": {"per_doubling": 0, "safety": 0},
    }  # fmt: skip
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    section = InductionSection.model_validate(
        {"claim": "induction", "train": small, "sequences": 4, "sequence_length": 32}
    )
    found = induction.measure(section, work)
    loss = next(one for one in found.measures if one.name == "evaluation loss")
    assert {(row.condition, row.at, row.repeat) for row in loss.rows} == {
        (depth, step, seed) for depth in (ONE, TWO) for step in (0.0, 4.0) for seed in (0, 1)
    }
    assert all(4 < row.value < 7 for row in loss.rows)
    assert found.noticed[-1].startswith("The commonest distance finds")
    assert [one.verdict for one in found.statements[-4:-1]] == ["not decided"] * 3


def test_the_sentences_of_findings_stand_in_the_claim() -> None:
    courses = {depth: {seed: course([0.01] * 5, [0.0] * 5) for seed in range(2)} for depth in (ONE, TWO)}
    texts = [one.text for one in statements(courses, {})]
    for sentence in (*DEPTH, *CHANGE, *CAUSE, *LITTLE):
        (text,) = [text for text in texts if text.startswith(sentence.opening)]
        assert next(one.rule for one in statements(courses, {}) if one.text == text) == sentence.rule
