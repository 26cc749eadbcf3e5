from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
import torch

from experiments.config import load_config
from experiments.controls import ModelControl, model_controls
from mha import load_model
from probes import get_probe

Of = Callable[..., list[ModelControl]]


@pytest.fixture
def controls_of(base: Path) -> Of:
    """Return the function that gives the controls of the base config with changes."""

    def of(*changes: str) -> list[ModelControl]:
        config = load_config(base, changes)
        return model_controls(config, load_model(config.model.name, config.model.source, config.seed))

    return of


def weights(control: ModelControl) -> torch.Tensor:
    return torch.cat([parameter.flatten() for parameter in control.load().module.parameters()]).detach()


def test_further_seeds_are_numbered(controls_of: Of) -> None:
    found = controls_of("controls={random=3, shuffled=2}")
    assert [(one.name, one.control) for one in found] == [
        ("random weights", "random weights"),
        ("random weights 2", "random weights"),
        ("random weights 3", "random weights"),
        ("shuffled weights", "shuffled weights"),
        ("shuffled weights 2", "shuffled weights"),
        ("shuffled words", "shuffled words"),
    ]
    assert [one.places is not None for one in found] == [False] * 5 + [True]


def test_all_can_be_switched_off(controls_of: Of) -> None:
    assert controls_of() == []


def test_seeds_go_on_from_that_of_the_run(controls_of: Of) -> None:
    found = [weights(one) for one in controls_of("controls={random=3, words=false, shuffled=0}", "seed=4")]
    later = [weights(one) for one in controls_of("controls={random=2, words=false, shuffled=0}", "seed=5")]
    assert all(map(torch.equal, found[1:], later))
    assert not torch.equal(found[0], found[1])


@pytest.mark.parametrize("source", ["random", "shuffled"])
def test_a_model_without_knowledge_is_not_its_own_control(source: str, controls_of: Of, base: Path) -> None:
    found = controls_of(f"model.source='{source}'", "seed=7", "controls={random=2, shuffled=2, words=false}")
    own = load_model(load_config(base).model.name, source, 7)
    mine = torch.cat([parameter.flatten() for parameter in own.module.parameters()]).detach()
    others = [weights(one) for one in found]
    assert len(others) == 4
    assert not any(torch.equal(one, other) for one, other in combinations([mine, *others], 2))


def test_shuffled_words_are_read_by_the_model_of_the_run(base: Path) -> None:
    config = load_config(base, ["controls.words=true"])
    model = load_model(config.model.name)
    (control,) = model_controls(config, model)
    assert control.load() is model
    assert control.places is not None


def test_a_probe_takes_part_in_its_own_controls_only(controls_of: Of) -> None:
    probes = [get_probe(name) for name in ("position", "dependency")]
    asked = {one.name: [probe.name for probe in one.probes(probes)] for one in controls_of("controls={random=1}")}
    assert asked == {
        "random weights": ["position", "dependency"],
        "shuffled weights": ["position", "dependency"],
        "shuffled words": ["dependency"],
    }
