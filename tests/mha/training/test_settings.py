from typing import Any

import pytest

from mha.training.checkpoints import CheckpointError
from mha.training.settings import TrainingError, TrainingSettings, check_unchanged


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"steps": 0}, "steps is 0, expected 1 to 99999999"),
        ({"clip": 0.0}, "clip is 0.0, expected more than 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"decay": "sudden"}, "unknown decay 'sudden'; known are linear, cosine"),
        ({"seed": 2**63}, "seed is 9223372036854775808, expected less than 2"),
        ({"beta2": 1.0}, "beta2 is 1.0, expected 0 or more and less than 1"),
    ],
    ids=str,
)
def test_what_cannot_be_trained_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(TrainingError, match=said):
        TrainingSettings(**change)


def test_what_may_change_may_and_the_rest_is_named() -> None:
    before = TrainingSettings().recorded()
    check_unchanged(
        "x", "the setting", before, TrainingSettings(keep=3, states=2, trackers=("tensorboard",)).recorded()
    )
    with pytest.raises(CheckpointError, match=r"x was trained with the setting clip = 1.0, not 2.0"):
        check_unchanged("x", "the setting", before, TrainingSettings(clip=2.0).recorded())
    with pytest.raises(CheckpointError, match=r"new = None, not 1"):
        check_unchanged("x", "the setting", before, {**before, "new": 1})
