"""What bf16 reaches in a run: the model where [model] says so, the controls where [controls] does, and nothing else."""

from collections.abc import Callable

import pytest

from mha import Model
from reports import Run

CONTROLS = "controls={{random=2, permuted=2, orders=2, precision='{}'}}"
OWN = ["probe", "label", "variant", "name", "split", "n", "accuracy", "mass", "share"]


def test_controls_alone_are_read_in_their_precision_which_moves_no_number_of_the_heads(
    scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seed makes runs that no other test does; every pass of a model notes its source and precision."""
    precisions: list[tuple[str, str]] = []
    plain = Model.arithmetic

    def arithmetic(model: Model) -> object:
        precisions.append((model.source, model.precision))
        return plain(model)

    monkeypatch.setattr(Model, "arithmetic", arithmetic)
    rough = scored(CONTROLS.format("bf16"), "seed=41")
    of = {source: {one for name, one in precisions if name == source} for source, _ in precisions}
    assert of == {"pretrained": {"fp32", "bf16"}, "random": {"bf16"}, "permuted": {"bf16"}}
    exact = scored(CONTROLS.format("fp32"), "seed=41")
    assert exact.scores[OWN].equals(rough.scores[OWN])
    assert rough.record.precision == {"model": "fp32", "controls": "bf16"}
    assert exact.record.precision == {"model": "fp32", "controls": "fp32"}


def test_the_precision_of_the_model_is_that_of_its_maps(scored: Callable[..., Run]) -> None:
    exact, rough = scored(), scored("model.precision='bf16'")
    assert rough.record.precision["model"] == "bf16"
    assert not exact.scores["mass"].equals(rough.scores["mass"])
    assert (exact.scores["mass"] - rough.scores["mass"]).abs().max() < 0.05
