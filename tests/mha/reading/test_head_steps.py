from collections.abc import Callable
from dataclasses import replace
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.encoder.families import FAMILIES
from mha.encoder.weights import export_encoder
from mha.models.model import Model
from mha.reading.head_steps import WalkError, walk
from tests.mha.conftest import model_of

IDS = torch.tensor([7, 30, 12, 9, 30, 21])


@pytest.fixture
def by_hand() -> Model:
    """One layer of two heads; the first writes nothing, the second is small enough to be worked out on paper."""
    encoder = Encoder(EncoderConfig(vocab=3, layers=1, heads=2, model=4, feed_forward=4, positions=2)).eval()
    with torch.no_grad():
        for name, parameter in encoder.named_parameters():
            parameter.fill_(float("norm.weight" in name))
        encoder.pieces.weight[1] = torch.tensor([1.0, 1, -1, -1])
        encoder.pieces.weight[2] = torch.tensor([1.0, -1, 1, -1])
        attention = encoder.layers[0].attention
        attention.W_Q[1, 0, 0] = 2
        attention.bias(0)[1, 1] = 1
        attention.W_K[1, 1, 0] = attention.W_K[1, 2, 1] = 1
        attention.W_V[1, 0, 0] = attention.W_V[1, 1, 0] = 1
        attention.bias(2)[1, 1] = 3
        attention.W_O[1, 0, 0] = attention.W_O[1, 1, 3] = 1
        attention.output.bias[0] = 0.5
    return model_of(encoder, 1, 2)


def test_every_step_is_what_it_is_on_paper(by_hand: Model) -> None:
    found = walk(by_hand, torch.tensor([1, 2]), 0, 1)
    first = 1 / (1 + exp(-sqrt(2)))  # softmax of (1, -1) / sqrt(2)
    expected = {
        "x": [[1, 1, -1, -1], [1, -1, 1, -1]],
        "query": [[2, 1], [2, 1]],
        "key": [[1, -1], [-1, 1]],
        "value": [[2, 3], [0, 3]],
        "products": [[1, -1], [1, -1]],
        "scores": [[1 / sqrt(2), -1 / sqrt(2)]] * 2,
        "pattern": [[first, 1 - first]] * 2,
        "outputs": [[[0, 0]] * 2, [[2 * first, 3]] * 2],
        "writes": [[[0] * 4] * 2, [[2 * first, 0, 0, 3]] * 2],
        "bias": [0.5, 0, 0, 0],
        "mixed": [[2 * first + 0.5, 0, 0, 3]] * 2,
        "added": [[2 * first + 1.5, 1, -1, 2], [2 * first + 1.5, -1, 1, 2]],
    }
    for name, numbers in expected.items():
        np.testing.assert_allclose(getattr(found, name), numbers, atol=1e-6, err_msg=name)
    row = np.array(expected["added"][0])
    np.testing.assert_allclose(found.normed[0], (row - row.mean()) / row.std(), atol=1e-6)
    assert (found.scaling, found.pre, found.head) == (2**-0.5, False, 1)


def test_an_encoder_that_does_not_divide_has_its_products_as_scores(by_hand: Model) -> None:
    by_hand.module.layers[0].attention.scaling = 1.0
    found = walk(by_hand, torch.tensor([1, 2]), 0, 1)
    np.testing.assert_allclose(found.scores, [[1, -1], [1, -1]], atol=1e-6)
    np.testing.assert_allclose(found.pattern[0, 0], 1 / (1 + exp(-2)), atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_steps_are_those_of_transformers_in_every_family(
    family: str, build: Callable[..., Encoder], tmp_path: Path
) -> None:
    encoder = build(family)
    export_encoder(encoder, tmp_path)
    theirs = transformers.AutoModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    with torch.no_grad():
        told = theirs(IDS[None], output_attentions=True, output_hidden_states=True)
    for layer, head in ((0, 3), (1, 1)):
        found = walk(model_of(encoder, 2, 4), IDS, layer, head)
        torch.testing.assert_close(found.pattern.float(), told.attentions[layer][0, head], rtol=0, atol=1e-5)
        torch.testing.assert_close(found.x.float(), told.hidden_states[layer][0], rtol=0, atol=1e-5)
        last = [*found.embeddings.values()][-1]
        torch.testing.assert_close(last.float(), told.hidden_states[0][0], rtol=0, atol=1e-5)
        differences = found.differences()
        assert max(differences.values()) < 1e-5
        sites = {"scores", "pattern", "value", "head_output", "head_write"}
        assert differences.keys() == sites | {"embedding", "normed"} | ({"read"} if found.pre else set())
    assert "projected" in found.embeddings if family == "electra" else "type" in found.embeddings or family != "bert"


@pytest.mark.parametrize(("layer", "head", "name"), [(1, 0, "2-1"), (0, -1, "1-0")])
def test_a_head_that_does_not_exist_is_refused_with_those_that_do(
    by_hand: Model, layer: int, head: int, name: str
) -> None:
    with pytest.raises(WalkError, match=f"tiny has no head {name}: its layers are 1 to 1, the heads of each 1 to 2"):
        walk(by_hand, torch.tensor([1, 2]), layer, head)


def test_a_difference_to_the_models_own_pass_is_seen(by_hand: Model) -> None:
    found = walk(by_hand, torch.tensor([1, 2]), 0, 1)
    moved = replace(found, own={**found.own, "pattern": found.own["pattern"] + torch.eye(2)})
    assert moved.differences()["pattern"] == pytest.approx(1)
    assert moved.differences()["scores"] < 1e-6
