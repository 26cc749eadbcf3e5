"""What notebooks show without a network: pages in a frame of their own, charts as pictures."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reports.drawing.charts import picture

PIXELS: Final = 4
"Width of a cell of a map in a mosaic."


@dataclass(frozen=True, repr=False)
class NotebookPage:
    """A page that loads nothing from elsewhere; a notebook shows it."""

    html: str

    def _repr_html_(self) -> str:
        framed = html.escape(self.html)
        return f'<iframe srcdoc="{framed}" style="width: 100%; height: 45em; border: 0"></iframe>'

    def __repr__(self) -> str:
        """Say what it is; the page itself is long."""
        return f"Page of {len(self.html):,} characters: shown in notebooks, and in `html`"


@dataclass(frozen=True, repr=False)
class Plot:
    """A chart that a notebook shows as SVG: no script runs, nothing is fetched."""

    chart: Any
    "Of Altair, to go on with."

    def save(self, path: str | Path) -> None:
        """Write it as PDF, PNG, SVG, HTML or Vega-Lite (.json), as the name ends."""
        self.chart.save(str(path), **({"inline": True} if str(path).endswith(".html") else {}))

    def _repr_svg_(self) -> str:
        return picture(self.chart.to_dict(), "svg").decode()

    def __repr__(self) -> str:
        """Say where the chart is seen."""
        return "Plot: shown in notebooks; save() writes it, `chart` is that of Altair"


def mosaic(maps: npt.NDArray[np.float32]) -> str:
    """Return maps [layer, head, query, key] with entries in [0, 1] as one picture in HTML, a row a layer."""
    from matplotlib.image import imsave

    layers, heads, queries, keys = maps.shape
    tiles = np.zeros((layers, heads, queries + 1, keys + 1), np.float32)  # with a light border
    tiles[:, :, :queries, :keys] = maps
    whole = tiles.transpose(0, 2, 1, 3).reshape(layers * (queries + 1), heads * (keys + 1))
    png = BytesIO()
    imsave(png, whole, cmap="Blues", vmin=0, vmax=1, format="png")
    data = base64.b64encode(png.getvalue()).decode()
    size = f"width: {PIXELS * whole.shape[1]}px; max-width: 100%; image-rendering: pixelated"
    said = f"Attention of {layers} layers (rows) of {heads} heads"
    return f'<img alt="{said}" style="{size}" src="data:image/png;base64,{data}">'
