"""What a worker does: one run of a grid, unless it is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from experiments.cluster.calls import one_call
from experiments.config.config import Config
from experiments.record.job import delete_parts
from experiments.run.config import checked
from experiments.run.folder import is_done
from experiments.run.run import resume_or_run
from mha import Model, load_model
from mha.hooks import HookError
from mha.parallel import threads
from reports import Run
from reports.run.folder import RunFolderError

WITH_SEED = ("random", "permuted")
"Sources of models whose weights the seed draws."


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    kept: bool = False
    "Whether it was there already."
    failed: str = ""
    "What is wrong with what it was given."


def do_run(values: Mapping[str, Any], out: str, number: int) -> Done:
    """Do the run of a resolved config in the folder `out`, with so many threads, or torch's own number for 0.

    A complete run of that config is kept if it can be read, and an interrupted one is resumed.

    A mistake of the user ends in `failed`; any other error is raised.
    """
    config = checked(dict(values), Path(), Path("config.toml"))
    if is_done(Path(out) / config.name, config) and _can_be_read(Path(out) / config.name):
        delete_parts(Path(out) / config.name)  # of a run that was killed when it was complete
        return Done(kept=True)
    try:
        with one_call(), threads(number or torch.get_num_threads()):
            resume_or_run(config, Path(out), overwrite=True, model=_model(config), page=False)
    except (ValueError, FileNotFoundError, HookError) as error:
        return Done(failed=" ".join(str(error).split()))
    return Done()


def _can_be_read(folder: Path) -> bool:
    try:
        Run.open(folder)
    except (FileNotFoundError, RunFolderError):
        return False
    return True


def _model(config: Config) -> Model | None:
    """Return the model of a run, the one that this process loaded last where it is the same; None for a checkpoint."""
    section = config.model
    if section.source == "checkpoint":
        return None
    seed = config.seed if section.source in WITH_SEED else 0
    return replace(_loaded(section.reference, section.source, seed, section.device), precision=section.precision)


@lru_cache(maxsize=1)
def _loaded(reference: str, source: str, seed: int, device: str) -> Model:
    return load_model(reference, source, seed, device=device)
