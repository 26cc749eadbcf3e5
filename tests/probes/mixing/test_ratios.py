import numpy as np
import torch

from mha import Model
from mha.pieces import align
from mha.reading.attention_blocks import attention_blocks
from probes.mixing.ratios import BLOCK, HALF, NORMS, RATIOS, RESIDUAL, WEIGHTS, mixing_ratios


def test_ratios_are_those_of_sums_over_single_pieces(model: Model) -> None:
    """Each vector from piece j to piece i by itself, in double precision, and LayerNorm as its paper writes it."""
    text = align(model.tokenizer, [["the", "old", "ships", "sank"]])[0]
    block = attention_blocks(model, torch.from_numpy(text.ids).long())[0]
    pattern, x = block.pattern.double().numpy(), block.x.double().numpy()
    value, output = block.value.double().numpy(), block.layer.attention.W_O.detach().double().numpy()
    gamma = block.layer.attention_norm.weight.detach().double().numpy()
    found = mixing_ratios(block)
    assert tuple(found) == RATIOS
    for i in range(len(text)):
        parts = np.stack([sum(pattern[h, i, j] * value[h, j] @ output[h] for h in range(3)) for j in range(len(text))])
        context, own = parts.sum(0) - parts[i], parts[i]
        pairs = {NORMS: (context, own), RESIDUAL: (context, own + x[i])}
        pairs[BLOCK] = tuple((one - one.mean()) * gamma for one in (context, own + x[i]))
        for name, (mixed, kept) in pairs.items():
            expected = np.linalg.norm(mixed) / (np.linalg.norm(mixed) + np.linalg.norm(kept))
            np.testing.assert_allclose(found[name][i], expected, rtol=1e-4)
        np.testing.assert_allclose(found[WEIGHTS][i], 1 - pattern[:, i, i].mean(), rtol=1e-5)
        np.testing.assert_allclose(found[HALF][i], (1 - pattern[:, i, i].mean()) / 2, rtol=1e-5)
