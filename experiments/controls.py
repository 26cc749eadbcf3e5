"""The controls of a run: what the best heads achieve without trained weights, order of words or right answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from experiments.config import Config
from mha import Model, load_model
from probes import Document, Probe
from probes.aligned import Places
from probes.draws import shuffled_places
from probes.registry import RANDOM, SHUFFLED, WORDS
from probes.results import Split, control_sums
from probes.tally import Pooled, Question, Tally


@dataclass(frozen=True)
class ModelControl:
    """A control for which a model reads both splits once more."""

    name: str
    "Its name among the baselines: that of the control, with a number from the second seed on."
    control: str
    "One of `probes.registry.CONTROLS`."
    load: Callable[[], Model]
    places: Places | None = None

    def probes(self, probes: Sequence[Probe]) -> list[Probe]:
        """Return the probes for which it makes sense."""
        return [probe for probe in probes if self.control in probe.controls]


def model_controls(config: Config, model: Model) -> list[ModelControl]:
    """Return the controls of a run in which a model reads; `model` is the run's own.

    Weights have the seeds from the run's on. A model that has such weights itself is not its own control: the seeds
    begin after its own.
    """
    controls = []
    for control, source, seeds in (
        (RANDOM, "random", config.controls.random),
        (SHUFFLED, "shuffled", config.controls.shuffled),
    ):
        first = config.seed + (model.source == source)
        for nth in range(seeds):
            name = f"{control} {nth + 1}" if nth else control
            controls.append(ModelControl(name, control, partial(load_model, config.model.name, source, first + nth)))
    if config.controls.words:
        places = partial(shuffled_places, seed=config.seed)
        controls.append(ModelControl(WORDS, WORDS, lambda: model, places))
    return controls


def add_control(name: str, splits: Sequence[Split], heads: Sequence[Pooled]) -> None:
    """Add a control to the baselines of both splits: for every question its best head on the selection split.

    `heads` are its sums on both splits.
    """
    for split, sums in zip(splits, control_sums(*heads), strict=True):
        split.baselines[name] = sums


def on_arcs(tally: Tally) -> Pooled:
    """Return the sums of heads on control arcs, whose labels are pooled already."""
    return dict(tally.pooled(lambda question: (question[2],)))


def of_model(tally: Tally, probes: Sequence[Probe]) -> Pooled:
    """Return sums with pooled labels of all questions that have right answers: broad heads have no control."""
    asked = {
        (probe.name, variant): probe
        for probe in probes
        for variant, targets in probe.targets(Document("", ())).items()
        if not targets.spread
    }

    def pool(question: Question) -> Sequence[str]:
        probe = asked.get(question[:2])
        return () if probe is None else probe.pool(question[2])

    return dict(tally.pooled(pool))
