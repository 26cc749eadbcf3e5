"""What is measured of a model when it is opened, against running it; and the windows of its layers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hub

from mha import ModelError, load_model, record
from mha.models import check
from mha.models.check import local_windows
from mha.planted.heads import word_model
from mha.training.vocabulary import save_tokenizer
from tests.mha.tiny.models import built, config


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return what opens a model of `transformers` of that kind, with random weights and an empty cache."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))

    def opened(kind: str, **changes: Any) -> Any:
        built(kind, max_position_embeddings=20, **changes).save_pretrained(tmp_path)
        words = word_model(["the", "ship", "sank", "near"], layers=1, heads=2, head_dim=4, positions=16, seed=0)
        save_tokenizer(words.tokenizer, tmp_path, 512)
        return load_model(str(tmp_path))

    return opened


@pytest.mark.parametrize("kind", ["data2vec-text", "xlm-roberta-xl"])
def test_the_longest_input_is_the_longest_that_runs_and_is_measured_once(
    kind: str, opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = opened(kind)
    ids = torch.full((1, model.max_pieces + 1), 7)
    model.run(ids[:, 1:], None)
    with pytest.raises((IndexError, RuntimeError)):
        model.run(ids, None)
    load_model(model.name, "random", 1)  # whether padding is harmless can depend on weights
    monkeypatch.setattr(check, "measure", lambda model: pytest.fail("measured again"))
    assert load_model(model.name).padding == model.padding
    again = load_model(model.name, "random", 3)
    assert (again.layers, again.heads, again.max_pieces, again.padding) == (3, 4, model.max_pieces, 0)


def test_a_model_without_a_table_of_positions_reads_what_its_config_says(opened: Callable[..., Any]) -> None:
    assert opened("gpt_neox").max_pieces == 20


def test_layers_without_attention_are_told(opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    types, size = ["conv", "full_attention"] * 2, {"hidden_size": 16, "intermediate_size": 32}
    heads = {"num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4}
    module = hub.Lfm2Model(hub.Lfm2Config(vocab_size=40, layer_types=types, pad_token_id=0, **size, **heads))
    monkeypatch.setattr(f"{__name__}.built", lambda *_, **__: module)
    model = opened("lfm2")
    assert model.layers == 2
    assert "layers are counted by attention maps: there are 2, and config.json says 4" in model.notes


def test_a_model_that_needs_more_than_text_is_refused_by_name(opened: Callable[..., Any]) -> None:
    with pytest.raises(ModelError, match=r"it cannot be run on pieces of text alone: .*xx_XX"):
        opened("xmod", default_language="xx_XX")


WINDOWS: list[tuple[str, dict[str, Any], list[int | None]]] = [
    ("modernbert", {}, [None, 5, 5]),
    ("modernbert-decoder", {}, [None, 2, 2]),
    ("gemma2", {}, [4, None, 4]),
    ("mistral", {}, [4, 4, 4]),
    ("eurobert", {}, [None, None, None]),
    ("gemma3_text", {"use_bidirectional_attention": True, "sliding_window": 6}, [7, 7, 7]),
]


@pytest.mark.parametrize(("kind", "changes", "expected"), WINDOWS)
def test_windows_are_those_that_maps_show(kind: str, changes: dict[str, Any], expected: list[int | None]) -> None:
    model = hub.AutoModel.from_config(config(kind, **changes)).eval()
    ids = torch.randint(5, 40, (1, 16), generator=torch.Generator().manual_seed(0))
    with torch.no_grad(), record(model) as maps:
        model(input_ids=ids, attention_mask=torch.ones_like(ids))
    most = [int((pattern[0, 0] > 0).sum(-1).max()) for pattern in maps["pattern"]]
    assert local_windows(model, 3) == expected == [None if count == 16 else count for count in most]
