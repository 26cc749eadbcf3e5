"""What a measure tells of tables whose numbers are invented."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.run.measure import Measure
from reports import Run
from reports.blocks.block import Block
from reports.run.record import RunRecord
from reports.tables.table import Table

ONE_RUN = {"model": "m", "step": pd.NA, "corpus": "sea"}
"Columns of a run, for tables that have none."


def blocks_of(
    measure: type[Measure], tables: Mapping[str, pd.DataFrame], facts: Mapping[str, Any] | None = None
) -> list[Block]:
    """Return what a measure tells of its tables, which have to be as they are declared."""
    held = {name: measure.tables[name].validated(frame.assign(**ONE_RUN), name) for name, frame in tables.items()}
    record = RunRecord(facts={measure.name: facts or {}})
    run = Run(Path("run"), pd.DataFrame(), pd.DataFrame(), record, "", tables=held)
    return [*measure.page(run)]


def text_of(measure: type[Measure], tables: Mapping[str, pd.DataFrame], facts: Mapping[str, Any] | None = None) -> str:
    """Return the same in Markdown."""
    return "\n\n".join(block.markdown for block in blocks_of(measure, tables, facts))


def of_heads(table: Table, layers: int, heads: int, /, **given: Any) -> pd.DataFrame:
    """Return a row a head with these columns, given for all or each; the others say that nothing was measured."""
    cell = np.arange(layers * heads)
    names = [f"{one // heads + 1}-{one % heads + 1}" for one in cell]
    place = {"layer": cell // heads, "head": cell % heads, "name": names}
    return pd.DataFrame([table.missing] * len(cell)).assign(**{**ONE_RUN, **place, **given})
