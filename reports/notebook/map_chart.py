"""One head's map of a sentence as a chart for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.drawing.charts import RAMP_COLOURS
from reports.notebook.run_charts import CELL


def map_chart(weights: npt.NDArray[np.float32], queries: Sequence[str], keys: Sequence[str], title: str) -> Any:
    """Return an Altair chart of a map [query, key] with entries in [0, 1]; words may occur more than once."""
    rows, columns = [[f"{i} {word}" for i, word in enumerate(words)] for words in (queries, keys)]
    query, key = np.divmod(np.arange(weights.size), len(keys))
    frame = pd.DataFrame({"query": np.take(rows, query), "key": np.take(columns, key), "weight": weights.ravel()})
    word = "slice(datum.label, indexof(datum.label, ' ') + 1)"
    return (
        alt.Chart(frame, title=title)
        .mark_rect()
        .encode(
            x=alt.X("key:N", sort=columns, axis=alt.Axis(labelExpr=word, title=None, orient="top", labelAngle=-60)),
            y=alt.Y("query:N", sort=rows, axis=alt.Axis(labelExpr=word, title=None)),
            color=alt.Color("weight:Q", title="attention", scale=alt.Scale(domain=[0, 1], range=[*RAMP_COLOURS])),
            tooltip=["query:N", "key:N", alt.Tooltip("weight:Q", format=".1%")],
        )
        .properties(width=alt.Step(CELL), height=alt.Step(CELL))
    )
