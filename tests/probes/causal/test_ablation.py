"""Ablation: what batches, copies and sweeps give is what one text and one set of heads at a time give."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor

from mha import Ablate, MaskedLM, intervene, record
from mha.causal.interventions import Attend, Change
from mha.models.hub import load_hub_model
from probes.causal.ablation import INTERCHANGE, MEAN, POSITION_MEAN, RESAMPLE, WAYS, Heads, measure, random_sets
from probes.causal.behaviours import Behaviour, masked_pieces, preferences, sentence_embeddings
from probes.corpora.corpus import MemoryTexts
from probes.minimal_pairs import Kind, MinimalPair
from probes.records import Document
from probes.scoring.aligned import Aligned

HEADS = 3
SETS: Sequence[Heads] = [(), ((0, 1),), ((2, 0),), ((0, 0), (1, 2), (2, 1)), tuple((1, head) for head in range(HEADS))]
SENTENCES = [
    ("the ships are old", "the ships is old"),
    ("the old ship is unsinkable .", "the old ships unsinkable ."),
    ("she saw the harbours and it sank", "she saw the dog and it sank"),
    ("it was walking", "it was old"),
]
PAIRS = [MinimalPair(good, Kind("ships"), tuple(good.split()), tuple(bad.split())) for good, bad in SENTENCES]
BEHAVIOURS = ("loss", "pairs of transformers", "embedding")


@pytest.fixture(scope="module")
def behaviour(lm: MaskedLM, random_documents: Callable[..., list[Document]]) -> Callable[[str], Behaviour]:
    """Return the function that makes one of BEHAVIOURS."""
    aligned = Aligned.of(lm.model, MemoryTexts(random_documents(5, sentences=1, longest=9, seed=3)))

    @cache
    def make(name: str) -> Behaviour:
        if name == "loss":
            return masked_pieces(lm, aligned, rate=0.4)
        if name == "embedding":
            return sentence_embeddings(lm.model, aligned)
        of_transformers = MaskedLM.of(replace(lm.model, module=load_hub_model(lm.model.name)))
        return preferences(of_transformers, name, PAIRS, method="pll")

    return make


def outputs(behaviour: Behaviour) -> list[list[Tensor]]:
    """Return [text][layer] the head outputs [head, piece, head_dim] of each text, read alone and without padding."""
    found = []
    for i in range(len(behaviour.prompts)):
        texts = behaviour.texts([i])
        with record(behaviour.reader.module, ["head_output"]) as kept, torch.no_grad():
            behaviour.reader.read(texts.ids, texts.real, texts.selected)
        found.append([layer[0] for layer in kept["head_output"]])
    return found


def change(behaviour: Behaviour, known: Sequence[Sequence[Tensor]], i: int, layer: int, head: int, how: str) -> Ablate:
    """Return what switches one head off in one text, worked out text by text from the `outputs` of all."""
    every = [of_text[layer][head] for of_text in known]
    if how == MEAN:
        return Ablate(layer, head, "mean", mean=torch.cat(every).mean(0))
    length = len(behaviour.prompts[i].text)
    if how == POSITION_MEAN:
        rows = [torch.stack([one[place] for one in every if len(one) > place]).mean(0) for place in range(length)]
        return Ablate(layer, head, "mean", mean=torch.stack(rows))
    if how == RESAMPLE:
        (donor,) = behaviour.donors([i])
        rows = [every[donor][place % len(every[donor])] for place in range(length)]
        return Ablate(layer, head, "resample", other=torch.stack(rows)[None])
    return Ablate(layer, head, how)


def alone(behaviour: Behaviour, i: int, changes: Sequence[Change]) -> float:
    """Return the value of one text, read alone, with heads switched off by `intervene`."""
    texts, reader = behaviour.texts([i]), behaviour.reader
    with torch.no_grad():
        intact = reader.read(texts.ids, texts.real, texts.selected)
        with intervene(reader.module, *changes):
            output = reader.read(texts.ids, texts.real, texts.selected)
    return float(behaviour.values([i], texts, output[None], intact)[0, 0])


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "loss")) for name in BEHAVIOURS]
)
def test_batches_and_copies_give_what_one_text_and_set_at_a_time_give(
    name: str, how: str, behaviour: Callable[..., Behaviour]
) -> None:
    asked = behaviour(name)
    known, expected = outputs(asked), torch.zeros(len(SETS), len(asked.clusters), dtype=torch.float64)
    for number, heads in enumerate(SETS):
        for i, one in enumerate(asked.prompts):
            changes = [change(asked, known, i, layer, head, how) for layer, head in heads]
            expected[number, one.item] += alone(asked, i, changes)
    most = max(Counter(one.item for one in asked.prompts).values())  # texts an item: each is right to a millionth
    for batch_pieces, side_by_side in ((40, 100), (2000, 10_000)):
        told: list[int] = []
        found = measure(asked, SETS, how, batch_pieces=batch_pieces, side_by_side=side_by_side, step=told.append)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6 * most)
        assert sum(told) == len(asked.prompts)
    assert all(float((found[number] - found[0]).abs().max()) > 1e-3 for number in range(1, len(SETS)))


def test_heads_are_exchanged_as_if_each_attended_as_the_next(behaviour: Callable[..., Behaviour]) -> None:
    asked, sets = behaviour("embedding"), [(), ((0, 1), (1, 2)), ((1, 0), (1, 1)), ((0, 0), (0, 2), (1, 2))]
    expected = torch.zeros(len(sets), len(asked.clusters), dtype=torch.float64)
    for i, one in enumerate(asked.prompts):
        texts = asked.texts([i])
        with record(asked.reader.module) as maps, torch.no_grad():
            asked.reader.read(texts.ids, texts.real, texts.selected)
        for number, heads in enumerate(sets):
            lenders = heads[1:] + heads[:1]
            lent = [maps["pattern"][layer][:, head] for layer, head in lenders]
            changes = [Attend(layer, {head: one}) for (layer, head), one in zip(heads, lent, strict=True)]
            expected[number, one.item] += alone(asked, i, changes)
    found = measure(asked, sets, INTERCHANGE, batch_pieces=60, side_by_side=100)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    assert all(float((found[number] - found[0]).abs().max()) > 1e-4 for number in range(1, len(sets)))


CHOSEN = ((0, 1), (2, 0), (2, 3))


def test_random_heads_are_of_the_same_layers_and_not_chosen() -> None:
    found = random_sets(CHOSEN, (4, 6), 20, (7,))
    assert len(found) == 20
    for heads in found:
        assert len(set(heads)) == 3
        assert not set(heads) & set(CHOSEN)
        assert Counter(layer for layer, _ in heads) == {0: 1, 2: 2}
    assert len(set(found)) > 10
    assert found == random_sets(CHOSEN, (4, 6), 20, (7,))
    assert found != random_sets(CHOSEN, (4, 6), 20, (8,))
    assert {head for heads in found for head in heads} == {
        *((0, head) for head in (0, 2, 3, 4, 5)),
        *((2, head) for head in (1, 2, 4, 5)),
    }


def test_where_a_layer_has_too_few_others_heads_of_other_layers_stand_in() -> None:
    chosen = ((1, 0), (1, 1), (0, 2))
    found = random_sets(chosen, (3, 3), 30, (0,))
    for heads in found:
        assert len(set(heads)) == 3
        assert not set(heads) & set(chosen)
        assert (1, 2) in heads
    assert {layer for heads in found for layer, _ in heads} == {0, 1, 2}


@pytest.mark.parametrize("chosen", [(), ((0, 0), (0, 1), (1, 0))])
def test_nothing_is_held_against_nothing_or_against_fewer(chosen: tuple[tuple[int, int], ...]) -> None:
    assert random_sets(chosen, (2, 2), 20, (0,)) == []
