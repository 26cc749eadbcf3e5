from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from mha import Encoder, EncoderConfig, Model
from mha.batches import REDUCTIONS, Batch, collate
from mha.hooks import HookError, record
from mha.models.maps import merge, stream_maps, stream_outputs
from mha.pieces import CLS, SEP, Pieces
from mha.watches import call_of

PIECES = st.lists(st.integers(0, 3), max_size=5)


def text_of(counts: list[int]) -> Pieces:
    """A text whose words have that many pieces each (0: the tokenizer made nothing of it), between [CLS] and [SEP]."""
    word = [CLS, *np.repeat(np.arange(len(counts)), counts).tolist(), SEP]
    return Pieces(np.arange(5, 5 + len(word), dtype=np.int32), np.array(word, np.int32), len(counts))


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
    texts = [text_of(one) for one in counts]
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


@given(st.lists(PIECES, min_size=1, max_size=3), st.sampled_from(REDUCTIONS), st.integers(0, 99))
def test_merging_pieces_keeps_rows_summing_to_one(counts: list[list[int]], reduce: str, seed: int) -> None:
    texts = [text_of(one) for one in counts]
    sums = merge(random_pattern(texts, 2, seed), collate(texts, reduce=reduce)).sum(-1)
    for i, one in enumerate(counts):
        for word, pieces in enumerate(one):
            torch.testing.assert_close(sums[i, :, word], torch.full((2,), float(pieces > 0)), rtol=0, atol=1e-6)


def test_what_is_merged_stays_as_it_was() -> None:
    texts = [text_of([1, 3]), text_of([2])]
    pattern, batch = random_pattern(texts, 2, 0), collate(texts)
    before = [pattern.clone(), batch.to_words.clone(), batch.from_words.clone()]
    merge(pattern, batch)
    assert all(map(torch.equal, before, [pattern, batch.to_words, batch.from_words]))


def test_gradients_of_merged_maps_are_those_of_the_definition() -> None:
    texts = [text_of([1, 3]), text_of([2])]
    batch, pattern = collate(texts), random_pattern(texts, 2, 0).requires_grad_()
    weights = torch.randn(2, 2, 2, 4, generator=torch.Generator().manual_seed(1))
    (merge(pattern, batch) * weights).sum().backward()
    expected = torch.einsum("bhqk,bqp,bok->bhpo", weights, batch.from_words, batch.to_words)
    torch.testing.assert_close(pattern.grad, expected)


def test_of_a_word_of_one_piece_merging_changes_no_bit() -> None:
    texts = [text_of([1, 1, 1])]
    pattern = random_pattern(texts, 2, 0)
    maps = merge(pattern, collate(texts))
    assert torch.equal(maps[0, :, :, :3], pattern[0, :, 1:4, 1:4])
    assert torch.equal(maps[0, :, :, CLS], pattern[0, :, 1:4, 0])
    assert torch.equal(maps[0, :, :, SEP], pattern[0, :, 1:4, 4])


def model_of(module: nn.Module, layers: int, heads: int) -> Model:
    facts: dict[str, Any] = {"name": "tiny", "source": "pretrained", "architecture": "bert", "sha256": ""}
    return Model(module=module, tokenizer=None, layers=layers, heads=heads, max_pieces=24, padding=0, **facts)


@pytest.fixture
def batch() -> Batch:
    return collate([text_of([1, 3, 1]), text_of([2])])


def test_the_stream_shows_every_layer_once_in_order_and_its_maps(encoder: Encoder, batch: Batch) -> None:
    seen: list[tuple[int, Tensor]] = []
    stream_maps(model_of(encoder, 3, 4), batch, lambda layer, maps: seen.append((layer, maps)))
    with torch.no_grad(), record(encoder) as maps:
        encoder(batch.ids, batch.mask)
    assert [layer for layer, _ in seen] == [0, 1, 2]
    for (_, got), pattern in zip(seen, maps["pattern"], strict=True):
        assert got.shape == (2, 4, 3, 5)
        assert torch.equal(got, merge(pattern, batch))


def test_the_stream_stops_after_the_last_layer_and_leaves_no_hook(encoder: Encoder, batch: Batch) -> None:
    ran: list[str] = []
    last = encoder.layers[-1]
    handles = [
        last.attention.project.register_forward_hook(lambda *_: ran.append("last layer's projection")),
        last.expand.register_forward_hook(lambda *_: ran.append("last layer's feed-forward net")),
        last.attention.output.register_forward_hook(lambda *_: ran.append("last layer's output projection")),
    ]
    stream_maps(model_of(encoder, 3, 4), batch, lambda layer, maps: None)
    assert ran == ["last layer's projection"]
    for handle in handles:
        handle.remove()
    assert not call_of(encoder).watches
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in encoder.modules())


def test_a_model_that_catches_errors_of_its_parts_does_not_keep_the_stream_running(
    encoder: Encoder, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    last, ran = encoder.layers[-1], []
    forward = last.forward

    def careful(x: Tensor, *others: Any) -> Tensor:
        try:
            return forward(x, *others)
        except Exception:
            ran.append("the stream's end was taken for an error")
            return x

    monkeypatch.setattr(last, "forward", careful)
    stream_maps(model_of(encoder, 3, 4), batch, lambda layer, maps: None)
    assert ran == []


def test_an_exception_of_whoever_looks_is_passed_on_and_leaves_no_hook(encoder: Encoder, batch: Batch) -> None:
    def see(layer: int, maps: Tensor) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stream_maps(model_of(encoder, 3, 4), batch, see)
    assert not call_of(encoder).watches
    assert not encoder._forward_hooks


def test_a_model_that_shows_fewer_layers_than_it_says_is_an_error(encoder: Encoder, batch: Batch) -> None:
    with pytest.raises(HookError, match="showed 3 layers, expected 5"):
        stream_maps(model_of(encoder, 5, 4), batch, lambda layer, maps: None)


def test_the_maps_need_no_gradient(encoder: Encoder, batch: Batch) -> None:
    seen: list[bool] = []
    stream_maps(model_of(encoder, 3, 4), batch, lambda layer, maps: seen.append(maps.requires_grad))
    assert seen == [False] * 3


@pytest.mark.parametrize("kind", ["bert", "distilbert", "gpt2"])
def test_a_hub_model_streams_the_maps_that_it_says_it_has(kind: str, batch: Batch) -> None:
    import transformers

    sizes: dict[str, Any] = {
        "bert": {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
        "distilbert": {"vocab_size": 40, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48},
        "gpt2": {"vocab_size": 40, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 24},
    }
    special = {"bos_token_id": 2, "eos_token_id": 3} if kind == "gpt2" else {}
    config = transformers.AutoConfig.for_model(kind, **sizes[kind], **special)
    module = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    seen: list[Tensor] = []
    stream_maps(model_of(module, 2, 4), batch, lambda layer, maps: seen.append(maps))
    assert batch.mask is not None
    with torch.no_grad():
        attentions = module(batch.ids, attention_mask=batch.mask.long(), output_attentions=True).attentions
    assert len(seen) == 2
    for got, pattern in zip(seen, attentions, strict=True):
        torch.testing.assert_close(got, merge(pattern, batch), rtol=0, atol=1e-6)


def test_padding_changes_no_map_by_more_than_rounding() -> None:
    encoder = Encoder(EncoderConfig(vocab=40, layers=2, heads=4, model=32, feed_forward=48, positions=24)).eval()
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, 0, 0.3, generator=torch.Generator().manual_seed(0))
    model, short = model_of(encoder, 2, 4), text_of([1, 2])
    alone: list[Tensor] = []
    padded: list[Tensor] = []
    stream_maps(model, collate([short]), lambda layer, maps: alone.append(maps))
    stream_maps(model, collate([short, text_of([3, 3, 3, 1])]), lambda layer, maps: padded.append(maps))
    for one, other in zip(alone, padded, strict=True):
        both = torch.cat([other[:1, :, :2, :2], other[:1, :, :2, 4:]], 3)
        torch.testing.assert_close(both, one, rtol=0, atol=1e-6)


def test_outputs_of_words_are_means_over_their_pieces_layer_by_layer() -> None:
    encoder = Encoder(EncoderConfig(vocab=12, layers=3, heads=2, model=8, feed_forward=8, positions=16)).eval()
    model = Model("toy", "random", "none", encoder, None, 3, 2, 16, 0, "")
    texts = [text_of([1, 2, 1]), text_of([3])]
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
