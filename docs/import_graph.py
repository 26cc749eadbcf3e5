"""Who imports whom: the graph of our modules, and that of the folders which hold them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("mha", "probes", "reports", "experiments")
"In the order in which they import: none imports a later one, and `reports` none at all."

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
    for module, names in _imports(source):
        full = {f"{module}.{name}" for name in names}
        found |= full & known or {module}
    return found & known


@cache
def _imports(source: str) -> list[tuple[str, list[str]]]:
    """Return every module that `source` imports, and the names that it takes from there."""
    found: list[tuple[str, list[str]]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
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
        for module, names in _imports(source):
            if module in homes:
                graph[name] |= {homes[module][one] for one in names if one in homes[module]} & set(files)
    return between_folders({name: frozenset(others - {name}) for name, others in graph.items()})


def _homes(source: str) -> dict[str, str]:
    """Return name -> the module that it comes from, of what the __init__ of a room exports."""
    return {name: module for module, names in _imports(source) for name in names}


def layers(graph: Graph) -> list[list[str]]:
    """Return the nodes in layers, each of which imports from those before it alone; raises ValueError for a circle."""
    placed: dict[str, int] = {}
    while len(placed) < len(graph):
        ready = [node for node in graph if node not in placed and all(o in placed for o in graph[node] & graph.keys())]
        if not ready:
            raise ValueError(f"a circle of imports among {', '.join(sorted(graph.keys() - placed.keys()))}")
        placed |= {node: 1 + max((placed[other] for other in graph[node] & graph.keys()), default=-1) for node in ready}
    return [sorted(node for node in placed if placed[node] == level) for level in range(max(placed.values()) + 1)]
