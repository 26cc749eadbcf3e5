"""A grid: the models, corpora and seeds whose runs are one job, and the tables that all runs share, read from TOML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from experiments.config.config import NAME, Config, ConfigError
from experiments.config.file import find_config, read_toml, resolve_paths, validated
from experiments.config.section import ConfigTable
from experiments.config.sections import ClusterSection
from experiments.run.config import checked

Title = Annotated[str, StringConstraints(pattern=NAME)]
"What a model or a corpus is called in the names of runs."

REPLACED: Final = ("model", "corpus", "seed")
"Tables and keys of a run's config that a grid has several of."

LEFT_OUT: Final = ("train", "biographies")
"Tables of a run's config that a grid cannot have: a training is one job by itself."


class Grid(ConfigTable):
    """A grid, but for the tables that all of its runs share."""

    name: Title
    "Name of the folder of the atlas."
    models: dict[Title, dict[str, Any]] = Field(min_length=1)
    "Title -> what stands in [model] of a run's config, and the titles of its `corpora` if it reads not all."
    corpora: dict[Title, dict[str, Any]] = Field(min_length=1)
    "Title -> what stands in [corpus] of a run's config."
    seeds: tuple[Annotated[int, Field(ge=0, lt=2**32)], ...] = Field(default=(0,), min_length=1)
    "Seeds of controls, bootstrap and trained probes; of weights where they are random."
    cluster: ClusterSection = ClusterSection()


@dataclass(frozen=True)
class GridRun:
    """One run of a grid."""

    model: str
    corpus: str
    seed: int
    config: Config

    @property
    def name(self) -> str:
        """The name of the run and of its folder."""
        return self.config.name


@dataclass(frozen=True)
class Atlas:
    """What is to be done: the cells of a grid, those of one model one after the other."""

    name: str
    cells: tuple[GridRun, ...]
    cluster: ClusterSection


def load_atlas(path: Path, changes: Sequence[str] = ()) -> Atlas:
    """Read a grid and make the config of every run; `changes` as in `experiments.run.config.load_config`.

    Raises ConfigError with one line that names the file, the key and what was expected, before anything is run.
    """
    path = find_config(path)
    values = read_toml(path, changes)
    for key in (*REPLACED, *LEFT_OUT):
        if key in values:
            instead = {"model": "models", "corpus": "corpora", "seed": "seeds"}.get(key)
            expected = f"a grid has {instead}" if instead else "a grid has none; train first, and name the checkpoint"
            raise ConfigError(f"{path}: {key}: {expected}")
    grid = validated(Grid, {key: values.pop(key) for key in [*values] if key in Grid.model_fields}, path)
    cells = tuple(_cells(grid, values, path))
    names = [cell.name for cell in cells]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"{path}: two runs would be called {twice[0]}; give models or corpora other titles")
    return Atlas(grid.name, cells, grid.cluster)


def _cells(grid: Grid, shared: dict[str, Any], path: Path) -> Iterator[GridRun]:
    for model, corpus, seed in product(grid.models, grid.corpora, dict.fromkeys(grid.seeds)):
        if grid.models[model].get("source") == "train":
            raise ConfigError(f'{path}: models.{model}: source is "train"; train first, and name the checkpoint')
        of_model = dict(grid.models[model])
        if corpus not in _corpora(grid, model, of_model.pop("corpora", [*grid.corpora]), path):
            continue
        about = {"name": f"{model}-{corpus}-{seed}", "model": of_model, "corpus": grid.corpora[corpus]}
        values = deepcopy({**shared, **about, "seed": seed})
        resolve_paths(values, path.parent)
        try:
            config = checked(values, path.parent, path)
        except ConfigError as error:
            raise ConfigError(f"{error} (models.{model} on corpora.{corpus})") from None
        yield GridRun(model, corpus, seed, config)


def _corpora(grid: Grid, model: str, named: Any, path: Path) -> Sequence[str]:
    """Return the titles of the corpora that a model reads; raises ConfigError for one that the grid lacks."""
    unknown = [one for one in named if one not in grid.corpora] if isinstance(named, list) and named else [named]
    if unknown:
        raise ConfigError(f"{path}: models.{model}.corpora: {unknown[0]!r}: expected some of {', '.join(grid.corpora)}")
    return list(map(str, named))
