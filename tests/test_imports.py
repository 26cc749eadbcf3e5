"""Imports form layers: no two files, and no two folders, import each other, directly or by way of others."""

import ast
import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
MOST = 15
"Python files in a folder at the most, its __init__ aside."

ONE_FILE_EACH = ("experiments/findings",)
"Folders that hold one file a paper."

Graph = Mapping[str, frozenset[str]]


def _import_graph() -> ModuleType:
    """Return the module that finds who imports whom, which the documentation draws from; docs/ is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        return importlib.import_module("import_graph")


graph_of = _import_graph()
ROOMS = graph_of.ROOMS


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups of nodes that reach each other (Tarjan 1972), each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return found


@pytest.mark.parametrize(
    ("graph", "groups"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, [["a", "b"]]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}, [["a", "b", "c"]]),
    ],
)
def test_a_circle_is_seen_by_way_of_others_too(graph: Mapping[str, Iterable[str]], groups: list[list[str]]) -> None:
    assert circles({node: frozenset(others) for node, others in graph.items()}) == groups


def test_an_import_inside_a_function_counts() -> None:
    known = {"mha.hub", "mha.hooks", "probes"}
    source = "from mha.hooks import watch\ndef late():\n    from mha import hub\n    import probes"
    assert graph_of.imported(source, known) == known


def test_no_files_import_each_other() -> None:
    assert circles(graph_of.imports_between_files()) == []


def test_no_folders_import_each_other() -> None:
    assert circles(graph_of.folder_graph()) == []


@pytest.mark.parametrize("room", [*ROOMS, "tests"])
def test_a_folder_can_be_taken_in_at_a_glance(room: str) -> None:
    folders = [ROOT / room, *(path for path in (ROOT / room).rglob("*") if path.is_dir())]
    sizes = {str(f.relative_to(ROOT)): sum(p.name != "__init__.py" for p in f.glob("*.py")) for f in folders}
    allowed = {*ONE_FILE_EACH, *(f"tests/{folder}" for folder in ONE_FILE_EACH)}
    assert {name: size for name, size in sizes.items() if size > MOST and name not in allowed} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_a_folder_says_in_one_sentence_what_lives_there(room: str) -> None:
    silent = [
        str(init.relative_to(ROOT))
        for init in sorted((ROOT / room).rglob("__init__.py"))
        if not (ast.get_docstring(ast.parse(init.read_text("utf-8"))) or "").strip()
    ]
    assert silent == []
