from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from experiments.interventions import patterns
from experiments.interventions.patterns import PatternsSection
from experiments.statements.claim import Work
from mha.causal.fixed_patterns import PATTERNS

SECTION = PatternsSection.model_validate(
    {"claim": "patterns", "train": {"data": {"name": "grammar"}, "steps": 20, "seeds": (0, 1, 2)}}
)


@pytest.mark.parametrize(("loss", "lost", "verdicts"), [(2.05, 0.01, ["holds"] * 3), (2.5, 0.2, ["does not hold"] * 3)])
def test_the_verdict_follows_loss_and_agreement(
    loss: float, lost: float, verdicts: list[str], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def train(section: PatternsSection, work: Work, label: str, *, train: Mapping[str, Any]) -> dict[int, Path]:
        asked.append((label, train["fixed"]))
        return {seed: Path(label) / str(seed) for seed in section.train.seeds}

    def examine(section: PatternsSection, fixed: tuple[str, ...], training: Path) -> dict[str, float]:
        spread = 0.001 * int(training.name)
        if fixed:
            return {"loss": loss + spread, "agreement": 0.9 - lost + spread, "across": 0.8 - lost + spread}
        return {"loss": 2.0, "agreement": 0.9, "across": 0.8}

    monkeypatch.setattr("experiments.statements.trained.trainings", train)
    monkeypatch.setattr(patterns, "examine", examine)
    found = patterns.measure(SECTION, work)
    assert asked == [("no-term", ()), ("fixed", PATTERNS)]
    assert [one.verdict for one in found.statements] == verdicts
    assert found.statements[0].estimate.value == pytest.approx(loss / 2, rel=1e-3)
