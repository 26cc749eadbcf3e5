"""Imports form layers: no two files, and no two folders, import each other, directly or by way of others."""

import ast
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("mha", "probes", "reports", "experiments", "headscope")
MOST = 15
"Python files in a folder at the most, its __init__ aside."

ONE_FILE_EACH = ("experiments/findings", "experiments/measures")
"Folders that hold one file a paper."

Graph = Mapping[str, frozenset[str]]


def module_files() -> dict[str, Path]:
    """Return module -> its file; a package is the module of its __init__."""
    return {_module(file): file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))}


def _module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_between_files() -> dict[str, frozenset[str]]:
    """Return module -> the modules of ours that it imports, wherever the import stands."""
    files = module_files()
    sources = {name: file.read_text("utf-8") for name, file in files.items()}
    return {name: frozenset(imported(source, set(files)) - {name}) for name, source in sources.items()}


def imported(source: str, known: set[str]) -> set[str]:
    """Return the modules among `known` that `source` imports: a name that is none is an attribute of its package."""
    found: set[str] = set()
    for module, names in imports_of(source):
        full = {f"{module}.{name}" for name in names}
        found |= full & known or {module}
    return found & known


@cache
def imports_of(source: str) -> list[tuple[str, list[str]]]:
    """Return every module that `source` imports, wherever the import stands, and the names that it takes from there."""
    found: list[tuple[str, list[str]]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append((node.module, [alias.name for alias in node.names]))
    return found


def between_folders(files: Graph) -> dict[str, frozenset[str]]:
    """Return folder -> the folders that its files import; what a room or folder exports is no file of its own."""
    packages = {name for name in files if (ROOT / name.replace(".", "/")).is_dir()}
    folders: dict[str, set[str]] = {}
    for name, others in files.items():
        if name not in packages:
            here = name.rpartition(".")[0]
            found = {other.rpartition(".")[0] for other in others - packages} | (set(others) & packages - set(ROOMS))
            folders.setdefault(here, set()).update(found - {here})
    return {name: frozenset(others) for name, others in folders.items()}


def folder_graph() -> dict[str, frozenset[str]]:
    """Return folder -> the folders that it imports; what it takes from a room counts as taken from where that lies."""
    files = module_files()
    sources = {name: file.read_text("utf-8") for name, file in files.items()}
    homes = {room: _homes(sources[room]) for room in ROOMS}
    graph: dict[str, set[str]] = {name: set(imported(source, set(files))) for name, source in sources.items()}
    for name, source in sources.items():
        for module, names in imports_of(source):
            if module in homes:
                graph[name] |= {homes[module][one] for one in names if one in homes[module]} & set(files)
    return between_folders({name: frozenset(others - {name}) for name, others in graph.items()})


def _homes(source: str) -> dict[str, str]:
    """Return name -> the module that it comes from, of what the __init__ of a room exports."""
    return {name: module for module, names in imports_of(source) for name in names}


def circle(graph: Graph) -> list[str]:
    """Return nodes that reach each other, the first of them also at the end; none where imports form layers."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_an_import_inside_a_function_counts() -> None:
    known = {"mha.hub", "mha.hooks", "probes"}
    source = "from mha.hooks import watch\ndef late():\n    from mha import hub\n    import probes"
    assert imported(source, known) == known


def test_no_files_import_each_other() -> None:
    assert circle(imports_between_files()) == []


def test_no_folders_import_each_other() -> None:
    assert circle(folder_graph()) == []


@pytest.mark.parametrize("room", [*ROOMS, "tests"])
def test_a_folder_can_be_taken_in_at_a_glance(room: str) -> None:
    folders = [ROOT / room, *(path for path in (ROOT / room).rglob("*") if path.is_dir())]
    sizes = {str(f.relative_to(ROOT)): sum(p.name != "__init__.py" for p in f.glob("*.py")) for f in folders}
    allowed = {*ONE_FILE_EACH, *(f"tests/{folder}" for folder in ONE_FILE_EACH)}
    assert {name: size for name, size in sizes.items() if size > MOST and name not in allowed} == {}
