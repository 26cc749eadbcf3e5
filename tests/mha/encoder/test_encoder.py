from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hub
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.encoder.weights import load_encoder
from mha.hooks import record
from tests.mha.tiny.models import DISTIL
from tests.mha.tiny.models import PLAIN as SIZES

MODELS: dict[str, Callable[[], hub.PreTrainedModel]] = {
    "bert, gelu_new": lambda: hub.BertForPreTraining(
        hub.BertConfig(**SIZES, hidden_act="gelu_new", layer_norm_eps=1e-3)
    ),
    "roberta, relu": lambda: hub.RobertaForMaskedLM(hub.RobertaConfig(**SIZES, pad_token_id=0, hidden_act="relu")),
    "electra, one size": lambda: hub.ElectraForMaskedLM(hub.ElectraConfig(**SIZES, embedding_size=32)),
    "distilbert, relu": lambda: hub.DistilBertForMaskedLM(hub.DistilBertConfig(**DISTIL, activation="relu")),
}
"What differs from the models of tests/mha/architectures.py and of test_families.py."


@pytest.fixture
def saved(request: pytest.FixtureRequest, tmp_path: Path, randomise: Callable[..., None]) -> Path:
    """Return a folder with a tiny model of `transformers` as it saves it."""
    model = MODELS[request.param]()
    randomise(model)
    model.save_pretrained(tmp_path)
    return tmp_path


def assert_same_maps(theirs: Any, ours: list[Tensor], mask: Tensor) -> None:
    """Assert that maps agree at real queries; our padding queries are never computed from anything."""
    assert len(theirs) == len(ours) > 0
    for their, our in zip(theirs, ours, strict=True):
        real = mask[:, None, :, None].expand_as(our)
        torch.testing.assert_close(our[real], their[real], rtol=0, atol=1e-5)
        assert bool((our[~mask[:, None, None].expand_as(our)] == 0).all())


def test_roberta_counts_no_place_for_the_piece_of_padding_in_a_text_either(
    tmp_path: Path, randomise: Callable[..., None]
) -> None:
    """Its config says 1 unless it is told; of a vocabulary in the order of BERT that is the unknown piece."""
    theirs = hub.RobertaModel(hub.RobertaConfig(**SIZES, pad_token_id=1), add_pooling_layer=False).eval()
    theirs.set_attn_implementation("eager")
    randomise(theirs)
    theirs.save_pretrained(tmp_path)
    ids = torch.tensor([[2, 7, 1, 8, 1, 1, 9, 3], [1, 7, 8, 9, 10, 11, 12, 3]])
    encoder = load_encoder(tmp_path)
    with torch.no_grad(), record(encoder) as maps:
        expected = theirs(ids, attention_mask=torch.ones_like(ids), output_attentions=True)
        torch.testing.assert_close(encoder(ids), expected[0], rtol=0, atol=1e-5)
    assert_same_maps(expected.attentions, maps["pattern"], torch.ones_like(ids, dtype=torch.bool))


@pytest.mark.parametrize("saved", MODELS, indirect=True)
def test_outputs_and_every_map_equal_those_of_transformers(saved: Path, pieces: Tensor, mask: Tensor) -> None:
    theirs = hub.AutoModel.from_pretrained(saved, attn_implementation="eager").eval()
    encoder = load_encoder(saved)
    with torch.no_grad():
        expected = theirs(input_ids=pieces, attention_mask=mask.long(), output_attentions=True)
        fused = encoder(pieces, mask)
        with record(encoder) as maps:
            explicit = encoder(pieces, mask)
    for output in (fused, explicit):
        torch.testing.assert_close(output[mask], expected[0][mask], rtol=0, atol=1e-5)
    assert_same_maps(expected.attentions, maps["pattern"], mask)
    assert maps["pattern"][0].std() > 0.05  # the weights are such that maps differ


@pytest.mark.slow
@given(lengths=st.lists(st.integers(1, 12), min_size=1, max_size=5), extra=st.integers(0, 4), seed=st.integers(0, 9))
def test_padding_changes_nothing_and_is_zero(lengths: list[int], extra: int, seed: int) -> None:
    torch.manual_seed(seed)
    encoder = Encoder(EncoderConfig(vocab=20, layers=2, heads=2, model=8, feed_forward=16, positions=16)).eval()
    for parameter in encoder.parameters():
        parameter.data.normal_(0, 0.3)
    mask = torch.arange(max(lengths) + extra) < torch.tensor(lengths)[:, None]
    pieces = torch.randint(1, 20, mask.shape)  # whatever stands at padding
    with torch.no_grad(), record(encoder, ["pattern"]) as maps:
        together = encoder(pieces, mask)
        padded = [*maps["pattern"]]
        for i, length in enumerate(lengths):
            alone = encoder(pieces[i : i + 1, :length])
            torch.testing.assert_close(together[i, :length], alone[0], rtol=0, atol=1e-6)
            for layer, pattern in enumerate(maps["pattern"]):
                torch.testing.assert_close(padded[layer][i, :, :length, :length], pattern[0], rtol=0, atol=1e-6)
    assert bool((together[~mask] == 0).all())


def test_an_input_longer_than_the_positions_is_refused(encoder: Encoder) -> None:
    encoder(torch.ones(1, 24, dtype=torch.long))
    with pytest.raises(ValueError, match=r"25 pieces are too long for this encoder \(24 positions\)"):
        encoder(torch.ones(1, 25, dtype=torch.long))


def test_dropout_and_scale_come_from_the_config(pieces: Tensor) -> None:
    config = EncoderConfig(vocab=40, layers=1, heads=4, model=32, feed_forward=48, dropout=0.0, attention_dropout=0.5)
    attention = Encoder(replace(config, scale=False)).layers[0].attention
    assert (attention.dropout, attention.scaling) == (0.5, 1.0)
    still, noisy = (
        Encoder(replace(config, attention_dropout=0.0)).train(),
        Encoder(replace(config, dropout=0.5)).train(),
    )
    assert torch.equal(still(pieces), still(pieces))
    assert not torch.equal(noisy(pieces), noisy(pieces))


def test_fresh_weights_have_the_spread_of_bert_and_a_zero_row_for_padding() -> None:
    config = EncoderConfig(vocab=500, layers=2, heads=4, model=64, feed_forward=128, padding=3)
    encoder = Encoder(config, lm_head=True)
    for name, parameter in encoder.named_parameters():
        if parameter.ndim == 2:
            assert 0.015 < parameter[parameter.abs().sum(1) > 0].std() < 0.025, name
    assert encoder.lm_head is not None
    assert encoder.lm_head.decoder.weight is encoder.pieces.weight
    assert bool((encoder.pieces.weight[3] == 0).all())
    assert bool((encoder.pieces.weight[4] != 0).any())


@pytest.mark.parametrize("saved", ["bert, gelu_new", "distilbert, relu"], indirect=True)
def test_the_masked_lm_head_gives_the_logits_of_transformers(saved: Path, pieces: Tensor, mask: Tensor) -> None:
    theirs = hub.AutoModelForMaskedLM.from_pretrained(saved).eval()
    encoder = load_encoder(saved)
    assert encoder.lm_head is not None
    with torch.no_grad():
        expected = theirs(input_ids=pieces, attention_mask=mask.long()).logits
        torch.testing.assert_close(encoder.lm_head(encoder(pieces, mask))[mask], expected[mask], rtol=0, atol=3e-5)
