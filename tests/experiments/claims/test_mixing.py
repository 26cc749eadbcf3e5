import pytest
import torch
from torch import Tensor

from experiments.claims.mixing import Watched, interaction, stages
from mha import Encoder, EncoderConfig

HEADS, MODEL = 2, 8


def build(layers: int = 2) -> Encoder:
    torch.manual_seed(0)
    encoder = Encoder(EncoderConfig(vocab=20, layers=layers, heads=HEADS, model=MODEL, feed_forward=16, positions=8))
    with torch.no_grad():
        for parameter in encoder.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.5)
    return encoder.eval()


def watched(encoder: Encoder) -> Watched:
    ids = torch.randint(1, 20, (3, 6), generator=torch.Generator().manual_seed(1))
    mask = torch.arange(6) < torch.tensor([[6], [4], [6]])
    return Watched(encoder, lambda: encoder(ids, mask), mask)


def test_effects_that_add_up_are_no_interaction() -> None:
    def of(both: Tensor) -> float:
        return interaction(torch.tensor([5.0]), torch.tensor([3.0]), torch.tensor([4.0]), both)

    assert of(torch.tensor([2.0])) == 0
    assert of(torch.tensor([4.0])) == 2.0  # 5 - 3 - 4 + 4 = 2, of an effect of 1
    whole = torch.ones(2)
    assert interaction(whole, whole, whole, whole) != interaction(whole, whole, whole, whole)  # NaN: no effect


@torch.inference_mode()
def test_heads_add_up_in_the_output_projection_and_not_after_it() -> None:
    shares = watched(build()).shares(0, (0, 1))
    assert shares["W_O"] < 1e-5
    assert shares["norm"] > 0.05
    assert shares["feed_forward"] > 0.05


@torch.inference_mode()
def test_later_maps_change_with_earlier_heads_unless_they_write_nothing() -> None:
    encoder = build(3)
    assert 0.01 < watched(encoder).change(0, 1) <= 1
    encoder.layers[0].attention.output.weight[:, MODEL // HEADS :] = 0
    assert watched(encoder).change(0, 1) == 0
    assert watched(encoder).change(0, 0) > 0.01


@torch.inference_mode()
def test_the_number_of_heads_a_coordinate_takes_from_is_known_where_it_is_planted() -> None:
    encoder = build(1)
    attention = encoder.layers[0].attention
    attention.output.weight.copy_(torch.eye(MODEL))  # every coordinate stays that of one head
    assert watched(encoder).fan_in() == pytest.approx(1.0)
    attention.project.weight[2 * MODEL :].view(HEADS, MODEL // HEADS, MODEL)[1] = attention.W_V[0].T
    attention.project.weight[: 2 * MODEL].zero_()  # both heads attend alike and have the same values
    attention.project.bias.zero_()
    attention.output.weight.copy_(torch.eye(MODEL // HEADS).repeat(HEADS, HEADS))
    assert watched(encoder).fan_in() == pytest.approx(2.0)


@torch.inference_mode()
def test_padding_counts_nowhere() -> None:
    encoder = build()
    ids = torch.randint(1, 20, (1, 4), generator=torch.Generator().manual_seed(1))
    padded = torch.cat([ids, torch.zeros(1, 3, dtype=torch.long)], 1)
    mask = torch.arange(7)[None] < 4
    alone = Watched(encoder, lambda: encoder(ids), torch.ones(1, 4, dtype=torch.bool))
    beside = Watched(encoder, lambda: encoder(padded, mask), mask)
    assert alone.change(0, 0) == pytest.approx(beside.change(0, 0), abs=1e-6)
    assert alone.fan_in() == pytest.approx(beside.fan_in(), abs=1e-5)


def test_watching_leaves_no_hook_behind() -> None:
    encoder = build()
    with pytest.raises(ZeroDivisionError), stages(encoder, 1):
        raise ZeroDivisionError
    assert not any(module._forward_hooks for module in encoder.modules())
