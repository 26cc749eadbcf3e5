"""How large the house is: measures that only ever go down. A change that makes one smaller lowers its bound here."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("mha", "probes", "reports", "experiments", "headscope")
SOURCE = (".py", ".j2", ".css", ".js", ".sh")

BOUNDS = {
    "lines of source": 86400,
    "lines of tests": 49700,
    "files of Python": 544,
    "files of Python under 60 lines": 78,
    "folders of the rooms": 61,
    "files that name the score column lift": 5,
    "templates": 12,
    "templates of whole pages": 3,
    "lines of the largest file": 385,
    "lines of a function, 90th percentile": 18,
}
"What no change may exceed."

SLACK = 0.02
"A bound that lies further above what is measured is to be lowered."


def files(*places: str) -> Iterator[Path]:
    """Yield the files of source of folders, and files that are named, without published pages."""
    for place in map(ROOT.joinpath, places):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if (path.suffix in SOURCE or path == place) and path.is_file() and "published" not in path.parts:
                yield path


def lines(path: Path) -> int:
    """Return how many lines a file has."""
    return len(path.read_text("utf-8").splitlines())


def function_lengths(path: Path) -> Iterator[int]:
    """Yield how many lines each function of a file has."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


@cache
def measured() -> dict[str, int]:
    """Return every measure as it is."""
    rooms, tests = list(files(*ROOMS)), list(files("tests"))
    source = [*rooms, *files("docs", "Makefile", ".ci/run")]
    python = [path for path in rooms if path.suffix == ".py"]
    templates = [path for path in rooms if path.suffix == ".j2"]
    pages = [path for path in templates if "extends" in path.read_text("utf-8")]
    return {
        "lines of source": sum(map(lines, source)),
        "lines of tests": sum(map(lines, tests)),
        "files of Python": len(python),
        "files of Python under 60 lines": sum(lines(path) < 60 for path in python),
        "folders of the rooms": len({path.parent for path in python}),
        "files that name the score column lift": sum(
            bool(re.search(r"\blift\b", path.read_text("utf-8"))) for path in python
        ),
        "templates": len(templates),
        "templates of whole pages": len(pages),
        "lines of the largest file": max(map(lines, python)),
        "lines of a function, 90th percentile": int(
            np.quantile([length for path in python for length in function_lengths(path)], 0.9)
        ),
    }


LEFT_OUT = r"```.*?```|<!-- (?:labels|published heads) -->.*?<!-- end -->"
WORDS = {"README.md": 600, "docs/found.md": 800, "docs/specialisation.md": 1570}
"Words of a page beside its programs, and of the paper beside its tables, at the most."


@pytest.mark.parametrize("page", WORDS)
def test_a_page_is_short(page: str) -> None:
    assert len(re.sub(LEFT_OUT, "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL).split()) <= WORDS[page]


def test_the_face_is_short() -> None:
    assert sum(lines(path) for path in files("headscope")) <= 150


@pytest.mark.parametrize("what", BOUNDS)
def test_no_measure_grows_and_each_bound_is_near(what: str) -> None:
    bound, value = BOUNDS[what], measured()[what]
    instead = "make something smaller, or raise the bound and say in CHANGELOG why"
    assert value <= bound, f"{what}: {value}, at most {bound}: {instead}"
    assert bound <= value * (1 + SLACK) + 1, f"{what}: {value}; lower its bound of {bound} to that"
