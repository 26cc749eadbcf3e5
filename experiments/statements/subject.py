"""Which model findings are compared with, as a person names it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from experiments.statements.rule import CONTROLS
from mha.models.folders import NAMED

if TYPE_CHECKING:
    from mha import Model

SCRATCH = "scratch"
"In the place of a model: the encoders that readings train themselves."

BASE = "minilm"
"The model whose untrained weights are called by their source alone."

ORIGINALS = ("hub:google-bert/bert-base-uncased", "hub:bert-base-uncased")
"Names of the model that most of the papers looked at."


@dataclass(frozen=True)
class Subject:
    """A model by name and source."""

    spoken: str
    'As pages call it: as it was typed, or what was typed before "=".'
    name: str = ""
    "As configs name it; empty for SCRATCH."
    source: str = "pretrained"
    of_model: str = ""
    "Of untrained weights: the trained model that they are compared with, as pages call it."
    own_run: bool = False
    "Whether it is a finished run of one's own, whose folder is its name."

    @classmethod
    def of(cls, spoken: str) -> Self:
        """Understand a short name, a folder, one of a training run, or "hub:owner/name", with a source after a colon.

        "minilm:random" has randomly initialised weights, "random" and "permuted" are short for those of MiniLM;
        "scratch" are encoders that are trained here. What stands before "=" is what pages are to call it: "our
        encoder=runs/prose/seed-1".
        """
        called, equals, model = spoken.partition("=")
        if not equals:
            called = model = spoken
        if model == SCRATCH:
            return cls(SCRATCH)
        from mha.models.model import SOURCES  # torch: not for lists of findings

        name, colon, source = (f"{BASE}:{model}" if model in CONTROLS else model).rpartition(":")
        if not colon or source not in SOURCES:
            name, source = model, "pretrained"
        if source == "pretrained" and name not in NAMED and (Path(name) / "checkpoints").is_dir():
            source = "checkpoint"
        return cls(called, name, source, name if source in CONTROLS else "")

    def untrained(self, kind: str) -> Self:
        """Return random or permuted weights of its shape; those of a training are made from its last checkpoint."""
        name = self.name
        if self.source == "checkpoint":
            from mha.training.checkpoints import find_checkpoint

            name = str(find_checkpoint(Path(name)))
        spoken = kind if self.spoken == BASE else f"{self.spoken}, {kind}"
        return type(self)(spoken, name, kind, self.spoken)

    @property
    def typed(self) -> str:
        """What `of` makes it of again."""
        return self.spoken if self.spoken == self.name or not self.name else f"{self.spoken}={self.name}"

    @property
    def folder(self) -> str:
        """What the folder of its runs is called."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.spoken).strip("-.") or "model"

    @property
    def trained_here(self) -> bool:
        """Whether it stands for the encoders that readings train."""
        return self.spoken == SCRATCH

    @property
    def control(self) -> bool:
        """Whether training did not make its weights."""
        return self.source in CONTROLS

    def original(self, names: tuple[str, ...]) -> bool:
        """Return whether it is one of a paper's own models."""
        return self.source == "pretrained" and self.name.partition("@")[0] in names

    @property
    def changes(self) -> list[str]:
        """What a config has to say to look at it."""
        if self.trained_here:
            return []
        name = self.name if self.name in NAMED or not Path(self.name).is_dir() else str(Path(self.name).resolve())
        return [f"model.name={_quoted(name)}", f"model.source={_quoted(self.source)}"]

    def load(self) -> Model | None:
        """Load it, to say before any work that it is not there; None for SCRATCH."""
        if self.trained_here or self.source == "checkpoint":
            return None
        from mha import load_model

        return load_model(self.name, self.source)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
