"""The JSON of the record of a page about several runs: facts in a dataclass, written and read as that."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from reports.messages import one_line
from reports.run.replacing import replace_text

Facts = TypeVar("Facts")


def write_facts(path: Path, record: Any, kind: type[Any]) -> None:
    """Write to `path` what the dataclass `kind` declares of a record, which may hold tables beside."""
    facts = kind(**{field.name: getattr(record, field.name) for field in fields(kind)})
    text = json.dumps(asdict(facts), indent=2, ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, f"{text}\n")


def read_facts(path: Path, kind: type[Facts], what: str, command: str) -> Facts:
    """Return the facts in the file at `path`; ValueError says that it is no record of `what`, which `command` makes."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        fault = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        said = f"not the record of {what} ({fault}); make it again with 'headscope {command}'"
        raise ValueError(one_line(f"{path}: {said}")) from error
