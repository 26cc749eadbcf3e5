from dataclasses import dataclass
from typing import ClassVar

import pytest

from probes import registry
from probes.registry import get_probe, probe_names, register
from probes.syntax.dependency import Dependency


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
