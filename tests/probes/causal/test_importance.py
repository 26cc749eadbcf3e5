"""Slopes of behaviours with respect to gates: finite differences, one text at a time, and heads of known use."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr
from torch import Tensor

from mha.causal.interventions import gated
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from mha.pieces import Pieces
from mha.planted.answers import answering_model
from mha.planted.heads import word_model
from probes.causal.behaviours import Behaviour, Embedding, Predictions, Prompt, embeddings, preferences
from probes.causal.importance import Slopes, by_layer, correlations, importance_table, slopes, taylor_table
from probes.evidence.question import Effort
from probes.minimal_pairs import Kind, MinimalPair

WORDS = ["the", "old", "ship", "ships", "sank", "she", "it", "is", "are", "was", "dog"]
LAYERS, HEADS = 2, 3
MODEL = 12
EPSILON = 1e-5


def texts(longest: int = 8, count: int = 6, low: int = 5) -> list[Pieces]:
    random = np.random.default_rng(4)
    lengths = random.integers(3, longest + 1, count)
    return [Pieces(random.integers(low, 16, n).astype(np.int32), np.arange(n, dtype=np.int32), int(n)) for n in lengths]


def tiny(seed: int = 0) -> Model:
    """In double precision, with weights large enough that heads differ."""
    model = word_model(WORDS, layers=LAYERS, heads=HEADS, head_dim=4, positions=12, seed=seed, lm_head=True)
    generator = torch.Generator().manual_seed(seed)
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


def test_slopes_are_those_of_finite_differences() -> None:
    behaviour = loss(tiny())

    def values(gates: Tensor) -> Tensor:
        every = read(behaviour, gates)[1]
        return behaviour.measured(lambda batch: torch.stack([every[i] for i in batch])[None], 1)[0]

    found, expected = slopes(behaviour, LAYERS, HEADS), differences(values)
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
    monkeypatch.setattr("probes.causal.importance._along", lambda unit, *others: unit.T)  # along the axes
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


ANSWERS = {"cat": "purrs", "dog": "barks", "cow": "moos"}


def pairs(model: Model, wrong: str) -> Predictions:
    """Return pairs of which the first has the answer as its right form, the second as its wrong one."""
    items = []
    for subject, answer in ANSWERS.items():
        other = "barks" if answer != "barks" else "moos"
        for good, bad in ((answer, other), (other, answer)) if wrong == "half" else ((answer, other),):
            sentence = ("the", "old", subject)
            items.append(MinimalPair(subject, Kind("planted"), (*sentence, good), (*sentence, bad)))
    return preferences(MaskedLM.of(model), "planted", items)


def test_slopes_that_cancel_over_texts_do_not_cancel_in_importance() -> None:
    """Absolute values of a batch's gradient, or of what gathers over batches, would be 0 for every second item."""
    head = (1, 0)
    model = answering_model(ANSWERS, ("the", "old"), head=head, layers=LAYERS, heads=HEADS)
    behaviour = pairs(model, "half")
    found = slopes(behaviour, LAYERS, HEADS, batch_pieces=10_000)
    own = found.slopes[0][:, head[0], head[1]]
    torch.testing.assert_close(own[::2], -own[1::2], rtol=0, atol=1e-6)
    assert float(own[::2].abs().min()) > 0.1
    assert abs(float(own.mean())) < 1e-6
    assert float(found.importance[:, head[0], head[1]].mean()) == pytest.approx(float(own.abs().mean()))
    assert abs(float(own.cumsum(0)[1::2].abs().sum())) < 1e-5, "what accumulation would make of it"


def test_layers_are_made_equally_long_and_empty_ones_stay_so() -> None:
    found = by_layer(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    torch.testing.assert_close(found, torch.tensor([[0.6, 0.8], [0.0, 0.0]]))
    whole = Slopes(torch.tensor([[[[3.0, -4.0]]], [[[1.0, 0.0]]]]), directed=True)
    torch.testing.assert_close(whole.importance, torch.tensor([[[2.0, 2.0]]]) * (torch.pi / 2) ** 0.5)
    torch.testing.assert_close(whole.predicted, torch.tensor([[[2.5, 4.0]]]))


EFFORT = Effort(replicates=200, flips=19, seed=0)
SHAPE = (2, 2)


def weighed(items: int = 40) -> Predictions:
    model = word_model(["a"], layers=2, heads=2, head_dim=2, positions=4, seed=0)
    clusters = tuple(f"document {item // 2}" for item in range(items))
    text = Pieces(np.zeros(2, np.int32), np.zeros(2, np.int32), 1)
    return Predictions("loss", "nats", model, [Prompt(text, i) for i in range(items)], clusters)


def drawn_slopes(items: int = 40, directed: bool = False) -> Slopes:
    drawn = torch.randn(3 if directed else 1, items, *SHAPE, generator=torch.Generator().manual_seed(0)).double()
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
    np.testing.assert_allclose(correlations(table, table), [1, np.nan])
