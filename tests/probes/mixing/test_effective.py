import numpy as np
import pytest
import torch
from scipy.linalg import null_space

from mha import Model
from mha.pieces import align
from mha.reading.attention_blocks import attention_blocks
from probes.mixing.effective import effective_attention, effective_measures


def random(pieces: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(pieces)
    pattern = torch.rand(2, pieces, pieces, generator=generator).softmax(-1)
    return pattern, torch.randn(2, pieces, 4, generator=generator)


def test_effective_attention_is_attention_less_its_part_in_the_null_space() -> None:
    pattern, value = random(7)
    for head, found in enumerate(effective_attention(pattern, value)):
        basis = null_space(value[head].double().numpy().T)
        assert basis.shape == (7, 3)
        raw = pattern[head].double().numpy()
        np.testing.assert_allclose(found, raw - raw @ basis @ basis.T, atol=1e-6)


def test_measures_are_those_of_the_maps(model: Model) -> None:
    text = align(model.tokenizer, [["the", "old", "ships", "sank", "unsinkable", "she", "saw", "it"]])[0]
    block = attention_blocks(model, torch.from_numpy(text.ids).long())[1]
    found = effective_measures(block, text)
    raw, effective = block.pattern.double(), effective_attention(block.pattern, block.value)
    assert found["cls"].tolist() == pytest.approx(raw[:, :, 0].mean(1).tolist())
    assert found["sep_effective"].tolist() == pytest.approx(effective[:, :, -1].mean(1).tolist())
    assert (found["cls"] + found["sep"] + found["words"]).tolist() == pytest.approx([1, 1, 1])
    expected = [np.corrcoef(one.ravel(), other.ravel())[0, 1] for one, other in zip(raw, effective, strict=True)]
    assert found["pearson"].tolist() == pytest.approx(expected)
    removed = [float(((one - other) ** 2).sum() / (one**2).sum()) for one, other in zip(raw, effective, strict=True)]
    assert found["removed"].tolist() == pytest.approx(removed)
    assert min(removed) > 0
