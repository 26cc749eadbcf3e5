"""Options that several commands have, and what a shell completes them with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def model_names(incomplete: str) -> list[str]:
    """Return the models with short names that begin so."""
    from experiments.commands.listing import models

    return [row["name"] for row in models() if row["name"].startswith(incomplete)]


def corpus_names(incomplete: str) -> list[str]:
    """Return the named corpora that begin so."""
    from experiments.commands.listing import corpora

    return [row["name"] for row in corpora() if row["name"].startswith(incomplete)]


def probe_names(incomplete: str) -> list[str]:
    """Return the probes that begin so."""
    from probes import probe_names as names

    return [name for name in names() if name.startswith(incomplete)]


def finding_names(incomplete: str) -> list[str]:
    """Return the published findings that begin so."""
    from experiments.commands.listing import findings

    return [row["id"] for row in findings() if row["id"].startswith(incomplete)]


def list_names(incomplete: str) -> list[str]:
    """Return the lists that begin so."""
    from experiments.commands.listing import LISTS

    return [name for name in LISTS if name.startswith(incomplete)]


def fetched_names(incomplete: str) -> list[str]:
    """Return the corpora that can be fetched whose names begin so."""
    from experiments.commands.fetching import fetchable

    return [name for name in fetchable() if name.startswith(incomplete)]


Cluster = Annotated[
    str, typer.Option("--cluster", help="Dask workers: local:N, tcp://HOST:PORT of a scheduler, or slurm.")
]
Out = Annotated[Path, typer.Option("--out", help="Folder in which the run folder is made.")]
ModelName = Annotated[
    str, typer.Option("--model", help="A short name, a folder, or hub:owner/name.", autocompletion=model_names)
]
