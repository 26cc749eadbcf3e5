"""Every table is declared in full, and its declaration is a JSON Schema for those who read it elsewhere."""

import hashlib
import json
import re
from typing import Any

import jsonschema
import pytest

from probes import get_probe
from reports.compare.atlas_record import ATLAS_TABLES
from reports.compare.record import COMPARE_TABLES
from reports.compare.target_tables import TARGET_TABLES
from reports.measures.registry import run_tables
from reports.page.dataset_card import CANONICAL, EXPORTED_SCORES
from reports.statements.claim_record import CLAIM_TABLES
from reports.statements.finding_record import FINDING_TABLES
from reports.statements.sandbox_record import SANDBOX_TABLES
from reports.tables.column import Column
from reports.tables.table import VERSION, Table, json_schema

EVERY = {**run_tables(), **COMPARE_TABLES, **TARGET_TABLES, **ATLAS_TABLES, **FINDING_TABLES, **CLAIM_TABLES}
EVERY |= SANDBOX_TABLES

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


@pytest.mark.parametrize("name", EVERY)
def test_columns_have_meanings_keys_and_intervals_are_columns_and_the_schema_is_valid(name: str) -> None:
    table = EVERY[name]
    assert table.about.endswith(".")
    for column in table.columns:
        assert re.fullmatch(r"\S+( \S+){2,}\.", column.meaning), column.name
        assert not re.search(r"\bnan\b|\bnone\b", column.meaning, re.IGNORECASE), column.name  # pages show a dash
    assert len({column.meaning for column in table.columns}) == len({*table.names}) == len(table.columns)
    assert table.key
    assert {*table.key, *(end for column in table.columns for end in column.interval or ())} <= {*table.names}
    jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(json_schema(name, table))))


@pytest.mark.parametrize(
    "change", [{"kind": "c"}, {"value": 1.5}, {"count": -1}, {"count": None}, {"step": 0.5}, {"name": 1}]
)
def test_a_validator_takes_right_rows_and_refuses_wrong_ones(change: dict[str, Any]) -> None:
    schema = json_schema("heads", TABLE)
    assert (schema["version"], schema["key"]) == (VERSION, ["name"])
    assert schema["items"]["properties"]["value"]["interval"] == ["low", "high"]
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate([ROW, {**ROW, "value": None}])
    with pytest.raises(jsonschema.ValidationError):
        validator.validate([{**ROW, **change}])


def test_a_column_that_goes_or_changes_needs_a_new_version() -> None:
    """Columns of version 4 by name, type and meaning; where this fails, raise VERSION and pin anew."""
    columns = [(column.name, column.dtype, column.meaning) for column in EXPORTED_SCORES.columns]
    assert hashlib.sha256(repr((VERSION, columns)).encode()).hexdigest()[:16] == "7eb65fdc992e58ce"


def test_every_probe_with_a_canonical_name_exists() -> None:
    assert all(get_probe(probe) for probe, _ in CANONICAL)
