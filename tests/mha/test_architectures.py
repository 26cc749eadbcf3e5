from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from mha import attention
from tests.mha.architectures import PAGE, row, try_out
from tests.mha.tiny.models import ARCHITECTURES

QUICK = ("bert", "eurobert", "mistral", "m2m_100", "mt5", "fnet", "gpt_oss", "deberta-v2", "mpnet", "xlnet", "falcon")
QUICK += ("gpt2", "albert", "modernbert", "gemma2")
"The others are slow tests."


@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in ARCHITECTURES]
)
def test_an_architecture_is_read_as_transformers_reads_it_and_has_the_row_of_the_page(
    kind: str, tmp_path: Path
) -> None:
    outcome = try_out(kind, tmp_path)
    assert row(outcome) in PAGE.read_text(encoding="utf-8").splitlines()
    assert "off by" not in row(outcome)
    assert outcome.shape
    assert outcome.pieces
    assert outcome.pads[0] == outcome.pads[1]
    assert outcome.words <= 1e-5


def test_the_page_has_a_row_for_every_architecture_and_no_other() -> None:
    rows = [line.split(" | ")[0] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert sorted(row for row in rows if row != "| architecture") == sorted(f"| {kind}" for kind in ARCHITECTURES)


def _other_weights(model: nn.Module) -> None:
    with torch.no_grad():
        next(p for name, p in model.named_parameters() if "query" in name or "q." in name).mul_(1.5)


@pytest.mark.parametrize("kind", ["ernie", "t5", "deberta-v2"])
def test_other_weights_than_the_models_own_would_be_seen(kind: str, tmp_path: Path) -> None:
    assert try_out(kind, tmp_path, _other_weights).off > 0.01


@pytest.mark.parametrize(
    ("kind", "part"), [("modernbert", "added"), ("t5", "added"), ("gemma2", "softcap"), ("gpt_oss", "sinks")]
)
def test_a_part_of_the_scores_that_is_forgotten_would_be_seen(
    kind: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "pattern" if part == "sinks" else "explicit"
    whole: Callable[..., torch.Tensor] = getattr(attention._Scores, name)
    without = {part: None}
    monkeypatch.setattr(attention._Scores, name, lambda self, *args: whole(self._replace(**without), *args))
    assert try_out(kind, tmp_path).off > 1e-3
