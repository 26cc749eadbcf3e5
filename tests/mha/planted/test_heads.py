"""Heads that are planted by weights, and those beside them that are not."""

import pytest
import torch
from torch import Tensor

from mha.encoder.encoder import Encoder
from mha.hooks import record
from mha.models.model import Model
from mha.pieces import align
from mha.planted.heads import BY_WEIGHTS, plant_weights, word_model

TEXT = ("The", "old", "ship", "sank", "near", "the", "port", ".")
POSITIONS = 16


def small(seed: int = 0, head_dim: int = POSITIONS) -> Model:
    return word_model(TEXT, layers=2, heads=3, head_dim=head_dim, positions=POSITIONS, seed=seed)


def encoder_of(model: Model) -> Encoder:
    assert isinstance(model.module, Encoder)
    return model.module


def patterns(model: Model) -> Tensor:
    """[layer, head, query, key] of TEXT, over [CLS], eight words and [SEP]."""
    (pieces,) = align(model.tokenizer, [TEXT])
    with torch.no_grad(), record(model.module, ["pattern"]) as seen:
        model.run(torch.from_numpy(pieces.ids)[None].long(), None)
    return torch.stack([seen["pattern"][layer][0] for layer in range(model.layers)])


def told(place: str) -> dict[int, int]:
    """Query -> key, over pieces; a neighbour that is not there is told to nobody."""
    pieces = range(len(TEXT) + 2)
    if place == "first":
        return {query: 1 for query in pieces}
    shift = {"previous": -1, "next": 1, "same": 0}[place]
    return {query: query + shift for query in pieces if query + shift in pieces}


@pytest.mark.parametrize("at", [(0, 0), (1, 2)])
@pytest.mark.parametrize("place", BY_WEIGHTS)
def test_a_planted_head_attends_to_its_place_alone(place: str, at: tuple[int, int]) -> None:
    model = small()
    plant_weights(model, {at: place})
    found, expected = patterns(model)[at], told(place)
    assert len(expected) >= 9
    for query, key in expected.items():
        assert found[query, key] > 0.999


def test_heads_that_are_not_planted_keep_their_weights_and_stay_spread() -> None:
    model, untouched = small(), small()
    plant_weights(model, {(0, 1): "next", (1, 0): "first"})
    for layer, planted in ((0, 1), (1, 0)):
        for head in {0, 1, 2} - {planted}:
            ours, before = (encoder_of(one).layers[layer].attention for one in (model, untouched))
            for part in ("W_Q", "W_K", "W_V"):
                assert torch.equal(getattr(ours, part)[head], getattr(before, part)[head])
            for part in (0, 1):
                assert torch.equal(ours.bias(part)[head], before.bias(part)[head])
            assert patterns(model)[layer, head].max(-1).values.mean() < 0.9


def test_positions_that_do_not_fit_a_head_are_refused() -> None:
    model = small(head_dim=POSITIONS - 1)
    before = patterns(model)
    with pytest.raises(ValueError, match="a head_dim of 16 is needed for 16 positions"):
        plant_weights(model, {(0, 0): "next"})
    assert torch.equal(patterns(model), before), "nothing was changed"
