"""What run.json says of a run, typed: it is written and read as this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from inspect import signature
from typing import Any, Self, TypeVar


@dataclass(frozen=True)
class Lost:
    """Items that were left out for one reason."""

    split: str = ""
    scope: str = ""
    reason: str = ""
    count: int = 0
    examples: tuple[str, ...] = ()
    "The first few of them."

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in run.json."""
        return asdict(self) | {"examples": list(self.examples)}


@dataclass(frozen=True)
class ReadTexts:
    """How much text a model has read."""

    windows: int = 0
    "Sentences, or windows of several."
    words: int = 0
    pieces: int = 0


@dataclass(frozen=True)
class ModelFacts:
    """The model that a run has read; None for what an older run did not write."""

    name: str | None = None
    source: str | None = None
    architecture: str | None = None
    layers: int | None = None
    heads: int | None = None
    max_pieces: int | None = None
    sha256: str | None = None
    "Of its weights as they were loaded."


@dataclass(frozen=True)
class CorpusFacts:
    """The corpus of a split; None for what an older run did not write."""

    name: str | None = None
    fingerprint: str | None = None
    documents: int | None = None
    sentences: int | None = None
    words: int | None = None


@dataclass(frozen=True)
class RunRecord:
    """What run.json says; a field is empty where an older run did not write it."""

    name: str | None = None
    headscope: str | None = None
    "Its version."
    started: str | None = None
    wall_seconds: float | None = None
    command: str | None = None
    seed: int | None = None
    model: ModelFacts = ModelFacts()
    corpora: Mapping[str, CorpusFacts] = field(default_factory=dict)
    "By split."
    versions: Mapping[str, str] = field(default_factory=dict)
    "By package."
    stages: Mapping[str, float] = field(default_factory=dict)
    "Seconds."
    scored: Mapping[str, Mapping[str, ReadTexts]] = field(default_factory=dict)
    "By split and scope."
    dropped: tuple[Lost, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the record that these values of run.json are; a key that is not known here is left out."""
        plain = ("name", "headscope", "started", "wall_seconds", "command", "seed")
        return cls(
            **{key: values.get(key) for key in plain},
            model=_known(ModelFacts, values.get("model")),
            corpora={split: _known(CorpusFacts, one) for split, one in (values.get("corpora") or {}).items()},
            versions=values.get("versions") or {},
            stages=values.get("stages") or {},
            scored={
                split: {scope: _known(ReadTexts, one) for scope, one in scopes.items()}
                for split, scopes in (values.get("scored") or {}).items()
            },
            dropped=tuple(_known(Lost, one) for one in values.get("dropped") or ()),
            notes=tuple(map(str, values.get("notes") or ())),
        )


Kind = TypeVar("Kind")


def _known(kind: Callable[..., Kind], values: Mapping[str, Any] | None) -> Kind:
    """Return a part of the record from those of its values that are fields of it."""
    names = signature(kind).parameters
    return kind(**{key: value for key, value in (values or {}).items() if key in names})
