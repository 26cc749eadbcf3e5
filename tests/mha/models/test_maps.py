import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from mha import Encoder, EncoderConfig, Model
from mha.batches import REDUCTIONS, Batch, collate
from mha.hooks import HookError, record, watch
from mha.models.maps import MAPS, merge, stream_lengths, stream_maps, stream_outputs
from mha.pieces import Pieces
from mha.watches import call_of
from tests.mha.conftest import model_of, text_of
from tests.mha.tiny.models import built

PIECES = st.lists(st.integers(0, 3), max_size=5)


def random_pattern(texts: list[Pieces], heads: int, seed: int) -> Tensor:
    """[batch, head, piece, piece] Rows of real pieces sum to 1 over real pieces."""
    length = max(map(len, texts))
    scores = torch.randn(len(texts), heads, length, length, generator=torch.Generator().manual_seed(seed)) * 3
    for i, text in enumerate(texts):
        scores[i, :, :, len(text) :] = -torch.inf
    pattern = scores.softmax(-1)
    for i, text in enumerate(texts):
        pattern[i, :, len(text) :] = 0
    return pattern


def merged_by_loops(pattern: Tensor, text: Pieces, reduce: str) -> np.ndarray:
    """[head, word, key] The same by the definition, in double precision; keys are words, [SEP], [CLS]."""
    out = np.zeros((pattern.shape[0], text.words, text.words + 2))
    for head in range(pattern.shape[0]):
        for word in range(text.words):
            queries = [place for place, owner in enumerate(text.word) if owner == word]
            if reduce == "first":
                queries = queries[:1]
            for query in queries:
                for place, key in enumerate(text.word):
                    out[head, word, key] += float(pattern[head, query, place]) / len(queries)
    return out


@given(
    st.lists(PIECES, min_size=1, max_size=3),
    st.sampled_from(REDUCTIONS),
    st.integers(0, 99),
    st.sampled_from((1, 2, 32)),
)
def test_merging_equals_loops_over_pieces(counts: list[list[int]], reduce: str, seed: int, queries: int) -> None:
    texts = [text_of(*one) for one in counts]
    pattern = random_pattern(texts, 2, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mha.models.maps.QUERIES", queries)
        maps = merge(pattern, collate(texts, reduce=reduce))
    width = max(text.words for text in texts)
    assert maps.shape == (len(texts), 2, width, width + 2)
    for i, text in enumerate(texts):
        n = text.words
        real = torch.cat([maps[i, :, :n, :n], maps[i, :, :n, width:]], 2)
        np.testing.assert_allclose(real.numpy(), merged_by_loops(pattern[i], text, reduce), rtol=0, atol=1e-6)
        assert bool((maps[i, :, n:] == 0).all())
        assert bool((maps[i, :, :, n:width] == 0).all())


def test_gradients_of_merged_maps_are_those_of_the_definition() -> None:
    texts = [text_of(1, 3), text_of(2)]
    batch, pattern = collate(texts), random_pattern(texts, 2, 0).requires_grad_()
    weights = torch.randn(2, 2, 2, 4, generator=torch.Generator().manual_seed(1))
    (merge(pattern, batch) * weights).sum().backward()
    expected = torch.einsum("bhqk,bqp,bok->bhpo", weights, batch.from_words, batch.to_words)
    torch.testing.assert_close(pattern.grad, expected)


@pytest.fixture
def batch() -> Batch:
    return collate([text_of(1, 3, 1), text_of(2)])


def test_the_stream_stops_after_the_last_layer_and_leaves_no_hook(encoder: Encoder, batch: Batch) -> None:
    ran: list[str] = []
    last = encoder.layers[-1]
    handles = [
        last.attention.project.register_forward_hook(lambda *_: ran.append("last layer's projection")),
        last.expand.register_forward_hook(lambda *_: ran.append("last layer's feed-forward net")),
        last.attention.output.register_forward_hook(lambda *_: ran.append("last layer's output projection")),
    ]
    stream_maps(model_of(encoder), batch, lambda layer, maps: None)
    assert ran == ["last layer's projection"]
    for handle in handles:
        handle.remove()
    assert not call_of(encoder).watches
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in encoder.modules())


def test_a_model_that_shows_fewer_layers_than_it_says_is_an_error(encoder: Encoder, batch: Batch) -> None:
    with pytest.raises(HookError, match="showed 3 layers, expected 5"):
        stream_maps(model_of(encoder, 5), batch, lambda layer, maps: None)


def test_outputs_of_words_are_means_over_their_pieces_layer_by_layer() -> None:
    encoder = Encoder(EncoderConfig(vocab=12, layers=3, heads=2, model=8, feed_forward=8, positions=16)).eval()
    model = model_of(encoder, 3, 2)
    texts = [text_of(1, 2, 1), text_of(3)]
    batch = collate(texts)
    shown: list[Tensor] = []
    stream_outputs(model, batch, lambda layer, given: shown.append(given) or None)
    with torch.inference_mode(), record(encoder, ["head_output"]) as seen:
        model.run(batch.ids, batch.mask)
    assert len(shown) == 3
    for words, pieces in zip(shown, seen["head_output"], strict=True):
        assert words.shape == (2, 3, 2, 4)
        for i, text in enumerate(texts):
            for word in range(text.words):
                places = np.flatnonzero(text.word == word)
                np.testing.assert_allclose(words[i, word], pieces[i][:, places].mean(1), atol=1e-6)
        assert not words[1, 1:].any(), "padding"


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


def rolled_by_hand(patterns: list[np.ndarray]) -> list[np.ndarray]:
    """[head, piece, piece] a layer, by Abnar and Zuidema's recursion in double precision, for one text."""
    below, rolled = np.eye(patterns[0].shape[-1]), []
    for pattern in patterns:
        rolled.append(np.stack([one @ below for one in pattern]))
        below = (0.5 * pattern.mean(0) + 0.5 * np.eye(len(below))) @ below
    return rolled


def test_rollout_is_the_product_of_half_residual_layers_below(encoder: Encoder) -> None:
    batch = collate([text_of(1, 3, 1)])
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


@pytest.mark.parametrize("kind", MAPS)
def test_padding_changes_no_kind_of_map_by_more_than_rounding(kind: str, encoder: Encoder) -> None:
    model, short = model_of(encoder), text_of(1, 2)
    alone = streamed(model, collate([short]), kind)
    padded = streamed(model, collate([short, text_of(3, 3, 3, 1)]), kind)
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
    module = built("bert", num_hidden_layers=2)
    module.config.model_type = "newbert"
    with pytest.raises(HookError, match="where W_O of 'newbert' lies is not known"):
        streamed(model_of(module, 2), batch, "norms")
    assert len(streamed(model_of(module, 2), batch, "rollout")) == 2
