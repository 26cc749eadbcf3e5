"""What every table of a config file is: frozen, and closed to keys that it does not know."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mha.messages import OneLineError, nearest_name
from mha.models.folders import HUB
from probes import get_probe, probe_names
from probes.pairs.corpora import GENERATED_PAIRS, NAMED_PAIRS, pairs_name
from probes.registry import UnknownProbeError

GRAMMAR = "grammar"
"Name of the embedded corpus, which is generated."

LOSS, EMBEDDING = "loss", "embedding"
"Behaviours that are measured on the sentences of the report split: the masked-LM loss, and the sentence embedding."

LABELS = "labelled rows (.jsonl, .csv or .tsv with text and label)"
"What a file says that is a behaviour of the model's own classifier."

NAMED_BEHAVIOURS = (LOSS, EMBEDDING, *GENERATED_PAIRS, *NAMED_PAIRS)
"Behaviours that are no file or folder."


class ConfigError(OneLineError):
    """A config that cannot be used; the message is one line."""


class ConfigTable(BaseModel):
    """A table of a config file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class Placed:
    """Marks values that are files or folders, relative to the config, but for those that are names."""

    names: Container[str] = field(repr=False)


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        try:
            get_probe(name)
        except UnknownProbeError as error:
            raise ValueError(f"{error}{_as_label(name)}") from None
        if names.count(name) > 1:
            raise ValueError(f"probe {name!r} is named twice")
    return names


def _as_label(name: str) -> str:
    """Say which probe has a label of this name in a little text of the embedded grammar; "" unless it is one alone."""
    from probes.grammar import generate

    documents = list(generate(12, 0))
    having = []
    for probe in map(get_probe, probe_names()):
        if probe.needs not in ("frequencies", "answers"):  # of a file
            found = (targets for text in documents for targets in probe.targets(text).values())
            having += [probe.name] * any(name in probe.pool(label) for targets in found for label in targets.label)
    return f" ({name!r} is a label of {having[0]}: name that probe)" if len(having) == 1 else ""


ProbeNames = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_known)]
"Names of probes, each once."


def _there(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in NAMED_BEHAVIOURS and not name.startswith(HUB) and not Path(name).expanduser().exists():
            known = f"known are {', '.join(NAMED_BEHAVIOURS)}, and files of minimal pairs or of {LABELS}"
            near = nearest_name(name, NAMED_BEHAVIOURS, known)
            raise ValueError(f"unknown behaviour {name!r}; {near}{'' if near == known else f' ({known})'}")
    stems = [*map(pairs_name, names)]
    for name in stems:
        if stems.count(name) > 1:
            raise ValueError(f"behaviour {name!r} is named twice")
    return names


BehaviourNames = Annotated[tuple[str, ...], AfterValidator(_there), Placed(NAMED_BEHAVIOURS)]
"""Names of behaviours, each once: "loss", "embedding", minimal pairs as in [behaviour], and
files of labelled rows for the model's own classifier (relative to the config file)."""
