from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from experiments.claims.claim import Work
from experiments.claims.trained import AgreementAccuracy
from experiments.interventions import patterns
from experiments.interventions.patterns import PatternsSection
from mha import Model, record
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

    def examine(section: PatternsSection, training: Path, fixed: tuple[str, ...]) -> dict[str, float]:
        spread = 0.001 * int(training.name)
        if fixed:
            return {"loss": loss + spread, "agreement": 0.9 - lost + spread, "across": 0.8 - lost + spread}
        return {"loss": 2.0, "agreement": 0.9, "across": 0.8}

    monkeypatch.setattr(patterns, "trainings", train)
    monkeypatch.setattr(patterns, "examine", examine)
    found = patterns.measure(SECTION, work)
    assert asked == [("no-term", ()), ("fixed", PATTERNS)]
    assert [one.verdict for one in found.statements] == verdicts
    assert found.statements[0].estimate.value == pytest.approx(loss / 2, rel=1e-3)


@pytest.mark.slow
def test_an_encoder_is_examined_with_the_heads_that_it_was_trained_with(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {
        "data": {"name": "grammar", "documents": 60, "seed": 3},
        "tokenizer": {"size": 300},
        "encoder": {"layers": 1, "heads": 8, "model": 16},
        "length": 48, "rows": 8, "steps": 4, "warmup": 1, "held_out_share": 0.1, "seeds": (0, 1),
        "checkpoints": {"per_doubling": 0, "safety": 0},
    }  # fmt: skip
    section = PatternsSection.model_validate({"claim": "patterns", "train": small, "pairs": 20})
    seen = []

    def look(model: Model, *_: Any) -> AgreementAccuracy:
        with record(model.module) as maps:
            model.run(torch.tensor([[2, 10, 11, 12, 3]]), None)
        seen.append(maps["pattern"][0][0, 1].argmax(-1).tolist())
        return AgreementAccuracy(0.5, 0.5)

    monkeypatch.setattr(patterns, "agreement_accuracy", look)
    patterns.measure(section, work)
    previous = [0, 0, 1, 2, 3]  # the second pattern
    assert [keys == previous for keys in seen] == [False] * 2 + [True] * 2
