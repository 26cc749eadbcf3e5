from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mha import Encoder, Model
from mha.batches import Batch, collate
from mha.hooks import HookError, record, watch
from mha.models.maps import MAPS, half_residual, merge, stream_lengths, stream_maps
from mha.pieces import CLS, SEP, Pieces


def text_of(counts: list[int]) -> Pieces:
    word = [CLS, *np.repeat(np.arange(len(counts)), counts).tolist(), SEP]
    return Pieces(np.arange(5, 5 + len(word), dtype=np.int32), np.array(word, np.int32), len(counts))


def model_of(module: nn.Module, layers: int = 3) -> Model:
    facts: dict[str, Any] = {"name": "tiny", "source": "pretrained", "architecture": "bert", "sha256": ""}
    return Model(module=module, tokenizer=None, layers=layers, heads=4, max_pieces=24, padding=0, **facts)


@pytest.fixture
def batch() -> Batch:
    return collate([text_of([1, 3, 1]), text_of([2])])


def streamed(model: Model, batch: Batch, kind: str) -> list[Tensor]:
    seen: list[Tensor] = []
    stream_maps(model, batch, lambda layer, maps: seen.append(maps), maps=kind)
    return seen


def test_norms_are_the_lengths_of_what_each_key_adds_to_each_query(encoder: Encoder, batch: Batch) -> None:
    with torch.no_grad(), record(encoder, ["pattern", "value"]) as seen:
        encoder(batch.ids, batch.mask)
    found = streamed(model_of(encoder), batch, "norms")
    assert len(found) == 3
    for maps, pattern, value, layer in zip(found, seen["pattern"], seen["value"], encoder.layers, strict=True):
        weights = layer.attention.W_O.double()
        added = torch.einsum("bhqk,bhkd,hdm->bhqkm", pattern.double(), value.double(), weights)
        torch.testing.assert_close(maps, merge(added.norm(dim=-1).float(), batch), rtol=1e-5, atol=1e-6)
        assert not torch.allclose(maps[0, :, 0].sum(-1), torch.ones(4), atol=0.05)


def test_attention_and_lengths_are_shown_together_and_make_norms(encoder: Encoder, batch: Batch) -> None:
    seen: list[tuple[int, Tensor, Tensor]] = []
    stream_lengths(model_of(encoder), batch, lambda *shown: seen.append(shown))
    assert [layer for layer, *_ in seen] == [0, 1, 2]
    norms, weights = (streamed(model_of(encoder), batch, kind) for kind in ("norms", "weights"))
    for (_, pattern, lengths), norm, weight in zip(seen, norms, weights, strict=True):
        torch.testing.assert_close(merge(pattern, batch), weight, rtol=0, atol=1e-6)
        torch.testing.assert_close(merge(pattern * lengths[:, :, None], batch), norm, rtol=1e-5, atol=1e-6)


def test_a_head_whose_values_are_nothing_has_no_norms_and_keeps_its_weights(encoder: Encoder, batch: Batch) -> None:
    attention = encoder.layers[1].attention
    with torch.no_grad():
        attention.W_V[2] = 0
        attention.bias(2)[2] = 0
    norms, weights = (streamed(model_of(encoder), batch, kind)[1] for kind in ("norms", "weights"))
    assert bool((norms[:, 2] == 0).all())
    assert bool((norms[0, [0, 1, 3]].sum((1, 2)) > 0).all())
    torch.testing.assert_close(weights[0, 2].sum(-1), torch.ones(3), rtol=0, atol=1e-6)


def test_the_bias_of_W_O_belongs_to_no_head(encoder: Encoder, batch: Batch) -> None:
    before = streamed(model_of(encoder), batch, "norms")[0]
    with torch.no_grad():
        encoder.layers[0].attention.output.bias += 5
    assert torch.equal(streamed(model_of(encoder), batch, "norms")[0], before)


def test_values_are_those_that_transformers_computes(batch: Batch) -> None:
    import transformers

    sizes: dict[str, Any] = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    torch.manual_seed(0)
    module = transformers.BertModel(transformers.BertConfig(**sizes), add_pooling_layer=False).eval()
    assert batch.mask is not None
    module.set_attn_implementation("eager")
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(5)
        output = module(batch.ids, batch.mask.long(), output_attentions=True, output_hidden_states=True)
    found = streamed(model_of(module, 2), batch, "norms")
    for i, (maps, layer) in enumerate(zip(found, module.encoder.layer, strict=True)):
        with torch.no_grad():
            value = layer.attention.self.value(output.hidden_states[i]).double()
        for head in range(4):
            part = slice(8 * head, 8 * head + 8)
            length = (value[..., part] @ layer.attention.output.dense.weight[:, part].T.double()).norm(dim=-1)
            expected = merge((output.attentions[i][:, head] * length[:, None])[:, None].float(), batch)
            torch.testing.assert_close(maps[:, [head]], expected, rtol=1e-4, atol=1e-6)


def rolled_by_hand(patterns: list[np.ndarray]) -> list[np.ndarray]:
    """[head, piece, piece] a layer, by Abnar and Zuidema's recursion in double precision, for one text."""
    below, rolled = np.eye(patterns[0].shape[-1]), []
    for pattern in patterns:
        rolled.append(np.stack([one @ below for one in pattern]))
        below = (0.5 * pattern.mean(0) + 0.5 * np.eye(len(below))) @ below
    return rolled


def test_rollout_is_the_product_of_half_residual_layers_below(encoder: Encoder) -> None:
    batch = collate([text_of([1, 3, 1])])
    with torch.no_grad(), record(encoder) as seen:
        encoder(batch.ids)
    rolled = rolled_by_hand([pattern[0].double().numpy() for pattern in seen["pattern"]])
    found = streamed(model_of(encoder), batch, "rollout")
    assert len(found) == 3
    for maps, expected in zip(found, rolled, strict=True):
        direct = merge(torch.from_numpy(expected).float()[None], batch)
        torch.testing.assert_close(maps, direct, rtol=0, atol=1e-6)
        torch.testing.assert_close(maps.sum(-1), torch.ones(1, 4, 3), rtol=0, atol=1e-6)
    weights = streamed(model_of(encoder), batch, "weights")
    assert torch.equal(found[0], weights[0])
    assert float((found[2] - weights[2]).abs().max()) > 0.01


@pytest.mark.parametrize("kind", MAPS)
def test_whoever_looks_too_gets_the_maps_that_were_asked_for_and_attention_itself(
    kind: str, encoder: Encoder, batch: Batch
) -> None:
    with torch.no_grad(), record(encoder) as seen:
        encoder(batch.ids, batch.mask)
    both: list[tuple[Tensor, Tensor]] = []

    def look(layer: int, maps: Tensor, pattern: Tensor) -> None:
        both.append((maps, pattern))

    stream_maps(model_of(encoder), batch, lambda layer, maps: None, [look], maps=kind)
    expected = streamed(model_of(encoder), batch, kind)
    for (maps, pattern), alone, recorded in zip(both, expected, seen["pattern"], strict=True):
        assert torch.equal(maps, alone)
        assert torch.equal(pattern, recorded)


def test_half_residual_of_a_head_that_looks_back_is_half_there_and_half_here() -> None:
    back = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]])
    assert half_residual(back).tolist() == [[[1.0, 0.0], [0.5, 0.5]]]


@pytest.mark.parametrize("kind", MAPS)
def test_padding_changes_no_kind_of_map_by_more_than_rounding(kind: str, encoder: Encoder) -> None:
    model, short = model_of(encoder), text_of([1, 2])
    alone = streamed(model, collate([short]), kind)
    padded = streamed(model, collate([short, text_of([3, 3, 3, 1])]), kind)
    for one, other in zip(alone, padded, strict=True):
        both = torch.cat([other[:1, :, :2, :2], other[:1, :, :2, 4:]], 3)
        torch.testing.assert_close(both, one, rtol=1e-5, atol=1e-6)
        assert bool((other[0, :, 2:] == 0).all())


def test_unknown_maps_and_sites_without_norms_are_refused(encoder: Encoder, batch: Batch) -> None:
    with pytest.raises(ValueError, match="unknown maps 'norm'; known are weights, norms, rollout"):
        streamed(model_of(encoder), batch, "norm")
    with (
        pytest.raises(HookError, match="norms are those of the sites value and head_output, not of pattern"),
        watch(encoder, lambda seen: seen.written_norms()),
    ):
        encoder(batch.ids, batch.mask)


def test_norms_of_an_architecture_whose_output_projection_is_not_known_are_refused_by_its_name(batch: Batch) -> None:
    import transformers

    sizes: dict[str, Any] = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.BertConfig(**sizes)
    config.model_type = "newbert"
    module = transformers.BertModel(config).eval()
    with pytest.raises(HookError, match="where W_O of 'newbert' lies is not known"):
        streamed(model_of(module, 2), batch, "norms")
    assert len(streamed(model_of(module, 2), batch, "rollout")) == 2
