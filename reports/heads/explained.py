"""What the roles of heads explain of their attention between words, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from reports.formats import percent
from reports.run.folder import RunFolder


@dataclass(frozen=True)
class ExplainedHeads:
    """What the roles of all heads explain in the first scope of a run."""

    rows: pd.DataFrame
    "Of the table `heads`; none where the run has none."

    @classmethod
    def of(cls, run: RunFolder) -> Self:
        """Read the table of a run."""
        table = run.tables.get("heads")
        return cls(pd.DataFrame() if table is None else table[table["scope"] == table["scope"].iloc[0]])

    @property
    def of_heads(self) -> Mapping[str, str]:
        """What the roles of each head explain in a few words, by its name."""
        shares = [] if self.rows.empty else zip(self.rows["name"], self.rows["explained"], strict=True)
        return {str(name): f"roles explain {percent(share)} % of its attention between words" for name, share in shares}

    @property
    def median(self) -> str:
        """How many heads have a role between words, and what the roles of the median one explain; "" if none has.

        A role that gets no attention at all is not counted.
        """
        if self.rows.empty or self.rows["explained"].isna().all():
            return ""
        related = self.rows[self.rows["explained"] > 0]
        if related.empty:
            return ""
        scope = f"{self.rows['scope'].iloc[0]}s"
        having = f"{len(related)} of {len(self.rows)} heads {'has' if len(related) == 1 else 'have'} a grade"
        heads = f"{having} on a relation between words in {scope} (fixed offsets count, spans such as within=4 do not)"
        own, random = (float(related[name].median()) for name in ("explained", "explained_random"))
        beside = f" ({percent(random)} % with randomly initialised weights)" if random == random else ""
        share = f"In the median of these heads the relations explain {percent(own)} % of the attention between words"
        return f"{heads}. {share}{beside}."
