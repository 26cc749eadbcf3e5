"""Slopes by gates and by attention weights: finite differences, one text at a time, and padding."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr
from torch import Tensor

from mha.causal.interventions import gated
from mha.hooks import watch
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from mha.pieces import CLS, SEP, Pieces
from mha.planted.heads import word_model
from mha.watches import Seen
from probes.causal.behaviours import Behaviour, Embedding, Predictions, Prompt, embeddings
from probes.causal.gradients import (
    TOKENS,
    Slopes,
    by_layer,
    importance_table,
    slope_table,
    slopes,
    taylor_table,
    weight_slopes,
)
from probes.evidence.question import Effort
from probes.evidence.statistics import pearson

WORDS = ["the", "old", "ship", "ships", "sank", "she", "it", "is", "are", "was", "dog"]
LAYERS, HEADS = 2, 3
MODEL = 12
EPSILON = 1e-5


def texts() -> list[Pieces]:
    random = np.random.default_rng(4)
    lengths = random.integers(3, 9, 6)
    return [Pieces(random.integers(5, 16, n).astype(np.int32), np.arange(n, dtype=np.int32), int(n)) for n in lengths]


def tiny() -> Model:
    """In double precision, with weights large enough that heads differ."""
    model = word_model(WORDS, layers=LAYERS, heads=HEADS, head_dim=4, positions=12, seed=0, lm_head=True)
    generator = torch.Generator().manual_seed(0)
    for parameter in model.module.parameters():
        if parameter.ndim == 2:
            torch.nn.init.normal_(parameter, std=0.4, generator=generator)
    return replace(model, module=model.module.double())


def loss(model: Model) -> Predictions:
    """Items of two texts, of which two and one pieces are asked with weights of both signs."""
    wanted = ((5, 6), (7,)) * 3
    asked = [
        Prompt(text, i // 2, tuple(range(1, 1 + len(want))), want, (0.5, -1.0)[: len(want)])
        for i, (text, want) in enumerate(zip(texts(), wanted, strict=True))
    ]
    return Predictions("loss", "nats", MaskedLM.of(model), asked, ("a", "b", "c"))


def embedding(model: Model) -> Embedding:
    return Embedding("embedding", "cosine", model, [Prompt(t, i) for i, t in enumerate(texts())], tuple("abcdef"))


def read(behaviour: Behaviour, gates: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Return what the model gives for each text alone, and the value of each text, with gates [layer, head]."""
    outputs, values = [], []
    for i in range(len(behaviour.prompts)):
        asked = behaviour.texts([i])
        with torch.no_grad():
            intact = behaviour.reader.read(asked.ids, asked.real, asked.selected)
            with gated(behaviour.reader.module, gates):
                output = behaviour.reader.read(asked.ids, asked.real, asked.selected)
        outputs.append(embeddings(output, asked)[0] if isinstance(behaviour, Embedding) else output)
        values.append(behaviour.values([i], asked, output[None], intact)[0, 0])
    return outputs, values


def differences(of: Callable[[Tensor], Tensor]) -> Tensor:
    """Return the central differences of a function of the gates, [..., layer, head]."""
    found = []
    for place in range(LAYERS * HEADS):
        step = torch.zeros(LAYERS * HEADS, dtype=torch.float64)
        step[place] = EPSILON
        up, down = (of(1 + sign * step.view(LAYERS, HEADS)) for sign in (1, -1))
        found.append((up - down) / (2 * EPSILON))
    stacked = torch.stack(found, -1)
    return stacked.view(*stacked.shape[:-1], LAYERS, HEADS)


@pytest.mark.parametrize("pieces", [1000, 4])
def test_slopes_are_those_of_finite_differences(pieces: int) -> None:
    """Also of items whose texts have slopes of both signs, and of texts in batches of their own."""
    behaviour = loss(tiny())

    def values(gates: Tensor) -> Tensor:
        every = read(behaviour, gates)[1]
        return behaviour.measured(lambda batch: torch.stack([every[i] for i in batch])[None], 1)[0]

    found, expected = slopes(behaviour, LAYERS, HEADS, batch_pieces=pieces), differences(values)
    assert found.slopes.shape == (1, 3, LAYERS, HEADS)
    torch.testing.assert_close(found.slopes[0], expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(found.importance, expected.abs(), rtol=0, atol=1e-6)
    torch.testing.assert_close(found.predicted, expected, rtol=0, atol=1e-6)
    assert float(expected.abs().min()) > 1e-4


@pytest.mark.slow
def test_an_embedding_is_followed_by_its_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    behaviour = embedding(tiny())

    def units(gates: Tensor) -> Tensor:
        return torch.stack([torch.nn.functional.normalize(one, dim=-1) for one in read(behaviour, gates)[0]])

    derivative = differences(units)
    length = derivative.norm(dim=1)
    found = slopes(behaviour, LAYERS, HEADS, directions=100)
    assert found.slopes.shape == (100, 6, LAYERS, HEADS)
    assert float((found.importance / length).mean()) == pytest.approx(1, abs=0.1)
    assert float((found.predicted / (length**2 / 2)).mean()) == pytest.approx(1, abs=0.2)
    assert not torch.equal(found.slopes, slopes(behaviour, LAYERS, HEADS, directions=100, seed=1).slopes)
    monkeypatch.setattr("probes.causal.gradients._along", lambda unit, *others: unit.T)  # along the axes
    axes = slopes(behaviour, LAYERS, HEADS, directions=MODEL).slopes
    torch.testing.assert_close(axes, derivative.transpose(0, 1), rtol=0, atol=1e-6)


def test_no_parameter_gets_a_gradient_and_none_is_changed() -> None:
    model = tiny()
    for number, parameter in enumerate(model.module.parameters()):
        parameter.requires_grad_(number % 2 == 0)
    flags = [parameter.requires_grad for parameter in model.module.parameters()]
    before = [parameter.clone() for parameter in model.module.parameters()]
    slopes(loss(model), LAYERS, HEADS)
    assert [parameter.requires_grad for parameter in model.module.parameters()] == flags
    assert all(parameter.grad is None for parameter in model.module.parameters())
    assert all(map(torch.equal, before, model.module.parameters()))
    model.module.requires_grad_(False)
    assert float(slopes(loss(model), LAYERS, HEADS).importance.min()) > 0


def test_layers_are_made_equally_long_and_empty_ones_stay_so() -> None:
    found = by_layer(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    torch.testing.assert_close(found, torch.tensor([[0.6, 0.8], [0.0, 0.0]]))
    whole = Slopes(torch.tensor([[[[3.0, -4.0]]], [[[1.0, 0.0]]]]), directed=True)
    torch.testing.assert_close(whole.importance, torch.tensor([[[2.0, 2.0]]]) * (torch.pi / 2) ** 0.5)
    torch.testing.assert_close(whole.predicted, torch.tensor([[[2.5, 4.0]]]))


EFFORT = Effort(replicates=200, seed=0)
SHAPE = (2, 2)


def weighed() -> Predictions:
    model = word_model(["a"], layers=2, heads=2, head_dim=2, positions=4, seed=0)
    clusters = tuple(f"document {item // 2}" for item in range(40))
    text = Pieces(np.zeros(2, np.int32), np.zeros(2, np.int32), 1)
    return Predictions("loss", "nats", model, [Prompt(text, i) for i in range(40)], clusters)


def drawn_slopes(directed: bool = False) -> Slopes:
    drawn = torch.randn(3 if directed else 1, 40, *SHAPE, generator=torch.Generator().manual_seed(0)).double()
    return Slopes(drawn + torch.arange(4.0).view(2, 2), directed)


def test_importance_is_the_mean_length_and_stands_beside_the_cost() -> None:
    found, own = drawn_slopes(), weighed()
    values = np.random.default_rng(1).standard_normal((5, 40))
    table = importance_table(own, found, values, SHAPE, EFFORT)
    assert table.name.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    absolute = found.slopes[0].abs().mean(0)
    np.testing.assert_allclose(table.importance, absolute.flatten())
    np.testing.assert_allclose(table.of_layer, (absolute / (absolute**2).sum(1, keepdim=True).sqrt()).flatten())
    np.testing.assert_allclose(table.predicted, found.slopes[0].mean(0).flatten())
    np.testing.assert_allclose(table.cost, values[0].mean() - values[1:].mean(1))
    assert ((table.ci_low < table.importance) & (table.importance < table.ci_high)).all()
    assert (set(table.n), set(table.clusters)) == ({40}, {20})
    assert importance_table(own, found, None, SHAPE, EFFORT).cost.isna().all()


@pytest.mark.parametrize("directed", [False, True])
def test_predictions_are_correlated_with_costs_over_heads(directed: bool) -> None:
    found = drawn_slopes(directed=directed)
    predicted = found.predicted.flatten(1).T.numpy()
    lost = predicted + np.random.default_rng(2).standard_normal(predicted.shape)
    values = np.concatenate([np.zeros((1, 40)), -lost])
    row = taylor_table(weighed(), found, values, EFFORT).iloc[0]
    assert row.series == ("second order" if directed else "first order")
    assert row.spearman == pytest.approx(spearmanr(predicted.mean(1), lost.mean(1)).statistic)
    assert row.pearson == pytest.approx(pearsonr(predicted.mean(1), lost.mean(1)).statistic)
    assert row.spearman_low <= row.spearman <= row.spearman_high <= 1
    assert row.pearson_low <= row.pearson <= row.pearson_high <= 1
    assert (row.heads, row.n, row.clusters) == (4, 40, 20)


def test_where_nothing_varies_there_is_no_correlation() -> None:
    values = np.zeros((5, 40))
    row = taylor_table(weighed(), drawn_slopes(), values, EFFORT).iloc[0]
    assert np.isnan([row.spearman, row.spearman_low, row.pearson, row.pearson_high]).all()
    table = np.array([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(pearson(table, table), [1, np.nan])


def text(words: int, seed: int) -> Pieces:
    """[CLS], words, [SEP], in which the pieces are any."""
    ids = np.random.default_rng(seed).integers(5, 11, words + 2).astype(np.int32)
    return Pieces(ids, np.array([CLS, *range(words), SEP], np.int32), words)


def special_loss(model: Model) -> Predictions:
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


def weight_differences(behaviour: Predictions | Embedding, number: int) -> tuple[Tensor, list[int]]:
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
            found, kinds = weight_differences(behaviour, number)
            keys = [place for place, kind in enumerate(kinds) if kind == token]
            weights.append(found[..., keys].flatten(2))
        means.append(torch.cat(weights, 2).mean(2))
    return torch.stack(means)


@pytest.mark.parametrize("pieces", [1000, 4])
def test_slopes_are_those_of_finite_differences_of_every_weight(pieces: int) -> None:
    behaviour = special_loss(tiny())
    found = weight_slopes(behaviour, LAYERS, HEADS, batch_pieces=pieces)
    assert found.shape == (2, 3, LAYERS, HEADS)
    expected = torch.stack([by_token(behaviour, [0, 1]), by_token(behaviour, [2])])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    assert float(expected.min()) > 1e-5
    assert all(parameter.grad is None for parameter in behaviour.reader.module.parameters())


def test_a_table_has_a_row_a_token_and_head_with_intervals_and_leaves_out_tokens_that_are_not_there() -> None:
    behaviour = special_loss(tiny())
    found = weight_slopes(behaviour, LAYERS, HEADS)
    table = slope_table(behaviour, found, (LAYERS, HEADS), Effort(200, 0))
    names = [f"{layer}-{head}" for layer in (1, 2) for head in (1, 2, 3)]
    assert table.groupby("token").name.apply(list).to_dict() == dict.fromkeys(TOKENS, names)
    np.testing.assert_allclose(table.slope[table.token == "[SEP]"], found[:, 1].mean(0).flatten())
    assert ((table.ci_low <= table.slope) & (table.slope <= table.ci_high)).all()
    assert set(table.n) == set(table.clusters) == {2}
    found[:, 0] = torch.nan
    assert set(slope_table(behaviour, found, (LAYERS, HEADS), Effort(200, 0)).token) == {"[SEP]", "other"}


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
