"""How measures are found, those of packages by entry points and those of files by `use`, and all tables that a run has.

Nothing in `reports` imports a measure by name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Final

import pandas as pd

from reports.measures.reported import Reported
from reports.messages import one_line
from reports.run.folder import RunFolder
from reports.run.sentence_attention import ATTENTION_TABLES
from reports.tables.scores import TABLES
from reports.tables.table import Table

GROUP: Final = "headscope.measures"
"The entry points of packages that bring measures: each names a module, or a package of such."


OF_FILE: Final = "headscope_measure_"
"What the names of modules begin with that `use` has loaded."


class MeasureError(ValueError):
    """A measure that cannot be loaded, or that others do not go with."""


_USED: dict[Path, tuple[type[Reported], ...]] = {}
"Files that were named -> their measures."


def measures() -> tuple[type[Reported], ...]:
    """Return all measures that are known, in the order of a page.

    Raises MeasureError where two have one name, or a package's cannot be loaded.
    """
    found = sorted((*_installed(), *(one for some in _USED.values() for one in some)), key=lambda one: one.place)
    names = [one.name for one in found]
    for one in found:
        if names.count(one.name) > 1:
            raise MeasureError(f"two measures are called {one.name!r}; one is of {one.__module__}")
    return tuple(found)


def measures_of(run: RunFolder) -> tuple[type[Reported], ...]:
    """Return the measures of which a run has something to tell, in the order of a page."""
    return tuple(one for one in measures() if one.has_results(run))


def use(path: Path) -> tuple[type[Reported], ...]:
    """Load the measures of a Python file, which from then on are known as those of headscope are.

    Raises MeasureError for a file that is not there, cannot be loaded, or has no measure.
    """
    path = Path(path).resolve()
    if path not in _USED:
        found = tuple(_of(module_of(path, OF_FILE, "a measure")))
        if not found:
            raise MeasureError(f"{path}: no measure in it; expected a class with a `name` that derives from Measure")
        _USED[path] = found
    return _USED[path]


def module_of(path: Path, prefix: str, what: str) -> ModuleType:
    """Load a Python file with `what` as a module whose name begins with `prefix`.

    Raises MeasureError for a file that is not there or cannot be loaded.
    """
    if not path.is_file():
        raise MeasureError(f"{path}: no such file; expected a Python file with {what}")
    name = f"{prefix}{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise MeasureError(f"{path}: not a Python file; its name must end in .py")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the file does
        raise MeasureError(one_line(f"{path}: it cannot be loaded ({type(error).__name__}: {error})")) from error
    return module


def measure_tables() -> Mapping[str, Table]:
    """Return what the tables of all measures must hold, by name. They lie in a run folder as NAME.parquet."""
    return {name: table for one in measures() for name, table in one.tables.items()}


def write_measures(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables of measures by name into `folder`; ValueError says what is wrong with one."""
    known = measure_tables()
    for name, frame in tables.items():
        known[name].write(frame, folder, name)


@cache
def _installed() -> tuple[type[Reported], ...]:
    """Return the measures of installed packages."""
    return tuple(one for point in entry_points(group=GROUP) for module in _modules(point.load()) for one in _of(module))


def _modules(loaded: ModuleType) -> Iterator[ModuleType]:
    """Yield a module, or those of a package."""
    if hasattr(loaded, "__path__"):
        for one in iter_modules(loaded.__path__):
            yield import_module(f"{loaded.__name__}.{one.name}")
    else:
        yield loaded


def _of(module: ModuleType) -> Iterator[type[Reported]]:
    """Yield the measures that a module defines."""
    for one in vars(module).values():
        if isinstance(one, type) and issubclass(one, Reported) and one.__module__ == module.__name__ and one.name:
            yield one


def run_tables() -> Mapping[str, Table]:
    """Return what every table that a run folder can have must hold, by the name of its file."""
    return {**TABLES, **measure_tables(), **ATTENTION_TABLES}


def meaning(table: str, column: str) -> str:
    """Return what a column of a run's table means; "" where the table or the column is not declared.

    >>> meaning("counts", "n")
    'Number of items that were scored in the group.'
    """
    return run_tables()[table].meaning(column) if table in run_tables() else ""


def tables_of(run: RunFolder) -> dict[str, Table]:
    """Return the declarations of the tables that a run holds, by the name of their file."""
    return {name: table for name, table in run_tables().items() if (run.folder / f"{name}.parquet").is_file()}


def unread_tables(folder: Path) -> list[str]:
    """Say which tables of a run folder its page leaves out, since no measure that is loaded has them; nothing if none.

    A file that a folder names is never loaded for it: it is code, and may be a stranger's.
    """
    names = sorted({path.stem for path in folder.glob("*.parquet")} - {*run_tables()})
    said = f"The page leaves out tables of measures that are not loaded: {', '.join(names)}."
    return [f"{said} Load them by their files: headscope report RUN --measure FILE."] * bool(names)
