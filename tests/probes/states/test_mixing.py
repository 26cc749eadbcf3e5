"""All measures of mixing on generated sentences: means over texts, what is left out, and what the tables hold."""

import math

import numpy as np
import pytest
import torch
from scipy.linalg import null_space

from mha import Model
from mha.pieces import align
from mha.reading.attention_blocks import attention_blocks
from probes import Corpus
from probes.evidence.question import Effort
from probes.states.mixing import (
    ATTENTION_ALONE,
    BLOCK,
    HALF,
    IDENTIFIED,
    NORMS,
    PASSES,
    RATIOS,
    RESIDUAL,
    WEIGHTS,
    WHOLE,
    Mixing,
    Recovery,
    effective_attention,
    effective_measures,
    mixing_ratios,
    mixing_texts,
    relative_residual,
    states_of_passes,
)


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


def test_the_residual_is_that_of_the_composite_norm() -> None:
    """Of [[3, 0], [1, 0]] the mean is (2, 0): [[1, 0], [-1, 0]] has sums 2 and 1, the states have sums 4 and 3."""
    states = torch.tensor([[[3.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
    assert relative_residual(states).tolist() == pytest.approx([math.sqrt(2) / math.sqrt(12), 1.0])


def test_passes_begin_with_the_same_states_and_the_whole_one_ends_with_the_model_s(model: Model) -> None:
    ids = torch.tensor([2, 4, 5, 7, 8, 3])
    found = states_of_passes(model, ids)
    assert tuple(found) == PASSES
    for states in found.values():
        torch.testing.assert_close(states[0], found[WHOLE][0])
    torch.testing.assert_close(found[WHOLE][-1].float(), model.run(ids[None], None)[0])
    assert len({round(float(states[-1].sum()), 3) for states in found.values()}) == len(PASSES)
    assert (found[ATTENTION_ALONE][1] != found[WHOLE][1]).any()


def test_states_that_are_turned_embeddings_are_found_again_and_states_without_them_are_not() -> None:
    generator = torch.Generator().manual_seed(0)
    turn = torch.linalg.qr(torch.randn(8, 8, generator=generator)).Q

    def text() -> torch.Tensor:
        embeddings = torch.randn(6, 8, generator=generator)
        return torch.stack([embeddings, 3 * embeddings @ turn + 1, torch.ones(6, 8)])

    recovery = Recovery()
    for _ in range(40):
        recovery.add(text())
    found = torch.stack([recovery.fitted().identified(text()) for _ in range(20)]).mean(0)
    assert found[:2].tolist() == [1.0, 1.0]
    assert found[2].item() == pytest.approx(1 / 6, abs=0.05)


EFFORT = Effort(replicates=200)


@pytest.fixture(scope="module")
def texts(model: Model):
    """Return sentences of the grammar that the small model can read."""
    return mixing_texts(model, [Corpus.generated(4, 3).sentences()], 12)


def test_the_table_has_means_over_texts_with_intervals_over_documents(model: Model, texts) -> None:
    by_depth, by_head, by_text = Mixing.learned(model, texts).tables(texts, EFFORT)
    assert set(by_depth.measure) == {*RATIOS, *PASSES, IDENTIFIED}
    found = by_depth[(by_depth.measure == BLOCK) & (by_depth.depth == 2)].iloc[0]
    each = [
        float(mixing_ratios(attention_blocks(model, torch.from_numpy(text.ids).long())[1])[BLOCK].mean())
        for text in texts.pieces
    ]
    assert found.value == pytest.approx(np.mean(each), rel=1e-5)
    assert found.low < found.value < found.high
    assert found.n == len(each)
    assert by_depth[(by_depth.measure == IDENTIFIED) & (by_depth.depth == 0)].value.tolist() == pytest.approx([1.0])
    assert len(by_head) == 6 * by_head.sizes.nunique()
    assert by_head.groupby("name").n.sum().unique().tolist() == [len(each)]
    assert len(by_text) == 6 * len(each)
    names = by_text.groupby("text").document.first().map(dict(enumerate(sorted({*texts.names}))))
    assert names.tolist() == texts.names
    columns = ["pearson", "removed", "sep_effective"]
    means = by_text.groupby(["sizes", "name"])[columns].mean()
    np.testing.assert_allclose(means, by_head.set_index(["sizes", "name"]).loc[means.index, columns])
