"""Models whose heads are moved: the same weights, with the heads of a layer in another order."""

import math
from collections.abc import Sequence
from typing import cast

import pandas as pd
import torch

from experiments.training.biographies import Kinship
from mha import Encoder, Model
from mha.encoder.encoder import Layer
from mha.planted.heads import word_model
from probes.maps.matching import see_maps
from reports.tables.biographies import TABLES
from tests.probes.text_pairs import text_pair

WORDS = ["the", "a", "dog", "cat", "sees", "runs", "big", "red", "house"]
TEXTS = [
    text_pair(words.split(), "") for words in ("the dog runs", "a cat sees", "the big red house", "a dog sees the")
]
NONE = ["", "", "", ""]


def model(seed: int = 0, order: Sequence[int] | None = None) -> Model:
    """Return a model of 2 layers x 2 heads with clear maps; `order` moves the heads of the first layer."""
    made = word_model(WORDS, layers=2, heads=2, head_dim=48, positions=16, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    layers = [cast(Layer, layer) for layer in cast(Encoder, made.module).layers]
    with torch.no_grad():
        for layer in layers:
            layer.attention.project.weight.normal_(0, 0.6, generator=generator)
        if order is not None:
            attention = layers[0].attention
            for part in (attention.W_Q, attention.W_K, attention.W_V, attention.W_O):
                part.copy_(part[list(order)].clone())
    return made


def tables(kinship: Kinship, *seen: tuple[int, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables where the head 1-1 of every model has a role."""
    roles: dict[int, dict[int, list[str]]] = {}
    for seed, step in seen:
        roles.setdefault(seed, {})[step] = ["x: y", *NONE[1:]]
    return kinship.tables(roles, 2)


def test_heads_that_change_places_are_found_again() -> None:
    kinship = Kinship(within_layers=False)
    kinship.see(3, 0, see_maps(model(), TEXTS))
    kinship.see(3, 10, see_maps(model(order=[1, 0]), TEXTS))
    matches, partners = tables(kinship, (3, 0), (3, 10))
    (row,) = matches.to_dict("records")
    assert (row["what"], row["seed"], row["step"], row["other_step"], row["heads"]) == ("steps", 3, 0, 10, 4)
    assert row["distance"] < 1e-6 < 0.01 < min(row["null"], row["chance"])
    assert row["itself"] == 0.5, "those of the second layer"
    assert (row["same_role"], row["same_role_chance"]) == (0, 0.25), "1-1 became 1-2"
    assert len(partners) == 0


def test_the_last_checkpoints_of_two_seeds_are_matched_head_by_head_and_the_first_ones_too() -> None:
    kinship = Kinship(within_layers=True)
    for seed, order in ((0, [0, 1]), (1, [1, 0])):
        kinship.see(seed, 0, see_maps(model(seed + 1), TEXTS))
        kinship.see(seed, 5, see_maps(model(seed + 5), TEXTS))
        kinship.see(seed, 10, see_maps(model(order=order), TEXTS))
    matches, partners = tables(kinship, *((seed, step) for seed in (0, 1) for step in (0, 5, 10)))
    assert matches[["what", "step", "other_step"]].to_numpy().tolist() == [
        *(["steps", 0, 5], ["steps", 5, 10]) * 2,
        *(["start", 0, 0], ["seeds", 10, 10]),
    ]
    assert partners.name.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert partners.partner.tolist() == ["1-2", "1-1", "2-1", "2-2"]
    assert partners.role.tolist() == ["x: y", "", "", ""]
    assert partners.partner_role.tolist() == ["", "x: y", "", ""]
    assert partners.distance.max() < 1e-6


def test_sentences_of_different_lengths_leave_the_null_open() -> None:
    kinship, texts = Kinship(within_layers=False), [TEXTS[0], TEXTS[2]]
    kinship.see(0, 0, see_maps(model(), texts))
    kinship.see(0, 1, see_maps(model(1), texts))
    (row,) = tables(kinship, (0, 0), (0, 1))[0].to_dict("records")
    assert math.isnan(row["null"])
    assert 0 < row["distance"] <= row["chance"]


def test_without_a_sentence_that_models_can_read_nothing_is_matched() -> None:
    for texts in ([text_pair(["the"] * 20, "")], []):
        kinship = Kinship(within_layers=False)
        for seed in (0, 1):
            for step in (0, 1):
                kinship.see(seed, step, see_maps(model(seed), texts))
        both = tables(kinship, (0, 0), (0, 1), (1, 0), (1, 1))
        for frame, name in zip(both, ("biography_matches", "biography_partners"), strict=True):
            assert len(TABLES[name].validated(frame, name)) == 0
