from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import BertLMHeadModel

from mha import Encoder, MaskedLM, ModelError, record
from mha.encoder.masked_lm import MaskedBatch, masked_logits
from mha.encoder.weights import export_encoder, load_encoder
from mha.models.circuits import CircuitError, encoder_of
from tests.mha.conftest import model_of

PIECES = torch.randint(1, 40, (3, 12), generator=torch.Generator().manual_seed(7))


@pytest.fixture
def decoder(build: Callable[..., Encoder]) -> Encoder:
    return build(causal=True, pooler=False)


@torch.inference_mode()
def test_transformers_reads_a_causal_export_as_a_decoder_with_the_same_logits(decoder: Encoder, tmp_path: Path) -> None:
    export_encoder(decoder, tmp_path)
    theirs, report = BertLMHeadModel.from_pretrained(tmp_path, output_loading_info=True, attn_implementation="eager")
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    mask = torch.ones(3, 12, dtype=torch.bool)
    mask[1, 8:] = False
    outputs = theirs.eval()(PIECES, attention_mask=mask.long(), output_attentions=True)
    with record(decoder) as seen:
        ours = decoder.lm_head(decoder(PIECES, mask))  # type: ignore[misc]  # it has a head
    fused = decoder.lm_head(decoder(PIECES, mask))  # type: ignore[misc]
    for logits in (ours, fused):
        assert torch.allclose(logits[mask], outputs.logits[mask], atol=1e-5)
    for pattern, other in zip(seen["pattern"], outputs.attentions, strict=True):
        assert torch.allclose(pattern[0], other[0], atol=1e-6)
        assert torch.allclose(pattern[1, :, :8], other[1, :, :8], atol=1e-6)
    again = load_encoder(tmp_path)
    assert again.config == decoder.config
    assert torch.equal(again(PIECES, mask), decoder(PIECES, mask))


@torch.inference_mode()
def test_packed_documents_are_read_as_if_each_stood_alone(decoder: Encoder) -> None:
    blocks = torch.tensor([[0] * 5 + [1] * 6 + [-1]])
    places = torch.tensor([[*range(5), *range(6), 0]])
    row = PIECES[:1]
    asked = torch.tensor([2, 4, 8, 10])
    batch = MaskedBatch(row, places, blocks, asked, row.flatten()[asked + 1])
    alone = [decoder(row[:, :5])[0, [2, 4]], decoder(row[:, 5:11])[0, [3, 5]]]
    assert decoder.lm_head is not None
    assert torch.allclose(masked_logits(decoder, batch), decoder.lm_head(torch.cat(alone)), atol=1e-5)


def test_what_asks_for_both_sides_refuses_a_decoder(decoder: Encoder) -> None:
    model = model_of(decoder, 2)
    assert not decoder.predicts_masked
    with pytest.raises(ModelError, match="tiny has no masked-LM head \\(it predicts from left to right\\)"):
        MaskedLM.of(model)
    with pytest.raises(
        CircuitError, match="tiny: mixing is told of encoders that attend to both sides, this is a decoder"
    ):
        encoder_of(model, "mixing")
