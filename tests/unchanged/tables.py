"""What the tables and the record of a run hold: schemas, cells, keys."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.unchanged.masks import masked_cell

LARGE = 200_000
"Bytes beyond which a table is told by its header and its digest."


def parquet_lines(path: Path) -> Iterator[str]:
    """Yield the columns of a Parquet file, the keys of its metadata, the number of its rows and a digest of them."""
    schema, table = pq.read_schema(path), pq.read_table(path)
    for field in schema:
        yield f"column: {field.name} {field.type}{'' if field.nullable else ' not null'}"
    for key in sorted(schema.metadata or {}):
        yield f"metadata: {key.decode()}"
    yield f"rows: {table.num_rows}"
    rows = [{name: masked_cell(name, repr(cell)) for name, cell in row.items()} for row in table.to_pylist()]
    yield f"digest: {hashlib.sha256(repr(rows).encode()).hexdigest()}"


def csv_lines(path: Path) -> Iterator[str]:
    """Yield the header of a CSV file and its rows, or their digest."""
    with path.open(encoding="utf-8", newline="") as opened:
        header, *rows = [*csv.reader(opened)] or [[]]
    yield f"header: {','.join(header)}"
    told = [",".join(map(masked_cell, header, row)) for row in rows]
    if path.stat().st_size > LARGE:
        told = [f"{len(rows)} rows, sha256 {hashlib.sha256(chr(10).join(told).encode()).hexdigest()}"]
    yield from (f"row: {row}" for row in told)


def record_lines(path: Path) -> list[str]:
    """Return every key of a JSON record with the type of its value; what a list holds is told once."""
    return sorted({f"key: {key}" for key in _keys(json.loads(path.read_text(encoding="utf-8")), path.stem)})


def _keys(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield f"{name}: dict"
        for key, inner in value.items():
            yield from _keys(inner, f"{name}.{key}")
    elif isinstance(value, list):
        yield f"{name}: list"
        for inner in value:
            yield from _keys(inner, f"{name}[]")
    else:
        yield f"{name}: {type(value).__name__}"
