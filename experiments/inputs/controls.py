"""The controls of a run: what the best heads reach without trained weights, or without the order of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from experiments.config.config import Config
from mha import Model, load_model
from mha.models.model import UNTRAINED, refuse_other_weights, untrained
from probes import Document, Probe
from probes.registry import PERMUTED, RANDOM, WORDS
from probes.scoring.aligned import Places
from probes.scoring.hashed_random import shuffled_places
from probes.scoring.tally import Pooled


@dataclass(frozen=True)
class Control:
    """One model that reads for a control."""

    kind: str
    "One of `probes.registry.CONTROLS`."
    number: int
    "Among those of its kind, from 0."
    seed: int
    load: Callable[[], Model]
    places: Places | None = None
    "Where it reads the words of a text; None for where they stand."

    @property
    def name(self) -> str:
        """Its kind, with a number from the second on."""
        return f"{self.kind} {self.number + 1}" if self.number else self.kind

    def controlled(self, probes: Sequence[Probe]) -> frozenset[tuple[str, str]]:
        """Return probe and variant of the questions that it is a control of: broad heads, without gold, have none."""
        nothing = Document("", ())
        return frozenset(
            (probe.name, variant)
            for probe in probes
            if self.kind in probe.controls
            for variant, targets in probe.targets(nothing).items()
            if not targets.spread
        )

    def applicable(self, pooled: Pooled, probes: Sequence[Probe]) -> Pooled:
        """Return the sums of the questions that it is a control of."""
        known = self.controlled(probes)
        return {question: sums for question, sums in pooled.items() if question[:2] in known}


def controls(config: Config, model: Model) -> list[Control]:
    """Return the controls of a run; `model` is the run's own.

    They have the seeds from the run's on. A model that is untrained itself is not its own control: seeds of its kind
    begin after its own.
    """
    trained, wanted = _trained(config, model), config.controls
    reader = replace(model, precision=wanted.precision)
    found = list[Control]()
    for kind, source, count in ((RANDOM, "random", wanted.random), (PERMUTED, "permuted", wanted.permuted)):
        first = first_seed(config, model, source)
        for number in range(count):
            seed = first + number
            found.append(Control(kind, number, seed, partial(untrained, trained, source, seed)))
    for number in range(wanted.orders):
        seed = config.seed + number
        found.append(Control(WORDS, number, seed, lambda: reader, partial(shuffled_places, seed=seed)))
    return found


def _trained(config: Config, model: Model) -> Model:
    """Return the trained model of which controls are made, which is the run's own unless that is untrained itself."""
    if model.source in UNTRAINED:
        trained = load_model(config.model.reference, device=model.device.type)
        refuse_other_weights(model, trained.sha256)
    else:
        trained = model
    return replace(trained, precision=config.controls.precision)


def first_seed(config: Config, model: Model, source: str) -> int:
    """Return the seed of the first control with weights of that source; a model is not its own control."""
    return config.seed + (model.source == source)
