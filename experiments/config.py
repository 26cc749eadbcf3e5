"""Configs: TOML files read into frozen models that refuse what they do not know."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from experiments.biography_section import BiographiesSection
from experiments.section import ConfigError as ConfigError
from experiments.section import Section
from experiments.train_config import GRAMMAR as GRAMMAR
from experiments.train_config import TrainSection
from mha.batches import REDUCTIONS
from mha.models import NAMED, SOURCES
from probes import get_probe
from probes.corpora import NAMED as CORPORA
from probes.corpora import corpus_path
from probes.pair_corpora import NAMED_PAIRS, pairs_path
from probes.pair_scores import METHODS

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"What a folder may be called."


class ModelSection(Section):
    """Which model is looked at."""

    name: str = "minilm"
    "A short name, a folder (relative to the config file) or a hub id; of a checkpoint the folder of its training."
    source: Literal["pretrained", "random", "shuffled", "checkpoint", "train"] = "pretrained"
    """Weights as loaded, fresh, or shuffled within each matrix; those of a training's checkpoint; or trained as [train]
    says, the last checkpoint of its first seed."""
    step: int | None = Field(default=None, ge=0)
    "Of a checkpoint: the step; the last one where nothing is said."

    @model_validator(mode="after")
    def _nothing_unheard(self) -> Self:
        if self.step is not None and self.source not in ("checkpoint", "train"):
            raise ValueError('\'step\' is for source = "checkpoint" or "train"')
        if self.source == "train" and self.name != ModelSection.model_fields["name"].default:
            raise ValueError("'name' is not for source = \"train\": the model is what [train] says")
        return self


class CorpusPart(Section):
    """A corpus by name or by file."""

    name: str | None = None
    '"grammar", or a name of `headscope list corpora`.'
    path: Path | None = None
    "A CoNLL-U file, relative to the config file."
    first: int | None = Field(default=None, ge=1)
    "Take that many sentences only."
    documents: int = Field(default=400, ge=1)
    "Number of documents of the grammar."
    seed: int = 0
    "Seed of the grammar."

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.name is None) == (self.path is None):
            raise ValueError("a corpus has either a name or a path")
        if self.name not in (None, GRAMMAR, *CORPORA):
            corpus_path(str(self.name))  # says which name was meant
        return self

    @model_validator(mode="after")
    def _nothing_unheard(self) -> Self:
        unheard = ("first",) if self.name == GRAMMAR else ("documents", "seed")
        for key in unheard:
            if getattr(self, key) != CorpusPart.model_fields[key].default:
                kind = "a file; the grammar takes documents" if key == "first" else "the grammar; a file takes first"
                raise ValueError(f"{key!r} is for {kind}")
        return self


class CorpusSection(Section):
    """The two splits: the best heads are chosen on one and told on the other."""

    select: CorpusPart
    report: CorpusPart | None = None
    "Without it the documents of `select` are divided between both splits by a hash of their ids."


class ProbesSection(Section):
    """What is asked."""

    names: tuple[str, ...] = Field(default=("position", "dependency", "agreement", "coreference"), min_length=1)
    trained: bool = False
    "Whether a logistic regression is trained for each head and relation, beside a control task."
    trained_pairs: int = Field(default=500, ge=20)
    "Arcs a label and split that the trained probe is given at the most."

    @model_validator(mode="after")
    def _known(self) -> Self:
        for name in self.names:
            get_probe(name)
            if self.names.count(name) > 1:
                raise ValueError(f"probe {name!r} is named twice")
        return self


class ScoringSection(Section):
    """How maps are read and numbers are made."""

    batch_pieces: int = Field(default=4096, ge=1)
    "Pieces a batch, padding included."
    reduce: Literal["mean", "first"] = "mean"
    "How the pieces of a word are reduced as queries."
    window_words: int = Field(default=100, ge=2)
    "Words a window for probes that look beyond the sentence."
    replicates: int = Field(default=2000, ge=10)
    "Resamples of the bootstrap."
    flips: int = Field(default=9999, ge=19)
    "Random signs of the tests; p cannot be below 1 / (flips + 1)."
    metrics: bool = False
    """Whether the heads are also ranked by mass, rank of gold and area under the curve, at the cost of a further pass
    over the report split."""


class ControlsSection(Section):
    """What goes the same way without the knowledge in question, and counts as a baseline; 0 and false switch off."""

    random: int = Field(default=2, ge=0)
    "Number of models with fresh weights of the same architecture, one a seed."
    shuffled: int = Field(default=3, ge=0)
    "Number of models with the weights shuffled within each matrix, one a seed."
    shuffles_tried: int = Field(default=20, ge=0)
    "Number of such models of which these are the strongest together, on a sample of the selection split."
    words: bool = True
    "Whether the model also reads every sentence with its words in another order."
    arcs: bool = True
    "Whether heads are also scored on random right answers at the distances of gold."

    @model_validator(mode="after")
    def _enough_shuffles(self) -> Self:
        if self.shuffles_tried < self.shuffled:
            raise ValueError(
                f"shuffled = {self.shuffled} of shuffles_tried = {self.shuffles_tried}: try at least as many"
            )
        return self


class VerdictSection(Section):
    """When a head is called specialised in a label, see `probes.statistics.Rule`."""

    alpha: float = Field(default=0.05, gt=0, lt=1)
    "The corrected p must be below this."
    margin: float = Field(default=0.1, ge=0, le=1)
    "The margin over the strongest of the baselines and controls must be at least this."


class BehaviourSection(Section):
    """Which of two sentences the model prefers; for models with a masked-LM head."""

    corpora: tuple[str, ...] = ()
    """"grammar", names of minimal pairs of `headscope list corpora`, or files and folders of such pairs, relative to
    the config file; none where behaviour is not asked for."""
    first: int | None = Field(default=None, ge=1)
    "Take that many pairs of each file (BLiMP: of each paradigm) and of the grammar, which else gives 2,000."
    method: Literal["auto", "masked", "pll"] = "auto"
    "How pairs are decided, see `probes.pair_scores`."
    seed: int = 71
    "Seed of the grammar's pairs, which should be none of a grammar that the model was trained on."

    @model_validator(mode="after")
    def _there(self) -> Self:
        names = [name if name in (GRAMMAR, *NAMED_PAIRS) else pairs_path(name).stem for name in self.corpora]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"minimal pairs {name!r} are named twice")
        return self


class PageSection(Section):
    """What the page shows."""

    examples: int = Field(default=12, ge=0)
    "Number of heads that are shown at work on sentences."


class Config(Section):
    """A run."""

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
    page: PageSection = PageSection()
    biographies: BiographiesSection | None = None
    "Whether, and how, heads are followed through the checkpoints of a training."

    @model_validator(mode="after")
    def _trainable(self) -> Self:
        if self.model.source == "train" and self.train is None:
            raise ValueError('model.source is "train", but there is no table [train] that says what to train')
        if self.biographies is not None and self.model.source not in ("train", "checkpoint"):
            raise ValueError('[biographies] needs the checkpoints of a training: model.source "train" or "checkpoint"')
        return self


class TrainingConfig(Section):
    """A training without a run: what `headscope train` needs of a config."""

    name: str = Field(pattern=NAME)
    train: TrainSection


assert set(SOURCES) == {"pretrained", "random", "shuffled"}
assert set(REDUCTIONS) == {"mean", "first"}
assert set(METHODS) == {"auto", "masked", "pll"}


def load_config(path: Path, changes: Sequence[str] = ()) -> Config:
    """Read a config file; `changes` are "key=value" with dots between tables and TOML values.

    Raises ConfigError with one line that names the file, the key, and what was expected.
    """
    return validated(Config, read_toml(path, changes), path)


def load_training(path: Path, changes: Sequence[str] = ()) -> TrainingConfig:
    """Read what `headscope train` needs of a config file: its name and [train]; other tables must be right as well."""
    found = read_toml(path, changes)
    if found.keys() <= TrainingConfig.model_fields.keys():
        return validated(TrainingConfig, found, path)
    config = validated(Config, found, path)
    if config.train is None:
        raise ConfigError(f"{path}: there is no table [train] that says what to train")
    return TrainingConfig(name=config.name, train=config.train)


def read_toml(path: Path, changes: Sequence[str]) -> dict[str, Any]:
    """Return the tables of a config file with `changes` made and paths absolute; raises ConfigError."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        folder = Path(__file__).parent / "configs"
        shipped = ", ".join(sorted(file.name for file in folder.glob("*.toml")))
        raise ConfigError(f"{path}: no such config; headscope comes with {shipped} in {folder}") from None
    except (IsADirectoryError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a text file ({type(error).__name__})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    for change in changes:
        _apply(found, change)
    _resolve_paths(found, path.parent)
    return found


Kind = TypeVar("Kind", bound=Section)


def validated(kind: type[Kind], found: dict[str, Any], path: Path) -> Kind:
    """Return a section made from the tables of the file at `path`; raises ConfigError with one line."""
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_one_line(error, kind)}") from None


def _apply(found: dict[str, Any], change: str) -> None:
    key, equals, value = change.partition("=")
    if not equals:
        raise ConfigError(f"--set {change}: expected key=value")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    *tables, last = key.strip().split(".")
    for table in tables:
        found = found.setdefault(table, {})
        if not isinstance(found, dict):
            raise ConfigError(f"--set {change}: {table} is not a table")
    found[last] = parsed


def _resolve_paths(found: dict[str, Any], folder: Path) -> None:
    """Make paths absolute: relative to the config; of models and minimal pairs, else to the current folder."""
    corpus = found.get("corpus")
    for part in corpus.values() if isinstance(corpus, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("path"), str):
            part["path"] = str((folder / Path(part["path"]).expanduser()).resolve())
    train = found.get("train")
    if isinstance(train, dict):
        for table, key in (("data", "path"), ("held_out", "path"), ("tokenizer", "folder"), ("data", "dataset")):
            _resolve_texts(train.get(table), key, folder)
    model = found.get("model")
    if isinstance(model, dict) and isinstance(name := model.get("name"), str) and name not in NAMED:
        places = [place for place in (folder / Path(name).expanduser(), Path(name)) if place.is_dir()]
        model["name"] = str(places[0].resolve()) if places else name
    behaviour = found.get("behaviour")
    if isinstance(behaviour, dict) and isinstance(names := behaviour.get("corpora"), list):
        behaviour["corpora"] = [_pairs_place(name, folder) for name in names]


def _pairs_place(name: object, folder: Path) -> object:
    if not isinstance(name, str) or name in (GRAMMAR, *NAMED_PAIRS):
        return name
    places = [place for place in (folder / Path(name).expanduser(), Path(name)) if place.exists()]
    return str(places[0].resolve()) if places else name


def _resolve_texts(part: Any, key: str, folder: Path) -> None:
    """Make a path, or each of several, absolute; the name of a data set only where it is such a folder."""
    if not isinstance(part, dict) or not isinstance(named := part.get(key), str | list):
        return
    names = [named] if isinstance(named, str) else named
    paths = [str((folder / Path(str(name)).expanduser()).resolve()) for name in names]
    if key != "dataset" or Path(paths[0]).is_dir():
        part[key] = paths[0] if isinstance(named, str) else paths


def _one_line(error: ValidationError, kind: type[BaseModel]) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _known_keys(first["loc"][:-1], kind)
        near = difflib.get_close_matches(str(first["loc"][-1]), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known here are {', '.join(known)}"
        return f"unknown key {place!r}; {hint}"
    if first["type"] == "missing":
        return f"{place!r} is missing"
    if first["type"] == "model_type":
        return f"{place}: expected a table with {', '.join(_known_keys(first['loc'], kind))}; got {first['input']!r}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _known_keys(place: tuple[int | str, ...], section: type[BaseModel]) -> list[str]:
    for part in place:
        annotation: Any = section.model_fields[str(part)].annotation
        options = getattr(annotation, "__args__", (annotation,))
        section = next(option for option in options if isinstance(option, type) and issubclass(option, BaseModel))
    return list(section.model_fields)


def resolved(config: Config) -> dict[str, Any]:
    """Return everything that was decided, defaults included, as plain values for TOML."""
    return config.model_dump(mode="json", exclude_none=True)
