from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import BertForMaskedLM

from mha.encoder.encoder import Encoder
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss, masked_logits
from mha.encoder.weights import export_encoder
from mha.hooks import record

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


def test_logits_equal_those_of_transformers_on_each_document_by_itself(
    encoder: Encoder, theirs: Any, batch: MaskedBatch
) -> None:
    with torch.no_grad():
        alone = [theirs(pieces[None]).logits[0, places] for pieces, places, _ in documents(batch)]
        torch.testing.assert_close(masked_logits(encoder, batch), torch.cat(alone), rtol=0, atol=1e-5)


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


def test_hooks_see_a_block_diagonal_pattern(encoder: Encoder, batch: MaskedBatch) -> None:
    with torch.no_grad(), record(encoder) as maps:
        masked_logits(encoder, batch)
    same = (batch.blocks[:, :, None] == batch.blocks[:, None]) & (batch.blocks >= 0)[:, None]
    real = (batch.blocks >= 0)[:, None, :, None]
    for pattern in maps["pattern"]:
        assert pattern.shape == (3, 4, 9, 9)
        inside = pattern * same[:, None]
        torch.testing.assert_close(inside.sum(-1)[real[..., 0].expand(3, 4, 9)], torch.ones(24 * 4))
        assert bool((pattern.where(real & ~same[:, None], 0) == 0).all())


def test_what_the_last_layer_is_spared_changes_nothing(encoder: Encoder, batch: MaskedBatch) -> None:
    with torch.no_grad():
        every = encoder(batch.pieces, places=batch.places, blocks=batch.blocks)
        chosen = encoder(batch.pieces, places=batch.places, blocks=batch.blocks, selected=batch.masked)
    torch.testing.assert_close(chosen, every.flatten(0, 1)[batch.masked], rtol=0, atol=1e-6)
    assert bool((every[batch.blocks < 0] == 0).all())


def test_only_masked_pieces_reach_the_last_feed_forward_and_the_head(encoder: Encoder, batch: MaskedBatch) -> None:
    rows: list[int] = []
    head = encoder.lm_head
    assert head is not None
    for module in (encoder.layers[1].expand, encoder.layers[2].expand, head.transform):
        module.register_forward_hook(lambda module, inputs, output: rows.append(len(inputs[0])))
    masked_logits(encoder, batch)
    assert rows == [24, 7, 7]


def test_a_pre_norm_encoder_takes_packed_rows_too(build: Callable[..., Encoder], batch: MaskedBatch) -> None:
    encoder = build("roberta-prelayernorm")
    assert encoder.lm_head is not None
    with torch.no_grad():
        alone = [encoder.lm_head(encoder(pieces[None]))[0, places] for pieces, places, _ in documents(batch)]
        torch.testing.assert_close(masked_logits(encoder, batch), torch.cat(alone), rtol=0, atol=2e-5)


def test_a_batch_that_cannot_be_learned_from_is_refused(
    encoder: Encoder, build: Callable[..., Encoder], batch: MaskedBatch
) -> None:
    none = MaskedBatch(batch.pieces, batch.places, batch.blocks, batch.masked[:0], batch.gold[:0])
    with pytest.raises(ValueError, match="no piece of the batch is masked"):
        masked_lm_loss(encoder, none)
    with pytest.raises(ValueError, match="no masked-LM head"):
        masked_logits(build(lm_head=False), batch)
    far = MaskedBatch(batch.pieces, batch.places + 20, batch.blocks, batch.masked, batch.gold)
    with pytest.raises(ValueError, match="29 pieces are too long"):
        masked_logits(encoder, far)


def test_a_batch_moves_as_a_whole(batch: MaskedBatch) -> None:
    moved = batch.to("meta")
    assert {tensor.device.type for tensor in vars(moved).values()} == {"meta"}
