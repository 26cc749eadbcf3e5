"""A trained encoder says what it is, and other tools open it and draw the same maps."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.config.config import TrainingConfig
from experiments.config.train_config import TrainSection
from experiments.training.train import train_seeds
from headscope import load
from mha import record
from mha.training.checkpoints import is_whole, list_checkpoints, read_record

TRAIN: dict[str, Any] = {
    "data": {"name": "grammar", "documents": 20, "seed": 1},
    "held_out_share": 0.1,
    "tokenizer": {"size": 200},
    "encoder": {"layers": 2, "heads": 2, "model": 16},
    "length": 32,
    "steps": 2,
    "rows": 4,
    "checkpoints": {"per_doubling": 1},
    "seeds": [3],
}


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a training of two steps."""
    out = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CACHE", str(out / "cache"))
        config = TrainingConfig(name="a_b", train=TrainSection.model_validate(TRAIN))
        return train_seeds(config, out)[3]


def test_the_last_checkpoint_alone_has_a_card_and_stays_whole(training: Path) -> None:
    found = list_checkpoints(training)
    assert [step for step, folder in found.items() if (folder / "README.md").is_file()] == [2]
    assert is_whole(found[2])


def test_the_card_says_what_the_checkpoint_records_and_names_no_folder(training: Path) -> None:
    checkpoint = list_checkpoints(training)[2]
    card, told = (checkpoint / "README.md").read_text(encoding="utf-8"), read_record(checkpoint)
    front, body = card.removeprefix("---\n").split("\n---\n")
    assert 'library_name: "transformers"\npipeline_tag: "fill-mask"\nmodel_name: "a_b-seed-3"\ntags:\n' in front
    assert "# a\\_b-seed-3" in body
    assert "| trained on | the embedded grammar, 20 documents of seed 1 |" in body
    assert f"| evaluation loss | {told['evaluation_loss']:.3f} nats |" in body
    assert "| step | 2 of 2 |" in body
    assert "| seed | 3 |" in body
    assert str(training.parent) not in card


def test_the_folder_of_a_training_is_opened_as_its_last_checkpoint(training: Path) -> None:
    for folder in (training, training.parent):
        assert load(str(folder)).name == str(list_checkpoints(training)[2])


@pytest.mark.filterwarnings("ignore:unclosed file .*head_view.js:ResourceWarning")  # bertviz leaves it open
def test_bertviz_draws_the_maps_that_we_record_of_an_encoder_that_we_saved(training: Path) -> None:
    from bertviz import head_view
    from transformers import AutoTokenizer, BertModel

    folder = str(list_checkpoints(training)[2])
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False).eval()
    texts = AutoTokenizer.from_pretrained(folder)("the keys are here .", return_tensors="pt")
    model = load(folder)
    with torch.inference_mode(), record(model.module, ["pattern"]) as maps:
        model.run(texts["input_ids"], None)
        attentions = theirs(**texts, output_attentions=True).attentions
    tokens = [model.tokenizer.id_to_token(piece) for piece in texts["input_ids"][0].tolist()]
    page = head_view(attentions, tokens, html_action="return").data
    drawn, _ = json.JSONDecoder().raw_decode(page, page.index('{"attention":'))
    (view,) = drawn["attention"]
    assert view["left_text"] == view["right_text"]
    ours = torch.cat([pattern for pattern in maps["pattern"]])
    np.testing.assert_allclose(np.array(view["attn"]), ours.numpy(), atol=1e-5)
