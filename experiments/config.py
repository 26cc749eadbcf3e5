"""Configs: TOML files read into frozen models that refuse what they do not know."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from experiments.biography_section import BiographiesSection
from mha.batches import REDUCTIONS
from mha.models import NAMED, SOURCES
from probes import get_probe
from probes.corpora import NAMED as CORPORA
from probes.corpora import corpus_path

GRAMMAR = "grammar"
"Name of the embedded corpus, which is generated."


class ConfigError(ValueError):
    """A config that cannot be used; the message is one line."""


class Section(BaseModel):
    """A table of a config file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelSection(Section):
    """Which model is looked at."""

    name: str = "minilm"
    "A short name, a folder (relative to the config file) or a hub id."
    source: Literal["pretrained", "random", "shuffled"] = "pretrained"
    "Weights as loaded, fresh, or shuffled within each matrix."


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
    shuffled: int = Field(default=1, ge=0)
    "Number of models with the weights shuffled within each matrix, one a seed."
    words: bool = True
    "Whether the model also reads every sentence with its words in another order."
    arcs: bool = True
    "Whether heads are also scored on random right answers at the distances of gold."


class VerdictSection(Section):
    """When a head is called specialised in a label, see `probes.statistics.Rule`."""

    alpha: float = Field(default=0.05, gt=0, lt=1)
    "The corrected p must be below this."
    margin: float = Field(default=0.1, ge=0, le=1)
    "The margin over the strongest of the baselines and controls must be at least this."


class PageSection(Section):
    """What the page shows."""

    examples: int = Field(default=12, ge=0)
    "Number of heads that are shown at work on sentences."


class Config(Section):
    """A run."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    "Name of the run folder."
    seed: int = Field(default=0, ge=0, lt=2**32)
    "Of controls, bootstrap and trained probes."
    model: ModelSection = ModelSection()
    corpus: CorpusSection
    probes: ProbesSection = ProbesSection()
    scoring: ScoringSection = ScoringSection()
    controls: ControlsSection = ControlsSection()
    verdict: VerdictSection = VerdictSection()
    page: PageSection = PageSection()
    biographies: BiographiesSection | None = None
    "Whether, and how, heads are followed through the checkpoints of a training."


assert set(SOURCES) == {"pretrained", "random", "shuffled"}
assert set(REDUCTIONS) == {"mean", "first"}


def load_config(path: Path, changes: Sequence[str] = ()) -> Config:
    """Read a config file; `changes` are "key=value" with dots between tables and TOML values.

    Raises ConfigError with one line that names the file, the key, and what was expected.
    """
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
    try:
        return Config.model_validate(found)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_one_line(error)}") from None


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
    """Make paths absolute: of corpora, relative to the config file; of models, to it or else to the current folder."""
    corpus = found.get("corpus")
    for part in corpus.values() if isinstance(corpus, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("path"), str):
            part["path"] = str((folder / Path(part["path"]).expanduser()).resolve())
    model = found.get("model")
    if isinstance(model, dict) and isinstance(name := model.get("name"), str) and name not in NAMED:
        places = [place for place in (folder / Path(name).expanduser(), Path(name)) if place.is_dir()]
        model["name"] = str(places[0].resolve()) if places else name


def _one_line(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _known_keys(first["loc"][:-1])
        near = difflib.get_close_matches(str(first["loc"][-1]), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known here are {', '.join(known)}"
        return f"unknown key {place!r}; {hint}"
    if first["type"] == "missing":
        return f"{place!r} is missing"
    if first["type"] == "model_type":
        return f"{place}: expected a table with {', '.join(_known_keys(first['loc']))}; got {first['input']!r}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _known_keys(place: tuple[int | str, ...]) -> list[str]:
    section: type[BaseModel] = Config
    for part in place:
        annotation: Any = section.model_fields[str(part)].annotation
        options = getattr(annotation, "__args__", (annotation,))
        section = next(option for option in options if isinstance(option, type) and issubclass(option, BaseModel))
    return list(section.model_fields)


def resolved(config: Config) -> dict[str, Any]:
    """Return everything that was decided, defaults included, as plain values for TOML."""
    return config.model_dump(mode="json", exclude_none=True)
