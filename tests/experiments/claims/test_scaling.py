import math
from typing import Any

import pytest

from experiments.claims import scaling
from experiments.claims.scaling import END, START, ScalingSection
from experiments.statements.claim import Work

SECTION = ScalingSection.model_validate(
    {
        "claim": "scaling",
        "train": {"data": {"name": "grammar"}, "steps": 1, "seeds": (0, 1, 2)},
        "heads": 4,
        "dimensions": (16, 256),
        "draws": 30,
    }
)


def planted(monkeypatch: pytest.MonkeyPatch, worse: float) -> list[Any]:
    asked = []

    def train(section: ScalingSection, work: Work, label: str, **encoder: Any) -> dict[int, Any]:
        asked.append((label, encoder))
        return {seed: (encoder.get("scale", True), seed) for seed in section.train.seeds}

    def examine(training: Any, batches: object) -> dict[str, float]:
        scale, seed = training
        harm = 0 if scale else worse * (1 + 0.1 * seed)
        found = {f"{name} {when}": 1.0 for name in ("entropy", "gradient") for when in (START, END)}
        return found | {"loss": 2 + harm, f"entropy {END}": 1 - harm, f"gradient {END}": math.exp(-harm)}

    monkeypatch.setattr("experiments.statements.trained.trainings", train)
    monkeypatch.setattr(scaling, "_examine", examine)
    monkeypatch.setattr(scaling, "held_out", lambda train: (None, []))
    return asked


@pytest.mark.parametrize(("worse", "verdict"), [(0.2, "holds"), (-0.2, "does not hold")])
def test_random_scores_are_as_the_footnote_says_and_encoders_as_they_were_planted(
    worse: float, verdict: str, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = planted(monkeypatch, worse)
    found = scaling.measure(SECTION, work)
    variance, smaller, same, *trained = found.statements
    assert (variance.verdict, smaller.verdict) == ("holds", "holds")
    assert same.verdict in ("holds", "not decided")
    assert smaller.estimate.high < 0.5
    assert [one.verdict for one in trained] == [verdict] * 3
    assert trained[1].estimate.value == pytest.approx(math.exp(-1.1 * worse))
    assert asked == [("heads-4", {"heads": 4}), ("heads-4-unscaled", {"heads": 4, "scale": False})]
