from collections.abc import Callable

import pytest
import torch
from torch import nn

from mha import attention
from tests.mha.architectures import ARCHITECTURES, PAGE, row, try_out

QUICK = ("eurobert", "mistral", "m2m_100", "mt5", "fnet", "gpt_oss")
"The others are slow tests, but for those that tests/mha/models/test_hub.py tries."


@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in ARCHITECTURES]
)
def test_an_architecture_has_the_row_of_the_page(kind: str) -> None:
    outcome = try_out(kind)
    assert row(outcome) in PAGE.read_text(encoding="utf-8").splitlines()
    assert outcome.off == 0
    assert outcome.written is None or outcome.written < 1e-5


def test_the_page_has_a_row_for_every_architecture_and_no_other() -> None:
    rows = [line.split(" | ")[0] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert sorted(rows) == sorted([f"| {kind}" for kind in ARCHITECTURES] + ["| architecture"] * 2)


def _other_weights(model: nn.Module) -> None:
    with torch.no_grad():
        next(p for name, p in model.named_parameters() if "query" in name or "q." in name).mul_(1.5)


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_other_weights_than_the_models_own_would_be_seen(kind: str) -> None:
    assert try_out(kind, _other_weights).off > 0.01


@pytest.mark.parametrize(("kind", "part"), [("modernbert", "added"), ("t5", "added"), ("gemma2", "softcap")])
def test_a_part_of_the_scores_that_is_forgotten_would_be_seen(
    kind: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: Callable[..., torch.Tensor] = attention._Scores.explicit
    monkeypatch.setattr(attention._Scores, "explicit", lambda self: whole(self._replace(**{part: None})))
    assert try_out(kind).off > 1e-3
