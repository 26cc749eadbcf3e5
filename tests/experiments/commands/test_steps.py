import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import console

STAGES = {
    "report": {"page: cards of heads": 4, "page: measures": None, "page: texts": 1},
    "compare": {
        **{"runs opened": 2, "models opened": 2, "layers read": 4, "rows of maps compared": None},
        "labels compared": None,
    },
    "match": {"models opened": 2, "layers read": 4, "rows of maps compared": None},
    "view": {"models opened": 1, "texts read": 2, "texts packed": 2},
    "view of runs": {"models opened": 2, "texts read": 10, "texts packed": 10},
    "flow": {"attention flow": 3},
    "profile": {"runs opened": 2, "heads": 4},
}
"What commands count, and how much of it there is; None where that is not for this test to know."

LONG = ("report", "compare", "flow")
"Those of them that take seconds."


@pytest.fixture
def words(tiny: Path, whole: Path, tmp_path: Path) -> Callable[[str], list[object]]:
    """Return the function that returns the words of a command."""
    out = tmp_path / "out"

    def words(name: str) -> list[object]:
        shutil.rmtree(out, ignore_errors=True)
        if name == "report":
            return ["report", shutil.copytree(whole, tmp_path / "copy", dirs_exist_ok=True)]
        return {
            "compare": ["compare", whole, whole, "--match", "--out", out],
            "match": ["match", tiny, tiny, "--sentences", 9],
            "view": ["view", "The dog", "A cat", "--model", tiny, "--out", tmp_path / "view.html"],
            "view of runs": ["view", "--run", whole, "--run", whole, "--out", tmp_path / "view.html"],
            "flow": ["flow", "--corpus", "grammar", "--first", 3, "--model", tiny, "--out", tmp_path / "flow.csv"],
            "profile": ["profile", whole, whole, "--out", tmp_path / "profile.md"],
        }[name]

    return words


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in STAGES]
)
def test_commands_count_what_they_do_to_its_end(
    name: str, words: Callable[[str], list[object]], headscope: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: dict[str, list[tuple[int, int]]] = {}
    note = lambda what, done, of, note="": steps.setdefault(what, []).append((done, of))  # noqa: E731
    monkeypatch.setattr(console, "_Lines", lambda: note)
    assert headscope("--verbose", *words(name)).code == 0
    assert steps.keys() == STAGES[name].keys()
    for what, seen in steps.items():
        (of,) = {of for _, of in seen}
        assert of == (STAGES[name][what] or of)
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert seen[-1][0] == of > 0, what
