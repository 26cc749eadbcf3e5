"""Reading a config file: TOML, changes from the command line, paths made absolute, and errors of one line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from experiments.config.section import ConfigError, ConfigTable, Placed
from mha.messages import nearest_name
from mha.models.folders import NAMED

Given = Mapping[str, Mapping[str, Any]]
"Table of a config -> keys and values."

CONFIGS: Final = Path(__file__).parents[1] / "configs"
"The folder of the configs that come with headscope."


def find_config(path: Path) -> Path:
    """Return the file of a config: the path, or without such a file the config that comes with headscope by that name.

    >>> find_config(Path("claims/heads")).relative_to(CONFIGS).as_posix()
    'claims/heads.toml'
    """
    shipped = CONFIGS / path.with_suffix(".toml")
    return path if path.is_file() or not shipped.is_file() else shipped


def read_toml(path: Path, changes: Sequence[str], given: Given = MappingProxyType({})) -> dict[str, Any]:
    """Return what a config file says, with `changes` made and paths absolute, as plain values that nobody has checked.

    What is `given` in tables stands in place of what the file says there.

    Raises ConfigError where it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        shipped = sorted(file.stem for file in CONFIGS.glob("*.toml"))
        hint = nearest_name(path.stem, shipped, f"headscope comes with {', '.join(shipped)}, in {CONFIGS}")
        raise ConfigError(f"{path}: no such config; {hint}") from None
    except IsADirectoryError:
        run = "; headscope report makes the page of a run again" if (path / "run.json").is_file() else ""
        raise ConfigError(f"{path}: is a folder, expected a file, or the name of a config{run}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 (byte {error.start}); save the file as UTF-8") from None
    return toml_of(text, path, changes, given)


def toml_of(text: str, path: Path, changes: Sequence[str] = (), given: Given = MappingProxyType({})) -> dict[str, Any]:
    """Return what the text of the config file `path` says, as `read_toml`."""
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # beside what is no TOML: numbers and tables without end
        raise ConfigError(f"{path}: not TOML: {error}") from None
    for table, values in given.items():
        there = found.get(table)
        found[table] = {**(there if isinstance(there, dict) else {}), **values}
    for change in changes:
        _apply(found, change)
    with named(path):
        resolve_paths(found, path.parent)
    return found


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Put the file of a config before the ConfigError of one of its values."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


Kind = TypeVar("Kind", bound=ConfigTable)


def validated(kind: type[Kind], values: dict[str, Any], path: Path) -> Kind:
    """Return the values of a config file, checked; raises ConfigError with the file and the first wrong key."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_one_line(error, kind)}") from None


def _apply(found: dict[str, Any], change: str) -> None:
    key, equals, value = change.partition("=")
    if not equals:
        raise ConfigError(f"--set {change}: expected key=value")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        parsed = value
    *tables, last = key.strip().split(".")
    for table in tables:
        found = found.setdefault(table, {})
        if not isinstance(found, dict):
            raise ConfigError(f"--set {change}: {table} is not a table")
    found[last] = parsed


def resolve_paths(values: dict[str, Any], folder: Path) -> None:
    """Make the paths of corpora and trainings absolute, relative to the config; of corpora and models, else to here."""
    corpus = values.get("corpus")
    for part in corpus.values() if isinstance(corpus, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("path"), str):
            here = not _there(folder / _expanded(part["path"]), Path.exists) and _there(Path(part["path"]), Path.exists)
            part["path"] = _absolute(part["path"], Path.cwd() if here else folder)
    train = values.get("train")
    if isinstance(train, dict):
        for table, key in (("data", "path"), ("held_out", "path"), ("tokenizer", "folder")):
            _resolve_texts(train.get(table), key, folder)
        for table in ("data", "held_out"):
            _resolve_texts(train.get(table), "dataset", folder)
        _resolve_model(train.get("start"), folder)
    _resolve_model(values.get("model"), folder)


def resolve_tables(values: dict[str, Any], folder: Path, kind: type[ConfigTable]) -> None:
    """Make the paths absolute that tables of `kind` name: those that are of no other kind, and those that are `Placed`.

    The former are relative to the config; the latter too where they lie there, else to the current folder.
    """
    for table, field in kind.model_fields.items():
        part, section = values.get(table), field.annotation
        if isinstance(part, dict) and isinstance(section, type) and issubclass(section, ConfigTable):
            for key in part.keys() & section.model_fields.keys():
                _resolve_key(part, key, section.model_fields[key], folder)
        elif table in values:
            _resolve_key(values, table, field, folder)


def _resolve_key(part: dict[str, Any], key: str, field: FieldInfo, folder: Path) -> None:
    if field.annotation == Path | None:
        _resolve_texts(part, key, folder)
    for mark in field.metadata:
        if isinstance(mark, Placed) and isinstance(names := part[key], list):
            part[key] = [_place(name, folder, mark.names) for name in names]


def _resolve_model(part: Any, folder: Path) -> None:
    if isinstance(part, dict) and isinstance(name := part.get("name"), str) and name not in NAMED:
        places = [place for place in _places(name, folder) if _there(place, Path.is_dir)]
        part["name"] = str(places[0].resolve()) if places else name


def _place(name: object, folder: Path, known: Container[str]) -> object:
    if not isinstance(name, str) or name in known:
        return name
    places = [place for place in _places(name, folder) if _there(place, Path.exists)]
    return str(places[0].resolve()) if places else name


def _places(name: str, folder: Path) -> tuple[Path, Path]:
    return folder / _expanded(name), Path(name)


def _expanded(name: str) -> Path:
    """Return a path with the user's folder for "~"; ConfigError where no such user is known."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{name!r} is no path: {error}") from None


def _there(place: Path, what: Callable[[Path], bool]) -> bool:
    """Return what is asked of a path; False for a name that no file can have."""
    try:
        return what(place)
    except (OSError, ValueError):
        return False


def _absolute(name: str, folder: Path) -> str:
    """Return an absolute path; raises ConfigError for a name that no file can have."""
    try:
        return str((folder / _expanded(name)).resolve())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name!r} is no path: {error}") from None


def _resolve_texts(part: Any, key: str, folder: Path) -> None:
    """Make a path, or each of several, absolute; the name of a data set only where it is such a folder."""
    if not isinstance(part, dict) or not isinstance(named := part.get(key), str | list):
        return
    names = [named] if isinstance(named, str) else named
    paths = [_absolute(str(name), folder) for name in names]
    if key != "dataset" or _there(Path(paths[0]), Path.is_dir):
        part[key] = paths[0] if isinstance(named, str) else paths


def _one_line(error: ValidationError, kind: type[BaseModel]) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"unknown key {place!r}; {_other_key(first['loc'], kind)}"
    if first["type"] == "missing":
        return f"{place!r} is missing"
    if first["type"] == "model_type":
        return f"{place}: expected a table with {', '.join(_known_keys(first['loc'], kind))}; got {first['input']!r}"
    if first["type"] in _EXPECTED or first["msg"].startswith(_SHOULD):
        message = f"expected {_expected(first['type'], first['msg'], first['input'])}; got {first['input']!r}"
    else:
        message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


_SHOULD: Final = "Input should be "

_EXPECTED: Final = {
    "string_type": "text",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    "path_type": "the path of a file or folder",
}
"What pydantic found wrong with a value -> what TOML has there."


def _expected(kind: str, message: str, value: Any) -> str:
    """Return what is expected in place of a value, in the words of TOML."""
    if kind == "tuple_type":
        return f"a list, such as [{json.dumps(value, default=str)}]"
    said = message.removeprefix(_SHOULD)
    return _EXPECTED.get(kind) or (f"a number {said}" if said.startswith(("greater", "less")) else said)


def _other_key(place: tuple[int | str, ...], kind: type[BaseModel]) -> str:
    """Return which key was meant: one of the same name in a table below or the nearest one, else all that there are."""
    *tables, key = place
    known = _known_keys(tuple(tables), kind)
    below = {
        f"{table}.{key}"
        for table in known
        if (section := _section(_annotation((*tables, table), kind))) and str(key) in section.model_fields
    }
    if len(below) == 1:
        return f"did you mean {'.'.join([*map(str, tables), *below])!r}?"
    return nearest_name(str(key), known, f"known here are {', '.join(known)}")


def _known_keys(place: tuple[int | str, ...], section: type[BaseModel]) -> list[str]:
    """Return the keys of the table at a place below a section."""
    found = _section(_annotation(place, section)) if place else section
    assert found is not None, place
    return list(found.model_fields)


def _annotation(place: tuple[int | str, ...], section: type[BaseModel]) -> Any:
    """Return the type of the key at a place below a section."""
    *tables, key = place
    for table in tables:
        inner = _section(section.model_fields[str(table)].annotation)
        assert inner is not None, place
        section = inner
    return section.model_fields[str(key)].annotation


def _section(annotation: Any) -> type[BaseModel] | None:
    """Return the table that a type is, None where it is none."""
    options = getattr(annotation, "__args__", (annotation,))
    return next((one for one in options if isinstance(one, type) and issubclass(one, BaseModel)), None)
