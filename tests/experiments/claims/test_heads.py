from typing import Any

import numpy as np
import pytest

from experiments.claims import heads
from experiments.claims.heads import HeadCountSection, check_equal_size, slopes
from experiments.statements.claim import ClaimError, Work

TRAIN = {"data": {"name": "grammar"}, "steps": 1, "seeds": (0, 1, 2), "encoder": {"model": 16}}
CORPUS = {"select": {"name": "grammar", "documents": 6}}


def section(**changes: Any) -> HeadCountSection:
    return HeadCountSection.model_validate({"claim": "heads", "train": TRAIN, "corpus": CORPUS, **changes})


def planted(monkeypatch: pytest.MonkeyPatch, better: float) -> None:
    """Let encoders with more heads be better or worse, and have as many specialised heads as said."""

    def train(given: HeadCountSection, work: Work, label: str, heads: int) -> dict[int, Any]:
        return {seed: (heads, seed) for seed in given.train.seeds}

    def examine(given: HeadCountSection, training: Any) -> dict[str, float]:
        count, seed = training
        noise = 0.001 * seed * count
        return {
            "parameters": 100,
            "loss": 3 - better * np.log2(count) + noise,
            "agreement": 0.5 + 0.05 * better * np.log2(count) + noise,
            "specialised": round(2 + better * np.log2(count)),
            "all": 4 * count,
        }

    monkeypatch.setattr("experiments.statements.trained.trainings", train)
    monkeypatch.setattr(heads, "examine", examine)


@pytest.mark.parametrize(("better", "verdict"), [(0.5, "holds"), (-0.5, "does not hold")])
def test_the_verdicts_follow_loss_agreement_and_roles(
    better: float, verdict: str, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, better)
    found = heads.measure(section(heads=(1, 2, 8), compare=(2, 8)), work)
    loss, agreement, number, share = found.statements
    assert [one.verdict for one in (loss, agreement, number)] == [verdict] * 3
    assert share.verdict == "does not hold"  # 2 heads of 4, 2 or 3 of 32
    assert loss.estimate.value == pytest.approx(-2 * better + 0.006)
    assert "8 heads a layer reach a lower loss than with 2 heads" in loss.text
    assert found.noticed == ["Every model has 100 parameters."]
    assert [cell.at for cell in found.measures[0].cells] == [1, 2, 8]
    assert found.measures[3].cells[0].number.value == 0.5


def test_the_slope_is_the_rise_for_every_doubling() -> None:
    values = {1: {0: 1.0, 5: 0.0}, 2: {0: 3.0, 5: 1.0}, 4: {0: 5.0, 5: 1.0}}
    assert slopes(values) == pytest.approx([2.0, 0.5])


def test_models_of_other_sizes_are_not_compared() -> None:
    equal = {1: {0: {"parameters": 7.0}}, 2: {0: {"parameters": 7.0}}}
    assert check_equal_size(equal) == 7
    with pytest.raises(ClaimError, match=r"equally large, got parameters by heads \{1: 7, 2: 8\}"):
        check_equal_size(equal | {2: {0: {"parameters": 8.0}}})
