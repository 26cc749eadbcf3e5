"""The model of a finished run, loaded again."""

from __future__ import annotations

from dataclasses import replace

from experiments.config.file import read_toml
from experiments.inputs.open_model import open_model
from experiments.record.progress import silent
from experiments.run.config import RunConfig, checked
from experiments.training.train import open_checkpoint
from mha import Model
from reports import Run


def open_model_of(run: Run) -> Model:
    """Load the model of a finished run on the CPU; one that the run trained lies in its folder.

    Measures of files have no part in it: they are code, and may be a stranger's.
    """
    path = run.folder / "config.toml"
    values = {
        key: value for key, value in read_toml(path, ()).items() if key in {*RunConfig.model_fields} - {"measures"}
    }
    config = checked(values, path.parent, path)
    config = config.model_copy(update={"model": config.model.model_copy(update={"device": "cpu"})})
    if config.model.source == "train" and config.train is not None:
        model = open_checkpoint(run.folder / f"seed-{config.train.seeds[0]}", config.model.step)[0]
        return replace(model, name=run.name)
    return open_model(config, run.folder.parent, silent).model
