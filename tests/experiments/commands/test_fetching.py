import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from probes.download.fetch import UNFINISHED
from probes.download.sources import Source
from reports.run.lock import locked


def test_what_was_fetched_has_results_with_its_licence(headscope: Callable[..., Any], made: Source, data: Path) -> None:
    said = headscope("fetch", "made")
    assert (said.code, said.err) == (0, "")
    assert said.out == f"made: {data / 'made'} (CC0; nobody)\n"
    assert headscope("fetch", "--all").out == said.out


def test_an_unknown_name_is_refused_before_anything_is_brought(
    headscope: Callable[..., Any],
    made: Source,
    data: Path,
) -> None:
    said = headscope("fetch", "made", "mode")
    assert said.err.startswith("headscope: fetch: unknown corpus 'mode'; did you mean 'made'?")
    assert not data.exists()


def test_two_processes_do_not_fetch_at_once(headscope: Callable[..., Any], made: Source, data: Path) -> None:
    """They would write one file together, and take it away from each other."""
    with locked(data / UNFINISHED):
        said = headscope("fetch", "made")
    assert (said.code, said.err) == (
        2,
        f"headscope: fetch: another process fetches into {data}; wait until it is done\n",
    )
    assert headscope("fetch", "made").code == 0
    assert [path.name for path in data.iterdir()] == ["made"]


def test_the_list_says_what_is_there_and_what_is_fetched_by_hand(headscope: Callable[..., Any]) -> None:
    rows = {row["name"]: row for row in json.loads(headscope("fetch", "--list", "--json").out)}
    assert rows["blimp"]["state"] == "missing: headscope fetch blimp"
    assert rows["blimp"]["size"] == "29.6 MB"
    assert rows["opensesame"]["by hand"].startswith("the files that are used here are cut")
    assert rows["linzen"]["licence"] == "CC BY-NC 4.0"
