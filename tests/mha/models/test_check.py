"""What is measured of a model when it is opened, against running it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModel

from mha import ModelError, load_model
from mha.models import check
from mha.planted.heads import word_model
from mha.training.vocabulary import save_tokenizer

SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "vocab_size": 40,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
}


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return what opens a model of `transformers` of that kind, with random weights and an empty cache."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))

    def opened(kind: str, **changes: Any) -> Any:
        torch.manual_seed(0)
        AutoModel.from_config(AutoConfig.for_model(kind, **{**SIZES, **changes})).save_pretrained(tmp_path)
        words = word_model(["the", "ship", "sank", "near"], layers=1, heads=2, head_dim=4, positions=16, seed=0)
        save_tokenizer(words.tokenizer, tmp_path, 512)
        return load_model(str(tmp_path))

    return opened


@pytest.mark.parametrize("kind", ["data2vec-text", "xlm-roberta-xl", "xmod", "gpt_neox"])
def test_the_longest_input_is_the_longest_that_runs(kind: str, opened: Callable[..., Any]) -> None:
    changes = {"default_language": "en_XX"} if kind == "xmod" else {}
    model = opened(kind, max_position_embeddings=20, **changes)
    ids = torch.full((1, model.max_pieces + 1), 7)
    model.run(ids[:, 1:], None)
    if kind == "gpt_neox":  # rotates by position, and has no table of them
        assert model.max_pieces == 20
        return
    with pytest.raises((IndexError, RuntimeError)):
        model.run(ids, None)


def test_what_was_measured_is_kept(opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened("data2vec-text", max_position_embeddings=20)
    monkeypatch.setattr(check, "measure", lambda model: pytest.fail("measured again"))
    again = load_model(first.name, "random", 3)
    assert (again.layers, again.heads, again.max_pieces, again.padding) == (2, 2, 19, 0)


def test_a_model_that_needs_more_than_text_is_refused_by_name(opened: Callable[..., Any]) -> None:
    with pytest.raises(ModelError, match=r"it cannot be run on pieces of text alone: .*language"):
        opened("xmod")
