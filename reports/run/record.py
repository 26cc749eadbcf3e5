"""What run.json says of a run, typed: it is written and read as this."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from reports.formats import count, model_title
from reports.messages import one_line


@dataclass(frozen=True)
class Lost:
    """Items that were left out for one reason."""

    split: str
    "select, report, biographies, or a corpus of minimal pairs."
    scope: str
    "What a text was: sentence, window, or the name of a grammar."
    reason: str
    "In words, with what left it out in front."
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadTexts:
    """How much text a model has read."""

    windows: int
    "Sentences, or windows of several."
    words: int
    pieces: int
    "Pieces of all texts, as the tokenizer cuts them."
    unknown: int
    "Words of which the model's vocabulary lacks a part, which it reads as its unknown piece ([UNK])."


WEIGHTS: Final[Mapping[str, str]] = {
    "pretrained": "pretrained weights",
    "random": "randomly initialised weights",
    "permuted": "weights permuted within each matrix",
    "checkpoint": "weights of a checkpoint",
    "train": "weights trained in this run",
}
"model.source of a config -> what it means."


@dataclass(frozen=True)
class ModelFacts:
    """The model that a run has read; None for what is not known."""

    name: str | None = None
    "As the config names it."
    source: str | None = None
    "Where its weights come from, such as pretrained, random or train."
    architecture: str | None = None
    "Its model type, such as bert."
    layers: int | None = None
    heads: int | None = None
    "Of the widest layer."
    max_pieces: int | None = None
    sha256: str | None = None
    "Of its weights as they were loaded."
    tokenizer_sha256: str | None = None
    "Of its tokenizer as it was used."
    settings_sha256: str | None = None
    "Of its config.json."
    revision: str | None = None
    "Commit of the hub; None for a model from elsewhere."
    masked_lm: bool | None = None
    "Whether its weights have a masked-LM head; None where nothing has looked for one."
    layers_of_weights: int | None = None
    "Number of layers with weights of their own, fewer than `layers` where some share them."

    @property
    def title(self) -> str:
        """What pages call it, "" for an unknown one."""
        return model_title(self.name or "")

    @property
    def weights(self) -> str:
        """Which weights it has, in words; those of a folder may be fine-tuned, so they are not called pretrained."""
        if self.source == "pretrained" and self.title != self.name:
            return "weights of its folder"
        return WEIGHTS.get(str(self.source), str(self.source))


@dataclass(frozen=True)
class CorpusFacts:
    """The corpus of a split; None for what is not known."""

    name: str | None = None
    fingerprint: str | None = None
    "Of its texts, as hexadecimal digits."
    documents: int | None = None
    "Number of documents, which intervals resample."
    sentences: int | None = None
    words: int | None = None
    pairs: int | None = None
    "Of the sentences, those that are pairs of texts; None where none is."

    def texts(self, kind: str = "") -> str | None:
        """Return its size, such as "20 sentences" (of a `kind`) or "14 pairs of texts"; None where it is not known."""
        if self.sentences is None:
            return None
        pairs = self.pairs or 0
        alone = [f"{count(self.sentences - pairs)} {kind}sentences"] * (self.sentences > pairs or not pairs)
        return " and ".join([*alone, *[f"{count(pairs)} pairs of texts"] * bool(pairs)])


@dataclass(frozen=True)
class ListFacts:
    """A list that a probe has read beside the corpora."""

    name: str
    "Its path in the data folder."
    sha256: str


@dataclass(frozen=True)
class RunRecord:
    """What run.json says, in its order; the record of a kept part has some fields alone."""

    name: str | None = None
    "The config's name of the run."
    headscope: str | None = None
    started: str | None = None
    "Time in UTC, in the form of ISO 8601."
    resumed: tuple[str, ...] | None = None
    """Parts taken from an interrupted run, see `headscope run --resume`; None where it was not resumed. Times and
    memory are then those of the last attempt."""
    workers: str | None = None
    """Who read controls and checkpoints, such as "2 local workers, 1 thread each"; None where the process of the run
    did. Stages of controls are then the seconds that it waited for them, and peak memory is its own."""
    peak_memory_mb: float | int | None = None
    "The most memory held, in MB of 10**6 bytes."
    versions: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    platform: str | None = None
    cores: int | None = None
    git_commit: str | None = None
    "Of headscope, with + where it has changes; None where it is no checkout."
    threads: int | None = None
    wall_seconds: float | None = None
    "From the start of the run to its last number, in seconds."
    seed: int | None = None
    device: str | None = None
    precision: Mapping[str, str] = field(default_factory=dict)
    "Of the products of weight matrices, fp32 or bf16: of the run's model, and of those that read for controls."
    model: ModelFacts = ModelFacts()
    corpora: Mapping[str, CorpusFacts] = field(default_factory=dict)
    frequencies: ListFacts | None = None
    "The list of word frequencies; None where no probe has read one."
    files: Mapping[str, str] | None = None
    "By path: the sha256 of files of your own with code, rows or pairs; None where the config names none."
    stages: Mapping[str, float] = field(default_factory=dict)
    "Seconds, by stage of the run."
    dropped: tuple[Lost, ...] = ()
    scored: Mapping[str, Mapping[str, ReadTexts]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    "What a reader of the run should know, in sentences."
    command: str | None = None
    "What was typed; None where the run was begun from Python."
    facts: Mapping[str, Mapping[str, Any]] | None = None
    "By measure: what holds for all heads together; None where no measure has noted any."
    questions: Mapping[str, str] | None = None
    "By probe of your own: the sha256 of what it asks about the report split; None where there is none."

    def corpus(self, split: str) -> CorpusFacts:
        """Return the corpus of a split; one without any facts where the record has none."""
        return self.corpora.get(split, CorpusFacts())

    @classmethod
    def of(cls, text: str) -> RunRecord:
        """Return what the text of a run.json says; raises ValidationError where it is none."""
        return _RECORD.validate_json(text, strict=True)

    @property
    def text(self) -> str:
        """The text of its run.json."""
        return json.dumps(asdict(self, dict_factory=_written), indent=2) + "\n"

    def write(self, path: Path) -> None:
        """Write it as the run.json at `path`."""
        path.write_text(self.text, encoding="utf-8")


SOMETIMES: Final = frozenset(("resumed", "workers", "frequencies", "files", "command", "facts", "questions", "pairs"))
"Keys that are left out of run.json where there is nothing to tell; any other is null there."

_RECORD: Final = TypeAdapter(RunRecord)


def _written(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return one object of run.json from the fields of a part of the record."""
    return {key: value for key, value in pairs if value is not None or key not in SOMETIMES}


def read_record(path: Path) -> RunRecord:
    """Return what the run.json at `path` says; keys that are not known here are passed over.

    Raises ValueError that names file and key where it cannot be understood.
    """
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)  # for the line of a mistake
        return RunRecord.of(text)
    except ValidationError as error:
        raise ValueError(one_line(f"{path}: {_mistake(error)}; run again to make a new one")) from error
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ValueError(f"{path}:{line}: not valid JSON ({error}); run again to make a new one") from error


def _mistake(error: ValidationError) -> str:
    """Return the first mistake: its key, what was expected, and what came."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "the whole file"
    if first["type"] == "missing":
        return f"{key} is missing"
    expected = first["msg"].removeprefix("Input should be ")
    return f"{key}: expected {expected}, got {json.dumps(first['input'])}"
