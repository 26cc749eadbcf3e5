"""Parts of a study that was cut off are taken up, and only by the same study."""

from pathlib import Path
from typing import Any

import pytest

from experiments.record import parts
from experiments.record.parts import Parts

STUDY = {"scale": {"documents": (25, 50)}, "seed": 0}


@pytest.fixture(autouse=True)
def commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every part that is made a commit of its own."""
    made = iter(range(100))
    monkeypatch.setattr(parts, "git_commit", lambda: f"commit {next(made)}")


def made(kept: Parts, name: str, result: Any, calls: list[str]) -> Any:
    """Return a part, and note that it was made."""
    return kept.made(name, f"the {name}", lambda: (calls.append(name), result)[1])


def test_what_is_done_is_not_done_again_and_says_with_which_commit_it_was_made(tmp_path: Path) -> None:
    calls: list[str] = []
    first = Parts.open(tmp_path / "out", STUDY, resume=False)
    assert made(first, "power", {"rate": [1, 2]}, calls) == {"rate": [1, 2]}
    again = Parts.open(tmp_path / "out", STUDY, resume=True)
    assert made(again, "power", "other", calls) == {"rate": [1, 2]}
    assert made(again, "whole", 3, calls) == 3
    assert calls == ["power", "whole"]
    told = again.entry()
    assert told["commits"] == {"the power": "commit 0", "the whole": "commit 1"}
    assert told["wall_seconds"] == pytest.approx(sum(told["stages"].values()))
    assert set(told["stages"]) == {"the power", "the whole"}


@pytest.mark.parametrize("changed", [{"seed": 1}, {"scale": {"documents": (25,)}}])
def test_parts_of_another_study_are_made_anew(tmp_path: Path, changed: dict[str, Any]) -> None:
    calls: list[str] = []
    made(Parts.open(tmp_path / "out", STUDY, resume=False), "power", 1, calls)
    assert made(Parts.open(tmp_path / "out", STUDY | changed, resume=True), "power", 2, calls) == 2
    assert calls == ["power"] * 2


def test_without_resume_nothing_is_taken_and_at_the_end_nothing_is_left(tmp_path: Path) -> None:
    calls: list[str] = []
    made(Parts.open(tmp_path / "out", STUDY, resume=False), "power", 1, calls)
    fresh = Parts.open(tmp_path / "out", STUDY, resume=False)
    assert made(fresh, "power", 2, calls) == 2
    fresh.clear()
    assert list(tmp_path.iterdir()) == []
