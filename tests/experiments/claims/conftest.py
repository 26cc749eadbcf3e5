"""Times that were set by hand."""

from collections.abc import Callable
from typing import Any

import pytest


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
