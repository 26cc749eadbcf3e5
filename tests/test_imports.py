"""Imports form layers: no two files, and no two folders, import each other, directly or by way of others."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("mha", "probes", "reports", "experiments")
MOST = 15
"Python files in a folder at the most, its __init__ aside."

ONE_FILE_EACH = ("experiments/findings",)
"Folders that hold one file a paper."

Graph = Mapping[str, frozenset[str]]


def imports_between_files() -> dict[str, frozenset[str]]:
    """Module -> the modules of ours that it imports, wherever the import stands."""
    files = {_module(file): file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))}
    return {name: frozenset(_imported(file.read_text("utf-8"), set(files)) - {name}) for name, file in files.items()}


def _module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(source: str, known: set[str]) -> set[str]:
    """Modules among `known` that `source` imports: a name that is none is an attribute of its package."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & known or {node.module}
    return found & known


def between_folders(files: Graph) -> dict[str, frozenset[str]]:
    """Folder -> the folders that its files import; what a room or folder exports is no file of its own."""
    packages = {name for name in files if (ROOT / name.replace(".", "/")).is_dir()}
    folders: dict[str, set[str]] = {}
    for name, imported in files.items():
        if name not in packages:
            here = name.rpartition(".")[0]
            others = {other.rpartition(".")[0] for other in imported - packages} | (
                set(imported) & packages - set(ROOMS)
            )
            folders.setdefault(here, set()).update(others - {here})
    return {name: frozenset(others) for name, others in folders.items()}


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
    assert _imported(source, known) == known


def test_no_files_import_each_other() -> None:
    assert circles(imports_between_files()) == []


def test_no_folders_import_each_other() -> None:
    assert circles(between_folders(imports_between_files())) == []


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
