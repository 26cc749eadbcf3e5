"""Gates learned on behaviours: they keep the heads that a behaviour is worth, and leave the model as it was."""

import pytest
import torch

from mha.causal.gates import GateSettings
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from mha.pieces import Pieces
from probes.causal.ablation import measure
from probes.causal.behaviours import Embedding, Predictions, Prompt, preferences
from probes.causal.gates import gate_heads, gated_values
from probes.minimal_pairs import Kind, MinimalPair
from tests.mha.planted.answers import answering_model

ANSWERS = {"cat": "purrs", "dog": "barks", "cow": "moos"}
LAYERS, HEADS = 2, 3
SHAPE = (LAYERS, HEADS)


def pairs(model: Model, method: str = "auto") -> Predictions:
    items = []
    for subject, answer in ANSWERS.items():
        for wrong in set(ANSWERS.values()) - {answer}:
            sentence = ("the", "old", subject)
            items.append(MinimalPair(subject, Kind("planted"), (*sentence, answer), (*sentence, wrong)))
    return preferences(MaskedLM.of(model), "planted", sorted(items, key=repr), method=method)


def planted(head: tuple[int, int] = (1, 0), **options: bool | float) -> Model:
    return answering_model(ANSWERS, ("the", "old"), head=head, layers=LAYERS, heads=HEADS, **options)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("head", [(0, 2), (1, 1)])
@pytest.mark.parametrize("noise", [0.0, pytest.param(0.02, marks=pytest.mark.slow)])
def test_gates_keep_the_planted_head_and_no_other(head: tuple[int, int], noise: float) -> None:
    behaviour = pairs(planted(head, noise=noise))
    found = gate_heads(behaviour, SHAPE, 0.3, GateSettings(steps=150))
    assert found.learned.survivors == [head]
    assert float(found.learned.gates[head]) == 1
    assert float(found.values(behaviour).mean()) > 0.9 * float(gated_values(behaviour, torch.ones(SHAPE)).mean())
    assert bool((found.values(behaviour) > 0).all())


def test_gates_of_0_and_1_are_ablation() -> None:
    model = planted(noise=0.3)
    for behaviour in (pairs(model, "pll"), embedding(model)):
        off = ((0, 0), (1, 0), (1, 2))
        gates = torch.ones(SHAPE)
        for head in off:
            gates[head] = 0
        expected = measure(behaviour, [(), off])
        torch.testing.assert_close(gated_values(behaviour, torch.ones(SHAPE)), expected[0], rtol=0, atol=1e-6)
        torch.testing.assert_close(gated_values(behaviour, gates), expected[1], rtol=0, atol=1e-5)
        few = gated_values(behaviour, gates, batch_pieces=1)
        torch.testing.assert_close(few, gated_values(behaviour, gates), rtol=0, atol=1e-5)  # fp32, other shapes


def embedding(model: Model) -> Embedding:
    texts = [
        Pieces(torch.arange(2, 2 + n, dtype=torch.int32).numpy(), torch.arange(n).int().numpy(), n) for n in (4, 6)
    ]
    return Embedding("embedding", "cosine", model, [Prompt(text, i) for i, text in enumerate(texts)], ("a", "b"))


@pytest.mark.slow
def test_weights_may_be_trained_along_in_a_copy_and_a_model_is_what_it_was() -> None:
    model = planted(noise=0.1)
    before = {name: tensor.clone() for name, tensor in model.module.state_dict().items()}
    behaviour = pairs(model)
    settings = GateSettings(steps=40, weights_rate=0.01)
    found = gate_heads(behaviour, SHAPE, 0.3, settings, weights=True)
    copy = found.behaviour.reader.module
    assert copy is not model.module
    assert not torch.equal(copy.state_dict()["pieces.weight"], before["pieces.weight"])
    frozen = gate_heads(behaviour, SHAPE, 0.3, settings)
    assert frozen.behaviour.reader.module is model.module
    assert float(found.values(behaviour).mean()) > float(frozen.values(behaviour).mean())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.module.state_dict().items())
    assert all(one.grad is None for one in model.module.parameters())
