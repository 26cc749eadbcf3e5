"""The drawing of the way of a number: a small run takes that way, and its number stays the same until the page."""

import functools
import importlib
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

import pytest
import torch

from experiments.run.config import load_config
from experiments.run.run import run
from probes.evidence.question import QuestionScores
from reports import Run
from reports.formats import percent

CHANGES = ('probes.names=["dependency"]', "shapes.enabled=false")


class Arrival(NamedTuple):
    """How a run came to a station first."""

    place: int
    callers: tuple[CodeType, ...]
    "What was being called, the outermost first."


class Followed(NamedTuple):
    """A run that was followed: which functions it came to, in which order, and what one of them returned."""

    run: Run
    first: dict[CodeType, Arrival]
    scores: list[QuestionScores]


@pytest.fixture(scope="module")
def way(module: Callable[[str], ModuleType]) -> ModuleType:
    return module("way_of_a_number")


@pytest.fixture(scope="module")
def followed(base: Path, tmp_path_factory: pytest.TempPathFactory, way: ModuleType) -> Followed:
    """Follow a small run, whose page has no figures, through the functions that the drawing names."""
    first: dict[CodeType, Arrival] = {}
    scores: list[QuestionScores] = []
    watched = {code_of(part.module, part.name) for part in [*way.WAY, *way.CALLERS]}
    estimate = code_of("probes.evidence.question", "estimate")

    def see(frame: FrameType, event: str, value: Any) -> None:
        if event == "call" and frame.f_code in watched and frame.f_code not in first:
            first[frame.f_code] = Arrival(len(first), tuple(reversed(callers_of(frame))))
        elif event == "return" and frame.f_code is estimate:
            scores.append(value)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # batches are then scored in this thread, which is the one that is followed
    sys.setprofile(see)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("reports.page.page._saves", no_figures)
            folder = run(load_config(base, CHANGES), tmp_path_factory.mktemp("followed"))
    finally:
        sys.setprofile(None)
        torch.set_num_threads(threads)
    return Followed(Run.open(folder), first, scores)


def no_figures(contents: Any, folder: Path) -> dict[str, dict[str, Any]]:
    return {part.name: {} for part in contents.probes}


def callers_of(frame: FrameType) -> list[CodeType]:
    found = []
    above = frame.f_back
    while above is not None:
        found.append(above.f_code)
        above = above.f_back
    return found


def code_of(module: str, name: str) -> CodeType:
    """Return the code of a function as it stands in its file, without what checks or wraps it."""
    function = inspect.unwrap(functools.reduce(getattr, name.split("."), importlib.import_module(module)))
    function = getattr(function, "__func__", function)
    return inspect.unwrap(function).__code__


def test_a_run_comes_to_the_stations_in_their_order(way: ModuleType, followed: Followed) -> None:
    stations = [*way.WAY]
    missed = [one.name for one in stations if code_of(one.module, one.name) not in followed.first]
    assert missed == []
    assert sorted(stations, key=lambda one: followed.first[code_of(one.module, one.name)].place) == stations


def test_every_station_is_called_by_what_its_frame_names(way: ModuleType, followed: Followed) -> None:
    for station in way.WAY:
        callers = iter(followed.first[code_of(station.module, station.name)].callers)
        frames = [code_of(one.module, one.name) for one in station.callers]
        assert all(frame in callers for frame in frames), f"{station.name} is not called by {station.within.name}"


def test_the_number_is_the_same_from_the_estimate_to_the_page(followed: Followed) -> None:
    scores = followed.run.scores
    chosen = scores[(scores.split == "report") & scores.selected & (scores.label == "det") & (scores.n > 0)]
    row = chosen.sort_values("n").iloc[-1]
    flat = int(row["layer"]) * followed.run.heads + int(row["head"])
    weighed = [one for one in followed.scores if one["n"] == row["n"] and one["accuracy"][flat] == row["accuracy"]]
    assert weighed
    page = (followed.run.folder / "report" / "index.html").read_text(encoding="utf-8")
    rows = [line for line in re.split(r"<tr\b", page) if "det" in line and f">{row['name']}<" in line]
    assert any(percent(row["accuracy"]) in line for line in rows)


def test_a_module_is_named_once(way: ModuleType) -> None:
    modules = [part.module for part in [*way.WAY, *way.CALLERS]]
    assert len(modules) == len({*modules})
    text = way.stations() + way.callers()
    assert all(text.count(f"`{module}`") == 1 for module in modules)


def test_every_station_says_what_its_code_says(way: ModuleType) -> None:
    assert not [part.name for part in [*way.WAY, *way.CALLERS] if len(part.sentence) < 20]
    assert way.first_sentence("mha.models.maps", "merge").startswith("Turn maps of pieces into maps of words")


def test_shapes_are_those_of_the_signatures(way: ModuleType) -> None:
    checked = 0
    for station in way.WAY:
        source = inspect.getsource(code_of(station.module, station.name))
        if shape := re.search(r'\) -> Float\[Tensor, "([\w ]+)"\]:', source):
            checked += 1
            assert f"[{', '.join(shape[1].split())}]" in station.comes_out, station.name
    assert checked > 1


def test_every_box_leads_to_its_text(way: ModuleType) -> None:
    links, places = re.findall(r'href="#([\w-]+)"', way.drawing()), re.findall(r"\{ #([\w-]+) \}", way.stations())
    assert links == places
    assert len(links) > 15


@pytest.mark.slow
def test_every_folder_of_the_tree_is_drawn_in_its_room(module: Callable[[str], ModuleType]) -> None:
    graph = module("import_graph")
    names = {name.rpartition(".")[0] for name, file in graph.module_files().items() if file.name != "__init__.py"}
    drawing, listed = module("folder_layers").drawing(), module("folder_layers").imports()
    assert {*re.findall(r' id="folder-([\w-]+)"', drawing)} == {name.replace(".", "-") for name in names}
    assert {*re.findall(r"^- `([\w/]+)/`", listed, re.MULTILINE)} == {name.replace(".", "/") for name in names}


def test_a_folder_stands_above_all_that_it_imports(module: Callable[[str], ModuleType]) -> None:
    graph = module("import_graph")
    rows = graph.layers(graph.folder_graph())
    level = {name: number for number, row in enumerate(rows) for name in row}
    assert all(level[other] < level[name] for name, others in graph.folder_graph().items() for other in others)
    with pytest.raises(ValueError, match="a circle of imports among a, b"):
        graph.layers({"a": frozenset({"b"}), "b": frozenset({"a"}), "c": frozenset()})
