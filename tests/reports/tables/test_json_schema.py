import hashlib
import json
from typing import Any

import jsonschema
import pytest

from reports.page.columns import run_tables
from reports.scores.taxonomy import EXPORTED_SCORES
from reports.tables.column import Column
from reports.tables.json_schema import VERSION, json_schema
from reports.tables.table import Table

TABLE = Table(
    "One row a head.",
    ("name",),
    (
        Column("name", "str", "Its name.", str),
        Column("kind", "str", "Its kind.", str, choices=("a", "b")),
        Column("value", "float64", "A share.", str, bounds=(0, 1), interval=("low", "high")),
        Column("count", "int64", "A number.", str, bounds=(0, float("inf"))),
        Column("step", "Int64", "A step.", str),
    ),
)
ROW: dict[str, Any] = {"name": "1-1", "kind": "a", "value": 0.5, "count": 3, "step": None}


def test_a_schema_holds_what_the_declaration_says() -> None:
    schema = json_schema("heads", TABLE)
    assert (schema["version"], schema["key"]) == (VERSION, ["name"])
    assert schema["items"]["properties"]["value"] == {
        **{"type": ["number", "null"], "description": "A share.", "minimum": 0, "maximum": 1},
        "interval": ["low", "high"],
    }
    assert "maximum" not in schema["items"]["properties"]["count"]


@pytest.mark.parametrize(
    "change", [{"kind": "c"}, {"value": 1.5}, {"count": -1}, {"count": None}, {"step": 0.5}, {"name": 1}]
)
def test_a_validator_takes_right_rows_and_refuses_wrong_ones(change: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(json_schema("heads", TABLE))
    validator.validate([ROW, {**ROW, "value": None}])
    with pytest.raises(jsonschema.ValidationError):
        validator.validate([{**ROW, **change}])


@pytest.mark.parametrize("name", run_tables())
def test_every_table_has_a_schema_that_is_valid(name: str) -> None:
    schema = json.loads(json.dumps(json_schema(name, run_tables()[name])))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert all(column["description"] for column in schema["items"]["properties"].values())


PINNED = "4f0454e7a9725698"


def test_a_column_that_goes_or_changes_needs_a_new_version() -> None:
    """Columns of version 2 by name, type and meaning; where this fails, raise VERSION and pin anew."""
    columns = [(column.name, column.dtype, column.meaning) for column in EXPORTED_SCORES.columns]
    assert hashlib.sha256(repr((VERSION, columns)).encode()).hexdigest()[:16] == PINNED
