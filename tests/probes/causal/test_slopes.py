"""Slopes by attention weights: finite differences of every weight, padding, and a head that writes nothing."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from mha.attention import MultiHeadAttention
from mha.hooks import watch
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from mha.pieces import CLS, SEP, Pieces
from mha.planted.heads import word_model
from mha.watches import Seen
from probes.causal.behaviours import Embedding, Predictions, Prompt, embeddings
from probes.causal.slopes import TOKENS, slope_table, weight_slopes
from probes.evidence.question import Effort

WORDS = ["the", "old", "ship", "ships", "sank", "she"]
LAYERS, HEADS = 2, 2
EPSILON = 1e-5


def tiny() -> Model:
    """In double precision, with weights large enough that every attention weight matters."""
    model = word_model(WORDS, layers=LAYERS, heads=HEADS, head_dim=4, positions=12, seed=0, lm_head=True)
    generator = torch.Generator().manual_seed(0)
    for parameter in model.module.parameters():
        if parameter.ndim == 2:
            torch.nn.init.normal_(parameter, std=0.4, generator=generator)
    return replace(model, module=model.module.double())


def text(words: int, seed: int) -> Pieces:
    """[CLS], words, [SEP], in which the pieces are any."""
    ids = np.random.default_rng(seed).integers(5, 11, words + 2).astype(np.int32)
    return Pieces(ids, np.array([CLS, *range(words), SEP], np.int32), words)


def loss(model: Model) -> Predictions:
    """Three texts of two items, one of which has two."""
    asked = [Prompt(text(2 + i, i), i // 2, (1, 2), (5, 6), (0.5, -1.0)) for i in range(3)]
    return Predictions("loss", "nats", MaskedLM.of(model), asked, ("a", "b"))


def moved(behaviour: Predictions | Embedding, number: int, layer: int, by: float) -> Tensor:
    """Return what is derived of a text, [head * query * key, ...], with each of its weights in a layer moved alone."""
    pieces = len(behaviour.prompts[number].text)
    places = torch.tensor(list(np.ndindex(HEADS, pieces, pieces)))
    copies = [number] * len(places)

    def move(seen: Seen) -> Tensor:
        pattern = seen.tensor.clone()
        pattern[torch.arange(len(places)), *places.T] += by
        return pattern

    texts = behaviour.texts(copies)
    with torch.no_grad(), watch(behaviour.reader.module, move, layers=[layer]):
        output = behaviour.reader.read(texts.ids, texts.real, texts.selected)
    if isinstance(behaviour, Embedding):
        return torch.nn.functional.normalize(embeddings(output, texts), dim=-1)
    return behaviour.values(copies, texts, output[None], output)[0, :, None]


def differences(behaviour: Predictions | Embedding, number: int) -> tuple[Tensor, list[int]]:
    """Return the lengths of the central differences by each weight, [layer, head, query, key], and what keys are."""
    word = behaviour.prompts[number].text.word.tolist()
    found = []
    for layer in range(LAYERS):
        up, down = (moved(behaviour, number, layer, sign * EPSILON) for sign in (1, -1))
        found.append(((up - down) / (2 * EPSILON)).norm(dim=-1).view(HEADS, len(word), len(word)))
    return torch.stack(found), [0 if one == CLS else 1 if one == SEP else 2 for one in word]


def by_token(behaviour: Predictions | Embedding, numbers: list[int]) -> Tensor:
    """Return the mean over all weights of some texts, [token, layer, head], by finite differences."""
    means = []
    for token in range(len(TOKENS)):
        weights = []
        for number in numbers:
            found, kinds = differences(behaviour, number)
            keys = [place for place, kind in enumerate(kinds) if kind == token]
            weights.append(found[..., keys].flatten(2))
        means.append(torch.cat(weights, 2).mean(2))
    return torch.stack(means)


@pytest.mark.parametrize("pieces", [1000, 4])
def test_slopes_are_those_of_finite_differences_of_every_weight(pieces: int) -> None:
    behaviour = loss(tiny())
    found = weight_slopes(behaviour, LAYERS, HEADS, batch_pieces=pieces)
    assert found.shape == (2, 3, LAYERS, HEADS)
    expected = torch.stack([by_token(behaviour, [0, 1]), by_token(behaviour, [2])])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    assert float(expected.min()) > 1e-5


def test_a_head_that_writes_nothing_has_no_slope_and_no_parameter_gets_a_gradient() -> None:
    model = tiny()
    attention = next(module for module in model.module.modules() if isinstance(module, MultiHeadAttention))
    with torch.no_grad():
        attention.W_O[0] = 0
    found = weight_slopes(loss(model), LAYERS, HEADS)
    assert float(found[:, :, 0, 0].abs().max()) == 0
    assert float(found[:, :, 0, 1].min()) > 0
    assert all(parameter.grad is None for parameter in model.module.parameters())


def test_a_table_has_a_row_a_token_and_head_with_intervals_and_leaves_out_tokens_that_are_not_there() -> None:
    behaviour = loss(tiny())
    slopes = weight_slopes(behaviour, LAYERS, HEADS)
    table = slope_table(behaviour, slopes, (LAYERS, HEADS), Effort(200, 19, 0))
    assert table.groupby("token").name.apply(list).to_dict() == {
        token: ["1-1", "1-2", "2-1", "2-2"] for token in TOKENS
    }
    np.testing.assert_allclose(table.slope[table.token == "[SEP]"], slopes[:, 1].mean(0).flatten())
    assert ((table.ci_low <= table.slope) & (table.slope <= table.ci_high)).all()
    assert set(table.n) == set(table.clusters) == {2}
    slopes[:, 0] = torch.nan
    assert set(slope_table(behaviour, slopes, (LAYERS, HEADS), Effort(200, 19, 0)).token) == {"[SEP]", "other"}


@pytest.mark.slow
def test_of_an_embedding_they_are_the_length_of_its_derivative() -> None:
    prompts = [Prompt(text(2 + i, i), i) for i in range(3)]
    behaviour = Embedding("embedding", "cosine", tiny(), prompts, ("a", "b", "c"))
    found = weight_slopes(behaviour, LAYERS, HEADS, directions=400)
    expected = torch.stack([by_token(behaviour, [number]) for number in range(3)])
    torch.testing.assert_close(found, expected, rtol=0.2, atol=0)
    few = weight_slopes(behaviour, LAYERS, HEADS, directions=2)
    assert not torch.allclose(few, found, rtol=1e-3)
    assert not torch.equal(few, weight_slopes(behaviour, LAYERS, HEADS, directions=2, seed=1))
