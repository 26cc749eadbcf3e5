"""A page that walks through one head's computation on one sentence, with the model's own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reports.run.replacing import replace_text
from reports.tables.cells import columns_of
from reports.tables.text_table import TextTable
from reports.templates.environment import asset, environment

COLUMNS = 8
"Of a vector that is as long as the model is wide, so many numbers are in the page."

AXES = {
    "x": "piece model",
    "read": "piece model",
    "query": "piece head_dim",
    "key": "piece head_dim",
    "value": "piece head_dim",
    "products": "piece piece",
    "scores": "piece piece",
    "pattern": "piece piece",
    "outputs": "head piece head_dim",
    "writes": "head piece model",
    "bias": "model",
    "mixed": "piece model",
    "added": "piece model",
    "normed": "piece model",
}
"The steps of a head that the page needs, and what their axes are; those of `pattern` are query and key."

CHECKED = {
    "embedding": ("Embeddings, which layer 1 reads", "piece model"),
    "read": ("LayerNorm of the layer's input", "piece model"),
    "value": ("Values of the head", "piece head_dim"),
    "scores": ("Scores before softmax", "piece piece"),
    "pattern": ("Weights after softmax", "piece piece"),
    "head_output": ("Output of the head", "piece head_dim"),
    "head_write": ("What the head writes", "piece model"),
    "normed": ("Residual connection and LayerNorm", "piece model"),
}
"What `differences` may hold: its name on the page and its axes."

Numbers = npt.NDArray[np.floating]


@dataclass(frozen=True, kw_only=True)
class Explained:
    """Every step of one head on one sentence; numbers before W_O, after it, and what the model's own pass had."""

    model: str
    sentence: str
    layer: int
    "From 0, of `layers`."
    layers: int
    head: int
    "From 0, as in `outputs` and `writes`."
    pieces: Sequence[str]
    words: Sequence[str]
    'For each piece the word that it is of, "" for special tokens.'
    selected: int
    "The piece whose row is shown first."
    embeddings: Mapping[str, Numbers]
    "What the first layer's input is made of, in order, each [piece, size]: piece, position, type, sum, LayerNorm."
    steps: Mapping[str, Numbers]
    "The arrays that AXES names."
    scaling: float
    "What products are multiplied with."
    pre: bool
    "Whether LayerNorm stands before each block."
    differences: Mapping[str, float]
    "Largest difference of what is shown to what the model's own pass had, by the names of CHECKED."

    def sizes(self) -> dict[str, int]:
        """Return the length of every axis."""
        heads, _, head_dim = self.steps["outputs"].shape
        size = next(iter(self.embeddings.values())).shape[1]
        model = self.steps["x"].shape[1]
        return {"piece": len(self.pieces), "head": heads, "head_dim": head_dim, "model": model, "size": size}


def write_explanation(path: Path, explained: Explained) -> Path:
    """Write one self-contained HTML page that shows every step, and return its path.

    Raises ValueError where a step has a number that is not finite; an older page at `path` then stays as it was.
    """
    sizes = explained.sizes()
    if wrong := [name for name, values in explained.steps.items() if not np.isfinite(values).all()]:
        raise ValueError(f"{path}: {wrong[0]} holds a number that is not finite")
    page = (
        environment()
        .get_template("explain.html.j2")
        .render(
            explained=explained,
            name=f"{explained.layer + 1}-{explained.head + 1}",
            sizes=sizes,
            shape={axes: shape_of(axes, sizes) for axes in (*AXES.values(), "piece size")},
            differences=_differences(explained, sizes),
            difference={key: _short(difference) for key, difference in explained.differences.items()},
            data=_data(explained),
            style=asset("page.css") + asset("explain.css"),
            script=asset("explain.js"),
        )
    )
    return replace_text(path, page)


def _differences(told: Explained, sizes: Mapping[str, int]) -> TextTable:
    """Return the table of what was held against the model's own pass."""
    rows = [
        (what, shape_of(axes, sizes), _short(told.differences[key]))
        for key, (what, axes) in CHECKED.items()
        if key in told.differences
    ]
    title = "Largest differences from the model's own numbers"
    return TextTable.of(title, columns_of(("Step", "Shape", "Largest difference"), ("Shape",)), rows)


def shape_of(axes: str, sizes: Mapping[str, int]) -> str:
    """Return the lengths of axes: "[7 × 32]"."""
    return f"[{' × '.join(str(sizes[axis]) for axis in axes.split())}]"


def _short(difference: float) -> str:
    """Write a small number with one decimal: 3.04e-07 is "3.0e-7"."""
    return f"{difference:.1e}".replace("e-0", "e-").replace("e+00", "")


def _data(told: Explained) -> dict[str, Any]:
    """Return the numbers of the page, to six digits; wide ones are cut to COLUMNS."""
    steps, head = told.steps, told.head
    cut = {name: steps[name][..., :COLUMNS] for name in ("x", "read", "writes", "bias", "mixed", "added", "normed")}
    whole = {name: steps[name] for name in ("query", "key", "value", "products", "scores", "pattern")}
    found: dict[str, Any] = {name: _digits(values) for name, values in (cut | whole).items()}
    found["embeddings"] = [[name, _digits(values[:, :COLUMNS])] for name, values in told.embeddings.items()]
    found["output"] = _digits(steps["outputs"][head])
    found["outputs"] = _digits(steps["outputs"][..., :COLUMNS])
    for name in ("outputs", "writes", "mixed", "bias"):
        found[f"{name}_length"] = _digits(np.linalg.norm(steps[name], axis=-1))
    sizes = {f"of_{axis}": length for axis, length in told.sizes().items()}
    places = {"pieces": list(told.pieces), "words": list(told.words), "selected": told.selected, "head": head}
    return found | places | sizes | {"columns": COLUMNS, "pre": told.pre, "scaling": told.scaling}


def _digits(values: Numbers) -> Any:
    """Return `values` as nested lists, to six digits."""
    return np.vectorize(lambda value: float(f"{value:.6g}"))(values).tolist()
