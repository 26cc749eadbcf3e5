"""The commands that tell of heads: the card of one, the profile of all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reports import Run


def test_the_card_of_a_head_is_printed(
    headscope: Callable[..., tuple[int, str, str]], scored: Callable[..., Run]
) -> None:
    code, out, _ = headscope("head", scored().folder, "2-1")
    assert code == 0
    assert "Head 2-1 of quick: layer 2, head 1, counted from 1" in out
    assert "label–direction pairs in which it was tested" in " ".join(out.split())


@pytest.mark.parametrize(("name", "complaint"), [("3-5", "no head '3-5'"), ("2.1", "did you mean '2-1'?")])
def test_an_unknown_head_is_one_line(
    headscope: Callable[..., tuple[int, str, str]], scored: Callable[..., Run], name: str, complaint: str
) -> None:
    code, _, err = headscope("head", scored().folder, name)
    assert code == 2
    assert complaint in err
    assert err.count("\n") == 1


def test_no_run_is_one_line(headscope: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, _, err = headscope("head", tmp_path / "nothing", "1-1")
    assert code == 2
    assert "no such folder; expected a run folder" in err


def test_the_profile_of_runs_is_written_where_it_is_asked_for(
    scored: Callable[..., Run], headscope: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "heads.md"
    code, said, _ = headscope("profile", scored().folder, "--out", out)
    assert (code, said.strip()) == (0, f"page: {out}")
    page = out.read_text("utf-8")
    assert all(f"| {name} |" in page for name in scored().scores["name"].unique())
    assert "class of most maps" in page
    assert [path.name for path in out.parent.iterdir()] == ["heads.md"]


def test_a_profile_of_no_run_says_so(headscope: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, _, err = headscope("profile", tmp_path / "nothing")
    assert code != 0
    assert "no such folder" in err
