"""A place for experiments to work in, and times that were set by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.claims.claim import Work
from experiments.record.progress import silent
from experiments.sandbox.parts import Parts


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """Return the work of a claim that begins anew."""
    out = tmp_path / "claims"
    return Work(out, "claim", Parts.open(out / "claim", {}, resume=False), silent, resume=False)


@pytest.fixture
def set_times(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what lets a module of claims measure the seconds of `seconds(contestant, round)` and no others."""

    def give(module: Any, seconds: Callable[[str, int], float]) -> None:
        def instead(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
            for call in contestants.values():
                call()
            return {name: [seconds(name, number) for number in range(rounds)] for name in contestants}

        monkeypatch.setattr(module, "take_turns", instead)

    return give
