from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import BertForMaskedLM

from mha.encoder.encoder import Encoder
from mha.encoder.masked_lm import ROWS as TOGETHER
from mha.encoder.masked_lm import MaskedBatch, cross_entropy, masked_lm_loss, masked_logits
from mha.encoder.weights import export_encoder

ROWS = ((5, 3, 1), (9,), (2, 4))
"Lengths of the documents in each row of 9 pieces; the last row ends in padding."


@pytest.fixture
def batch() -> MaskedBatch:
    """Return 3 rows of 9 pieces with 6 documents, 7 pieces masked."""
    blocks, places = torch.full((3, 9), -1), torch.zeros(3, 9, dtype=torch.long)
    for row, lengths in enumerate(ROWS):
        start = 0
        for block, length in enumerate(lengths):
            blocks[row, start : start + length] = block
            places[row, start : start + length] = torch.arange(length)
            start += length
    pieces = torch.randint(5, 40, (3, 9), generator=torch.Generator().manual_seed(3)).where(blocks >= 0, 0)
    masked = torch.tensor([1, 4, 6, 8, 13, 18, 23])
    return MaskedBatch(pieces, places, blocks, masked, torch.tensor([7, 8, 9, 10, 11, 12, 13]))


def documents(batch: MaskedBatch) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Return for every document its pieces, its masked positions and their gold pieces."""
    found = []
    for row in range(len(batch.pieces)):
        for block in range(int(batch.blocks[row].max()) + 1):
            where = (batch.blocks[row] == block).nonzero().squeeze(1)
            inside = torch.isin(batch.masked, where + row * batch.pieces.shape[1])
            found.append((batch.pieces[row, where], batch.masked[inside] % 9 - where[0], batch.gold[inside]))
    return found


@pytest.fixture
def theirs(encoder: Encoder, tmp_path: Path) -> Any:
    """Return the same weights as a model of `transformers`."""
    export_encoder(encoder, tmp_path)
    return BertForMaskedLM.from_pretrained(tmp_path, attn_implementation="eager").eval()


def test_loss_and_gradients_equal_those_of_transformers_on_each_document_by_itself(
    encoder: Encoder, theirs: Any, batch: MaskedBatch
) -> None:
    losses = [
        F.cross_entropy(theirs(pieces[None]).logits[0, places], gold, reduction="sum")
        for pieces, places, gold in documents(batch)
    ]
    expected, loss = torch.stack(losses).sum() / 7, masked_lm_loss(encoder, batch)
    torch.testing.assert_close(loss, expected, rtol=0, atol=1e-5)
    expected.backward()
    loss.backward()
    bert, layer = theirs.bert, theirs.bert.encoder.layer[0]
    pairs = {
        "pieces": (encoder.pieces.weight, bert.embeddings.word_embeddings.weight),
        "positions": (encoder.positions.weight, bert.embeddings.position_embeddings.weight),
        "first layer": (encoder.layers[0].contract.weight, layer.output.dense.weight),
        "last layer": (encoder.layers[2].expand.weight, bert.encoder.layer[2].intermediate.dense.weight),
    }
    for name, (ours, their) in pairs.items():
        assert float(their.grad.abs().max()) > 1e-3, name
        torch.testing.assert_close(ours.grad, their.grad, rtol=0, atol=1e-5, msg=name)
    query = encoder.layers[2].attention.project.weight.grad
    values = bert.encoder.layer[2].attention.self.value.weight.grad
    assert query is not None
    torch.testing.assert_close(query[64:], values, rtol=0, atol=1e-5)


def test_a_pre_norm_encoder_takes_packed_rows_too(build: Callable[..., Encoder], batch: MaskedBatch) -> None:
    encoder = build("roberta-prelayernorm")
    assert encoder.lm_head is not None
    with torch.no_grad():
        alone = [encoder.lm_head(encoder(pieces[None]))[0, places] for pieces, places, _ in documents(batch)]
        torch.testing.assert_close(masked_logits(encoder, batch), torch.cat(alone), rtol=0, atol=2e-5)


def given(rows: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(rows, 31, generator=generator, dtype=torch.float64) * 4
    return logits.to(dtype).requires_grad_(), torch.randint(31, (rows,), generator=generator)


@pytest.mark.parametrize("rows", [1, TOGETHER, TOGETHER + 3])
@pytest.mark.parametrize(
    ("dtype", "close"), [(torch.float64, 1e-12), (torch.float32, 1e-6), (torch.bfloat16, 8e-3), (torch.float16, 1e-3)]
)
def test_loss_and_gradient_equal_the_formula_in_double_precision(rows: int, dtype: torch.dtype, close: float) -> None:
    logits, gold = given(rows, dtype)
    exact = logits.detach().double().requires_grad_()
    expected = (exact.exp().sum(1).log() - exact[torch.arange(rows), gold]).mean()
    loss = cross_entropy(logits, gold)
    (3 * expected).backward()
    (3 * loss).backward()
    assert loss.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert float(loss.detach()) == pytest.approx(
        float(expected.detach()), rel=1e-12 if dtype == torch.float64 else 1e-6
    )
    assert logits.grad is not None
    assert exact.grad is not None
    assert logits.grad.dtype == dtype
    torch.testing.assert_close(logits.grad.double(), exact.grad, rtol=close, atol=close / 1000)


def test_logits_far_apart_give_no_infinity() -> None:
    logits = torch.tensor([[0.0, 300.0], [300.0, 0.0]], requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([0, 0]))
    loss.backward()
    assert float(loss.detach()) == 150
    assert logits.grad is not None
    assert logits.grad.tolist() == [[-0.5, 0.5], [0, 0]]
