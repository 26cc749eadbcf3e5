"""Charts as pictures: what a page draws with Vega, drawn by vl-convert as PDF, PNG or SVG."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from reports.formats import named_file

FORMATS: Final = ("pdf", "png", "svg")
"What a chart can be drawn as."

PAPER: Final[Mapping[str, str]] = {
    "ink": "#1a1d21",
    "muted": "#56606b",
    "line": "#dde2e7",
    "right": "#0072b2",
    "wrong": "#b94b00",
    "other": "#818b97",
}
"Colours of the page's style sheet on white paper; any other is black."

WIDTH: Final = 480
"Pixels of a chart that on a page is as wide as there is room."


def picture(spec: Mapping[str, Any], form: str) -> bytes:
    """Return a chart in Vega-Lite as the bytes of a picture: the same for the same chart."""
    import vl_convert

    text = json.dumps({**spec, **({"width": WIDTH} if spec.get("width") == "container" else {})})
    text = re.sub(r"var\(--([\w-]+)\)", lambda found: PAPER.get(found[1], "#000"), text)
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(text, scale=2))
    if form == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(text))
    return str(vl_convert.vegalite_to_svg(text)).encode()


def save_pictures(specs: Mapping[str, Mapping[str, Any]], folder: Path, form: str) -> list[Path]:
    """Write charts in Vega-Lite by name into `folder` and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{named_file(name)}.{form}" for name in specs]
    for path, spec in zip(paths, specs.values(), strict=True):
        path.write_bytes(picture(spec, form))
    return paths
