"""A table's declaration as a JSON Schema, for programs that read the table without headscope."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from reports.tables.column import Column
from reports.tables.table import Table

VERSION: Final = 2
"""Of the schemas of exported tables. A column that goes, or whose type or meaning changes, raises it; one that is added
does not."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

TYPES: Final[Mapping[str, list[str]]] = {
    "str": ["string"],
    "bool": ["boolean"],
    "int64": ["integer"],
    "Int64": ["integer", "null"],
    "float64": ["number", "null"],
    "object": ["array"],
}
"Type of a column -> its types in JSON; a missing number is null."


def json_schema(name: str, table: Table) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a table as a list of rows.

    Each column has its meaning as description, bounds and choices where they are declared, and the names of the columns
    with its interval as `interval`; `key` names the columns that tell rows apart.
    """
    return {
        "$schema": DIALECT,
        "title": f"headscope {name}",
        "description": table.about,
        "version": VERSION,
        "key": [*table.key],
        "type": "array",
        "items": {
            "type": "object",
            "properties": {column.name: _property(column) for column in table.columns},
            "required": [*table.names],
            "additionalProperties": True,
        },
    }


def _property(column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {"type": TYPES[column.dtype], "description": column.meaning}
    if column.choices:
        found["enum"] = [*column.choices]
    if column.bounds is not None:
        limits = zip(("minimum", "maximum"), column.bounds, strict=True)
        found |= {key: limit for key, limit in limits if math.isfinite(limit)}
    if column.interval is not None:
        found["interval"] = [*column.interval]
    return found
