"""Which models read for controls: their seeds, names and probes."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.inputs.controls import Control, controls
from experiments.run.config import load_config
from mha import load_model
from probes import get_probe
from probes.registry import PERMUTED, RANDOM, WORDS
from probes.scoring.tally import Sums
from probes.words.position import BROAD

Of = Callable[..., list[Control]]


@pytest.fixture
def controls_of(base: Path) -> Of:
    """Return the function that gives the controls of the base config with changes."""

    def of(*changes: str) -> list[Control]:
        config = load_config(base, changes)
        return controls(config, load_model(config.model.name, config.model.source, config.seed))

    return of


def weights(control: Control) -> torch.Tensor:
    return torch.cat([parameter.flatten() for parameter in control.load().module.parameters()]).detach()


def test_seeds_go_on_from_that_of_the_run(controls_of: Of) -> None:
    found = [weights(one) for one in controls_of("controls={random=3, permuted=0, orders=0}", "seed=4")]
    later = [weights(one) for one in controls_of("controls={random=2, permuted=0, orders=0}", "seed=5")]
    assert all(map(torch.equal, found[1:], later))
    assert not torch.equal(found[0], found[1])


@pytest.mark.parametrize("source", ["random", "permuted"])
def test_a_model_without_knowledge_is_not_its_own_control(source: str, controls_of: Of, base: Path) -> None:
    found = controls_of(f"model.source='{source}'", "seed=7", "controls={random=2, permuted=2, orders=0}")
    own = load_model(load_config(base).model.name, source, 7)
    mine = torch.cat([parameter.flatten() for parameter in own.module.parameters()]).detach()
    others = [weights(one) for one in found]
    assert len(others) == 4
    assert not any(torch.equal(one, other) for one, other in combinations([mine, *others], 2))


def test_shuffled_word_orders_are_read_by_the_model_of_the_run(base: Path) -> None:
    config = load_config(base, ["controls={random=0, permuted=0, orders=2, precision='bf16'}"])
    model = load_model(config.model.name)
    first, second = controls(config, model)
    assert [one.name for one in (first, second)] == [WORDS, f"{WORDS} 2"]
    assert first.load().module is second.load().module is model.module
    assert first.load().precision == "bf16"
    assert first.places is not None is not second.places
    assert first.seed != second.seed


def test_a_probe_takes_part_in_its_own_controls_only_and_broad_heads_in_none(controls_of: Of) -> None:
    probes = [get_probe(name) for name in ("position", "dependency")]
    sums = Sums.of_hits((0,), np.ones(1), np.ones((1, 1)))
    pooled = {(probe, variant, "a"): sums for probe, variant in (("position", "other words"), ("position", BROAD))}
    pooled["dependency", "dependent->head", "obj"] = sums
    asked = {
        one.name: {question[:2] for question in one.applicable(pooled, probes)}
        for one in controls_of("controls={random=2, permuted=2, orders=2}")
        if not one.number
    }
    relation, place = ("dependency", "dependent->head"), ("position", "other words")
    assert asked == {RANDOM: {relation, place}, PERMUTED: {relation, place}, WORDS: {relation}}
