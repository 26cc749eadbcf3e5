"""The folders in layers: a drawing of who imports whom, made from the imports of every file."""

from __future__ import annotations

from html import escape

from import_graph import ROOMS, Graph, folder_graph, layers
from markdown_text import docstring


def drawing() -> str:
    """Return the rooms with their folders, as HTML; a folder imports only from rows below its own.

    Pointing at a folder, or tapping it, marks those that it imports.
    """
    graph = folder_graph()
    rooms = "\n".join(_room(room, graph) for room in reversed(ROOMS))
    return f'<div class="layers">\n<style>{_marks(graph)}</style>\n{rooms}\n</div>'


def _room(room: str, graph: Graph) -> str:
    rows = layers({name: others for name, others in graph.items() if name.partition(".")[0] == room})
    drawn = "\n".join(
        f'<div class="layer">{"".join(_folder(name, graph) for name in row)}</div>' for row in reversed(rows)
    )
    return f'<section class="room {room}">\n<p class="room-name">{room}</p>\n{drawn}\n</section>'


def _folder(name: str, graph: Graph) -> str:
    short = name.partition(".")[2].replace(".", "/") or "files of the package itself"
    return f'<span class="folder" id="{_id(name)}" tabindex="0" title="{escape(docstring(name))}">{short}</span>'


def _id(name: str) -> str:
    return f"folder-{name.replace('.', '-')}"


def _marks(graph: Graph) -> str:
    """Return the style that marks what a folder imports while it is pointed at."""
    rules = []
    for name, others in graph.items():
        marked = ", ".join(f"#{_id(other)}" for other in sorted(others))
        if marked:
            rules.append(f".layers:has(#{_id(name)}:is(:hover, :focus)) :is({marked}) {{ outline-style: solid }}")
    return "\n".join(rules)


def imports() -> str:
    """Return every folder with its sentence and what it imports, as Markdown; rooms in the order of their imports."""
    graph = folder_graph()
    parts = []
    for room in ROOMS:
        parts.append(f"### {room} {{ #room-{room} }}")
        parts.append("\n".join(_line(name, graph[name]) for name in sorted(graph) if name.partition(".")[0] == room))
    return "\n\n".join(parts)


def _line(name: str, others: frozenset[str]) -> str:
    path = name.replace(".", "/")
    needed = (
        f" Imports {', '.join(f'`{other}`' for other in sorted(others))}." if others else " Imports nothing of ours."
    )
    return f"- `{path}/`: {docstring(name).partition(chr(10))[0]}{needed}"
