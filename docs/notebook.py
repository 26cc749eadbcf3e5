"""A notebook as a page: its text, its code, and what the code said, as far as it was kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def notebook_page(path: Path) -> str:
    """Return a notebook as Markdown; of an output the HTML is taken, else the picture, else the text."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"]).strip()
    if cell["cell_type"] == "markdown":
        yield source
    elif source:
        yield f"```python\n{source}\n```"
        yield from map(_output, cell.get("outputs", ()))


def _output(output: dict[str, Any]) -> str:
    shown = {kind: "".join(data) for kind, data in output.get("data", {}).items() if isinstance(data, str | list)}
    if "text/html" in shown:
        return f'<div class="output">\n{shown["text/html"].strip()}\n</div>'
    if "image/png" in shown:
        return f"![what the code above draws](data:image/png;base64,{shown['image/png'].strip()})"
    return f"```text\n{(shown.get('text/plain') or ''.join(output.get('text', ()))).rstrip()}\n```"
