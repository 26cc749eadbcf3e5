"""What a measure tells of tables whose numbers are invented."""

from typing import Any

import numpy as np
import pandas as pd

from reports.tables.table import Table

ONE_RUN = {"model": "m", "step": pd.NA, "corpus": "sea"}
"Columns of a run, for tables that have none."


def of_heads(table: Table, layers: int, heads: int, /, **given: Any) -> pd.DataFrame:
    """Return a row a head with these columns, given for all or each; the others say that nothing was measured."""
    cell = np.arange(layers * heads)
    names = [f"{one // heads + 1}-{one % heads + 1}" for one in cell]
    place = {"layer": cell // heads, "head": cell % heads, "name": names}
    return pd.DataFrame([table.missing] * len(cell)).assign(**{**ONE_RUN, **place, **given})
