"""Options that several commands have, and what a shell completes them with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer


def _listed(what: str) -> list[str]:
    from experiments.commands.listing import LISTS

    return [next(iter(row.values())) for row in LISTS[what]()]


def _lists() -> Iterable[str]:
    from experiments.commands.listing import LISTS

    return LISTS


def _probes() -> list[str]:
    from probes import probe_names

    return probe_names()


def _fetched() -> list[str]:
    from experiments.commands.fetching import fetchable

    return fetchable()


NAMES: Final[dict[str, Callable[[], Iterable[str]]]] = {
    **{what: partial(_listed, what) for what in ("models", "corpora", "findings")},
    **{"probes": _probes, "lists": _lists, "fetched": _fetched},
}
"What a shell completes -> its names."


def named(what: str) -> Callable[[str], list[str]]:
    """Return what completes the beginning of a name, one of `NAMES`."""
    return lambda incomplete: [name for name in NAMES[what]() if name.startswith(incomplete)]


def divided(given: Sequence[str] | None) -> list[str]:
    """Return what an option was given, with commas or repeated, one by one."""
    return [one for names in given or () for one in names.split(",")]


Changes = Annotated[
    list[str] | None, typer.Option("--set", help="key=value in place of that in the config; repeatable.")
]
Cluster = Annotated[
    str, typer.Option("--cluster", help="Dask workers: local:N, tcp://HOST:PORT of a scheduler, or slurm.")
]
Out = Annotated[Path, typer.Option("--out", help="Folder in which the run folder is made.")]
Page = Annotated[Path, typer.Option("--out", help="Folder of the page and its tables.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
RunFolder = Annotated[Path, typer.Argument(help="A run folder.")]
Probes = Annotated[
    list[str] | None, typer.Option("--probe", help="Only this probe; repeatable.", autocompletion=named("probes"))
]
ModelName = Annotated[
    str, typer.Option("--model", help="A short name, a folder, or hub:owner/name.", autocompletion=named("models"))
]
