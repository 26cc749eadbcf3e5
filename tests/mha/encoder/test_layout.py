import torch
from torch import Tensor

from mha.encoder.layout import Packing

LOW = torch.finfo(torch.float32).min
PIECES = torch.zeros(3, 9, dtype=torch.int64)


def test_packing_goes_there_and_back(mask: Tensor) -> None:
    x = torch.randn(3, 9, 5)
    packing = Packing.of(mask, PIECES)
    assert torch.equal(packing.pack(x), x[mask])
    assert torch.equal(packing.unpack(packing.pack(x))[mask], x[mask])
    assert torch.equal(packing.unpack_zero(packing.pack(x)), x * mask[..., None])
    assert Packing.of(mask | True, PIECES).real is None


def test_blocks_see_themselves_and_nobody_sees_padding() -> None:
    packing = Packing.of_blocks(torch.tensor([[0, 0, 1, -1]]))
    assert packing.real is not None
    assert packing.bias is not None
    assert packing.real.tolist() == [0, 1, 2]
    expected = torch.tensor([[0, 0, LOW, LOW], [0, 0, LOW, LOW], [LOW, LOW, 0, LOW], [LOW, LOW, LOW, LOW]])
    assert torch.equal(packing.bias, expected[None, None])


def test_the_bias_has_the_precision_that_is_asked_for(mask: Tensor) -> None:
    blocks = torch.zeros(3, 9, dtype=torch.long).where(mask, -1)
    for packing in (Packing.of(mask, PIECES, torch.bfloat16), Packing.of_blocks(blocks, torch.bfloat16)):
        assert packing.bias is not None
        assert packing.bias.dtype == torch.bfloat16
        assert packing.bias.min() == torch.finfo(torch.bfloat16).min


def test_where_attention_is_causal_nobody_sees_what_comes_later() -> None:
    packing = Packing.of_blocks(torch.tensor([[0, 0, 1, -1]]), causal=True)
    expected = torch.tensor([[0, LOW, LOW, LOW], [0, 0, LOW, LOW], [LOW, LOW, 0, LOW], [LOW, LOW, LOW, LOW]])
    assert packing.bias is not None
    assert torch.equal(packing.bias, expected[None, None])
    whole = Packing.of(None, PIECES[:, :3], causal=True)
    assert whole.real is None
    assert whole.bias is not None
    assert torch.equal(whole.bias, torch.tensor([[0, LOW, LOW], [0, 0, LOW], [0, 0, 0]])[None, None])
