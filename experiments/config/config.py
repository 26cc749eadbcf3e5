"""What a run is asked to do, but for its measures, whose keys are their tables; frozen, and closed to other keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self, cast

from pydantic import Field, create_model, model_validator

from experiments.config.section import ConfigError as ConfigError
from experiments.config.section import ConfigTable, Placed
from experiments.config.sections import BehaviourSection as BehaviourSection
from experiments.config.sections import BiographiesSection, ClusterSection
from experiments.config.sections import ControlsSection as ControlsSection
from experiments.config.sections import CorpusPart as CorpusPart
from experiments.config.sections import CorpusSection as CorpusSection
from experiments.config.sections import ModelSection as ModelSection
from experiments.config.sections import PageSection as PageSection
from experiments.config.sections import ProbesSection as ProbesSection
from experiments.config.sections import ScoringSection as ScoringSection
from experiments.config.sections import VerdictSection as VerdictSection
from experiments.config.train_config import GRAMMAR as GRAMMAR
from experiments.config.train_config import TrainSection

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"What a folder may be called."


class Tables(ConfigTable):
    """What stands before the tables of measures in a config."""

    name: str = Field(pattern=NAME)
    "Name of the run folder."
    seed: int = Field(default=0, ge=0, lt=2**32)
    "Of controls, bootstrap and trained probes."
    model: ModelSection = ModelSection()
    train: TrainSection | None = None
    'A training, for `headscope train` and for source = "train".'
    corpus: CorpusSection
    probes: ProbesSection = ProbesSection()
    scoring: ScoringSection = ScoringSection()
    controls: ControlsSection = ControlsSection()
    verdict: VerdictSection = VerdictSection()
    behaviour: BehaviourSection = BehaviourSection()
    measures: Annotated[tuple[str, ...], Placed(())] = ()
    "Python files with measures of your own, relative to the config file; their tables stand in the config as well."


class LastTables(ConfigTable):
    """What stands after the tables of measures."""

    page: PageSection = PageSection()
    biographies: BiographiesSection | None = None
    "Whether, and how, heads are followed through the checkpoints of a training."
    cluster: ClusterSection = Field(default=ClusterSection(), exclude=True)
    "Workers that read controls and checkpoints; no number depends on them, so they are not part of what a run is."


class Config(LastTables, Tables):
    """A run; the tables of its measures are in `experiments.run.config.RunConfig`, and only with them is one made."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if type(self) is Config:
            raise TypeError("a config is made by experiments.run.config: RunConfig has the tables of the measures too")
        if self.model.source == "train" and self.train is None:
            raise ValueError('model.source is "train", but there is no table [train]')
        if self.biographies is not None and self.model.source not in ("train", "checkpoint"):
            raise ValueError('[biographies] needs the checkpoints of a training: model.source "train" or "checkpoint"')
        for name in type(self).model_fields:
            if hasattr(section := getattr(self, name), "check"):
                section.check(self)
        return self


def with_tables(name: str, module: str, sections: Mapping[str, type[ConfigTable]]) -> type[Config]:
    """Return the model of configs that have these tables of measures too, by name, between [behaviour] and [page].

    Fields stand in the order of the reversed bases, so the new tables come in between those of `Config` by a base of
    their own. `name` is what the model is called in `module`.
    """
    fields: dict[str, Any] = {table: (section, section()) for table, section in sections.items()}
    measures = create_model("Measures", __base__=Tables, __module__=module, **fields)
    bases: Any = (Config, measures)  # which the types of pydantic want to be of one class
    return cast(type[Config], create_model(name, __base__=bases, __module__=module, __doc__=Config.__doc__))


class TrainingConfig(ConfigTable):
    """A training without a run: what `headscope train` needs of a config."""

    name: str = Field(pattern=NAME)
    train: TrainSection


def resolved(config: Config) -> dict[str, Any]:
    """Return everything that was decided, defaults included, as plain values for TOML."""
    return config.model_dump(mode="json", exclude_none=True)


def flat_keys(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key of nested tables with the names of those it lies in, as "scoring.maps", and its value."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat_keys(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def differing_keys(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the keys of nested tables that have other values, named as `flat_keys` does."""
    one, other = dict(flat_keys(before)), dict(flat_keys(now))
    return [key for key in dict.fromkeys([*one, *other]) if one.get(key) != other.get(key)]
