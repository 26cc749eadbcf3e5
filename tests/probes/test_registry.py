from dataclasses import dataclass
from typing import ClassVar

import pytest

from probes import registry
from probes.registry import Probe, UnknownProbeError, get_probe, probe_names, register
from probes.syntax.dependency import Dependency


def test_a_probe_is_found_by_its_name() -> None:
    for name in probe_names():
        probe = get_probe(name)
        assert probe.name == name
        assert isinstance(probe, Probe)
    assert isinstance(get_probe("dependency"), Dependency)


@pytest.mark.parametrize(("wrong", "right"), [("dependancy", "dependency"), ("corefrence", "coreference")])
def test_a_near_miss_is_told_what_was_meant(wrong: str, right: str) -> None:
    with pytest.raises(UnknownProbeError, match=rf"^unknown probe '{wrong}'; did you mean '{right}'\?$"):
        get_probe(wrong)


def test_a_registered_probe_is_found_and_its_name_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))

    @dataclass(frozen=True)
    class Sink(Dependency):
        """Ships sink."""

        name: ClassVar[str] = "sink"

    assert register(Sink) is Sink
    assert probe_names()[-1] == "sink"
    assert isinstance(get_probe("sink"), Sink)
    assert register(Sink) is Sink, "a cell of a notebook is run again"
    with pytest.raises(ValueError, match=f"two probes are called 'sink'; one is of {__name__}"):
        register(type("Sink", (Sink,), {"__module__": "mine"}))
