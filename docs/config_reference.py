"""The reference of configs, made from the models that read them."""

from __future__ import annotations

import json
import re
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from markdown_text import ROOT, docstring, escaped, prose, table
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from experiments.claims.run.registry import CLAIMS
from experiments.run.config import RunConfig

WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}
SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def config_page() -> str:
    """Return the reference of configs: every table and key, made from the models that read them."""
    parts = [
        "# Configs",
        "A config is a TOML file. A key that is not known here is refused, with the nearest one that is. Paths are "
        "relative to the config file. `--set key=value` changes a key for one run, with dots between tables. What a "
        "run decided, defaults included, stands in its `config.toml`.",
    ]
    for section, paths in TABLES.items():
        names = ", ".join(rf"\[{'.'.join(path)}]" for path in paths if path)
        parts += [f"## {names or 'At the top'} {{ #{_anchor(section)} }}", prose(section.__doc__ or ""), keys(section)]
    parts += ["## Configs of claims", "A config of `headscope claim` names a claim in `claim`."]
    for name, claim in CLAIMS.items():
        parts += [f'### claim = "{name}" {{ #claim-{name} }}', prose(claim.sentence), keys(claim.section)]
    return "\n\n".join(parts) + "\n"


def tables(model: type[BaseModel], path: tuple[str, ...] = ()) -> dict[type[BaseModel], list[tuple[str, ...]]]:
    """Return a model and all that it has as tables, each with the keys that lead to it, wherever it stands."""
    found = {model: [path]}
    for key, field in model.model_fields.items():
        if inner := table_of(field.annotation):
            for section, paths in tables(inner, (*path, key)).items():
                found.setdefault(section, []).extend(paths)
    return found


def table_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a key that is a table, and None for a value."""
    options = get_args(annotation) or (annotation,)
    return next((one for one in options if isinstance(one, type) and issubclass(one, BaseModel)), None)


def keys(section: type[BaseModel], path: tuple[str, ...] = ()) -> str:
    """Return the table of the keys of a section."""
    rows = []
    for key, field in section.model_fields.items():
        inner = table_of(field.annotation)
        kind = f"[table](#{_anchor(inner)})" if inner in TABLES else words(field.annotation)
        told = key_text(section, key) or (inner.__doc__ or "" if inner else "")
        rows.append((f"`{key}`", "; ".join([kind, *_bounds(field)]), default(field), escaped(told)))
    return table(("key", "type", "default", "what it says"), rows)


def _anchor(section: type[BaseModel]) -> str:
    return "-".join(TABLES[section][0]) or "top"


def words(annotation: Any) -> str:
    """Return a type in words."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{json.dumps(one)}`" for one in inside)
    if origin in (Union, types.UnionType):
        return " or ".join(words(one) for one in inside if one is not type(None))
    if origin is tuple:
        return f"list of: {words(inside[0])}"
    return WORDS.get(annotation, "table" if table_of(annotation) else str(annotation))


def _bounds(field: FieldInfo) -> list[str]:
    """Return the limits of a value in signs."""
    return [
        f"{sign} {getattr(limit, name)}"
        for limit in field.metadata
        for name, sign in SIGNS.items()
        if hasattr(limit, name)
    ]


def default(field: FieldInfo) -> str:
    """Return the value that a key has where nothing is said, as TOML writes it."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or isinstance(value, BaseModel):
        return ""
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`"


def key_text(section: type[BaseModel], key: str) -> str:
    """Return what is said under a key, or else in the class that the docstring of its section names."""
    for kind in section.__mro__:
        if text := docstring(kind.__module__, kind.__name__, key):
            return text
    for named in re.findall(r"see `([\w.]+)`", section.__doc__ or ""):
        module, _, name = named.rpartition(".")
        if text := docstring(*_home(module, name), key):
            return text
    return ""


def _home(module: str, name: str) -> tuple[str, ...]:
    """Return the module in which a class stands, and its name; of a module its own name alone."""
    found = getattr(__import__(module, fromlist=[name]), name)
    return (found.__name__,) if isinstance(found, types.ModuleType) else (found.__module__, name)


def shipped_page() -> str:
    """Return the page with the configs that come along, as they are."""
    folder = ROOT / "experiments" / "configs"
    parts = ["# Configs that come along", "Each is a file under `experiments/configs`."]
    for path in sorted(folder.rglob("*.toml"), key=lambda path: (len(path.parts), path)):
        parts += [f"## {path.relative_to(folder)}", f"```toml\n{path.read_text(encoding='utf-8').strip()}\n```"]
    return "\n\n".join(parts) + "\n"


TABLES = tables(RunConfig)
"What a config of a run is made of."
