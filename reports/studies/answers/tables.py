"""The tables of what a training taught: answers, and which maps show what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

MEASURES: Final = ("weights", "rollout", "flow")
"What is told of a layer: its attention averaged over heads, rollout up to it, and flow up to it."

AGAINST: Final = ("blank-out", "gradients")
"What they are held against."

_RUN: Final = {"model": "str", "step": "Int64", "corpus": "str"}

ANSWER_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    _RUN | {"text": "int64", "words": "int64", "answer": "str", "log_odds": "float64"}
)
"""Column -> dtype of answers.parquet, one row a question; `words` counts those before the verb.

`log_odds` are those of the right answer against the other, in nats: above 0 where the model is right."""

ONE_HEAD_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    _RUN | {"text": "int64", "layer": "int64", "head": "int64", "name": "str", "log_odds": "float64"}
)
"""Column -> dtype of one_head.parquet, one row a question and head: the log-odds where it alone is left of its layer.

`text` is the number of the question in answers.parquet; layer and head count from 0, `name` from 1."""

FLOW_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    _RUN | {"text": "int64", "words": "int64", "layer": "int64", "measure": "str", "against": "str", "rho": "float64"}
)
"""Column -> dtype of flows.parquet, one row a question, layer (from 0), one of MEASURES and one of AGAINST.

`rho` is Spearman's, over the words before the verb; NaN where all words are equal in one of the two."""


def _check_flows(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(outside(frame["rho"], -1, 1), "`rho` lies outside [-1, 1]")
    for column, known in (("measure", MEASURES), ("against", AGAINST)):
        refuse(~frame[column].isin(known), f"`{column}` is not one of {', '.join(known)}")


ANSWER_TABLES: Final[Mapping[str, StudyTable]] = {
    "answers": StudyTable(ANSWER_COLUMNS, ("model", "step", "text")),
    "one_head": StudyTable(ONE_HEAD_COLUMNS, ("model", "step", "text", "name")),
    "flows": StudyTable(FLOW_COLUMNS, ("model", "step", "text", "layer", "measure", "against"), _check_flows),
}
