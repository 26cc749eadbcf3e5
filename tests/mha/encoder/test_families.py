from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor

from mha.encoder.encoder import Encoder
from mha.encoder.families import FAMILIES
from mha.encoder.weights import export_encoder, load_encoder


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["Model", "ForMaskedLM"])
def test_transformers_opens_what_is_exported_with_no_key_missing_or_left(
    family: str, kind: str, build: Callable[..., Encoder], tmp_path: Path, pieces: Tensor, mask: Tensor
) -> None:
    encoder = build(family, lm_head=kind == "ForMaskedLM", **({"pooler": False} if kind == "ForMaskedLM" else {}))
    export_encoder(encoder, tmp_path)
    auto = transformers.AutoModel if kind == "Model" else transformers.AutoModelForMaskedLM
    theirs, info = auto.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(info.values()), info
    assert theirs.config.architectures == [type(theirs).__name__]
    inputs = {"input_ids": pieces, "attention_mask": mask.long()}
    with torch.no_grad():
        output = encoder(pieces, mask)
        ours = output if encoder.lm_head is None else encoder.lm_head(output)
        torch.testing.assert_close(ours[mask], theirs.eval()(**inputs)[0][mask], rtol=0, atol=3e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_config_and_weights_survive_a_round_trip_through_transformers(
    family: str, build: Callable[..., Encoder], tmp_path: Path
) -> None:
    encoder = build(family, pooler=False)
    export_encoder(encoder, tmp_path / "ours")
    transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "ours").save_pretrained(tmp_path / "theirs")
    again = load_encoder(tmp_path / "theirs")
    assert again.config == encoder.config
    for name, parameter in encoder.state_dict().items():
        assert torch.equal(again.state_dict()[name], parameter), name
