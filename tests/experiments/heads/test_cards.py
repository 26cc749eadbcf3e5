"""The commands that tell of heads: the card of one, the profile of all."""

from collections.abc import Callable
from pathlib import Path

from reports import Run


def test_the_card_of_a_head_is_printed(
    headscope: Callable[..., tuple[int, str, str]], scored: Callable[..., Run]
) -> None:
    code, out, _ = headscope("head", scored().folder, "2-1")
    assert code == 0
    assert "Head 2-1 of quick: layer 2, head 1, counted from 1" in out
    assert "label–direction pairs in which it was tested" in " ".join(out.split())


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
