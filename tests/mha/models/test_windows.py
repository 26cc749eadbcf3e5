import pytest
import torch
import transformers as hub
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.hooks import record
from mha.models.windows import local_windows
from tests.mha.tiny.models import ARCHITECTURES, GEMMA

PIECES = 16

EXPECTED = {
    "modernbert": [None, 5, 5],
    "modernbert-decoder": [None, 2, 2],
    "gemma2": [4, None, 4],
    "gpt_oss": [4, None, 4],
    "deberta-v2": [None, None, None],
    "gemma3_text": [4, 4, 4],
    "mistral": [4, 4, 4],
    **{kind: [None, None, None] for kind in ("eurobert", "bert", "llama", "qwen3")},
    "bart": [None, None],
}
BOTH_SIDES = GEMMA | {"use_bidirectional_attention": True, "sliding_window": 6}


def measured(model: hub.PreTrainedModel) -> list[int | None]:
    """Return the most pieces that a piece gives anything, layer by layer; None where that is all it may see."""
    ids = torch.randint(5, 40, (1, PIECES), generator=torch.Generator().manual_seed(0))
    with torch.no_grad(), record(model) as maps:
        model(input_ids=ids, attention_mask=torch.ones_like(ids))
    most = [int((pattern[0, 0] > 0).sum(-1).max()) for pattern in maps["pattern"]]
    return [None if count == PIECES else count for count in most]


@pytest.mark.parametrize(("kind", "expected"), EXPECTED.items())
def test_windows_are_those_that_maps_show(kind: str, expected: list[int | None]) -> None:
    model = hub.AutoModel.from_config(CONFIG_MAPPING[kind](**ARCHITECTURES[kind])).eval()
    encoder = model.get_encoder() if model.config.is_encoder_decoder else model
    assert local_windows(encoder, len(expected)) == measured(encoder) == expected


def test_a_window_of_both_sides_is_told_from_the_modules() -> None:
    model = hub.AutoModel.from_config(CONFIG_MAPPING["gemma3_text"](**BOTH_SIDES)).eval()
    assert local_windows(model, 3) == measured(model) == [7, 7, 7]


def test_our_own_layers_are_global() -> None:
    encoder = Encoder(EncoderConfig(vocab=20, model=8, layers=2, heads=2, feed_forward=16, positions=8))
    assert local_windows(encoder, 2) == [None, None]
