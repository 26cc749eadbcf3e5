"""The controls of a run: what the best heads achieve without trained weights, order of words or gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from experiments.config.config import Config
from mha import Model, load_model
from mha.models.model import untrained
from mha.parallel import in_order
from probes import Document, Probe
from probes.corpora.corpus import MemoryTexts, Texts
from probes.evidence.results import (
    Split,
    blind_control_sums,
    control_sums,
    guessed_control_sums,
    known_control_sums,
)
from probes.registry import PERMUTED, RANDOM, WORDS
from probes.scoring.aligned import CHUNK, Places, sample_texts
from probes.scoring.hashed_random import draws, shuffled_places
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Numbers, Pooled, Question, Tally

SAMPLE = 32
"Texts of the selection split on which permutations are tried."

Strengths = Mapping[int, Mapping[Question, float]]
"Seed of permuted weights -> question -> hits of the best head."


@dataclass(frozen=True)
class ModelControl:
    """A control for which a model reads both splits once more."""

    name: str
    "Its name among the baselines: that of the control, with a number from the second seed on."
    control: str
    "One of `probes.registry.CONTROLS`."
    seed: int
    load: Callable[[], Model]
    places: Places | None = None

    def probes(self, probes: Sequence[Probe]) -> list[Probe]:
        """Return the probes for which it makes sense."""
        return [probe for probe in probes if self.control in probe.controls]


def model_controls(config: Config, model: Model, permutations: Sequence[int]) -> list[ModelControl]:
    """Return the controls of a run in which a model reads; `model` is the run's own, `permutations` are seeds.

    Random weights have the seeds from the run's on. A model that has such weights itself is not its own control: the
    seeds begin after its own.
    """
    first, trained = first_seed(config, model, "random"), _trained(config, model)
    controls = []
    for control, source, seeds in (
        (RANDOM, "random", range(first, first + config.controls.random)),
        (PERMUTED, "permuted", permutations),
    ):
        for nth, seed in enumerate(seeds):
            name = f"{control} {nth + 1}" if nth else control
            controls.append(ModelControl(name, control, seed, partial(untrained, trained, source, seed)))
    if config.controls.words:
        places = partial(shuffled_places, seed=config.seed)
        reader = replace(model, precision=config.controls.precision)
        controls.append(ModelControl(WORDS, WORDS, config.seed, lambda: reader, places))
    return controls


def _trained(config: Config, model: Model) -> Model:
    """Return the trained model of which controls are made, which is the run's own unless that is untrained itself."""
    untrained_itself, device = model.source in ("random", "permuted"), model.device.type
    trained = load_model(config.model.reference, device=device) if untrained_itself else model
    return replace(trained, precision=config.controls.precision)


def first_seed(config: Config, model: Model, source: str) -> int:
    """Return the seed of the first control with weights of that source; a model is not its own control."""
    return config.seed + (model.source == source)


def selected_permutations(config: Config, model: Model, measure: Callable[[Sequence[int]], Strengths]) -> list[int]:
    """Return the seeds of the permuted weights that a run reads in full, the strongest first.

    Permutations differ widely in what their best heads attend to: one may have a head with nine tenths of its words on
    [CLS] and the next none with half. A few taken at random are therefore no yardstick; these are the strongest
    together of `controls.permutations_tried`, as `measure` finds them (see `permutation_strengths`).
    """
    first, keep = first_seed(config, model, "permuted"), config.controls.permuted
    seeds = range(first, first + config.controls.permutations_tried)
    if keep in (0, len(seeds)):
        return [*seeds[:keep]]
    tried = measure(seeds)
    best = np.array([[tried[seed][question] for question in tried[first]] for seed in seeds])
    return [seeds[place] for place in strongest_together(best, keep)]


def permutation_strengths(
    config: Config, model: Model, texts: Texts, probes: Sequence[Probe], settings: Settings, seeds: Sequence[int]
) -> Strengths:
    """Return how many hits the best heads of each of these permuted weights have on a sample of `texts`.

    They are read in float32 whatever the precision of model and controls: near ties are common, and in bfloat16 other
    permutations would be selected.
    """
    asked = [probe for probe in probes if PERMUTED in probe.controls]
    if not asked or not len(texts):
        return {seed: {} for seed in seeds}
    sample = MemoryTexts(sample_texts(texts, SAMPLE))
    trained = replace(_trained(config, model), precision="fp32")

    def strength(seed: int) -> dict[Question, float]:
        permuted = untrained(trained, "permuted", seed)
        heads = of_model(score_corpus(permuted, sample, asked, {}, settings, hits_alone=True).heads, asked)
        return {question: float(sums.hits.sum(0).max()) for question, sums in heads.items()}

    return dict(zip(seeds, in_order(strength, seeds), strict=True))


def strongest_together(best: Numbers, keep: int) -> list[int]:
    """Return `keep` rows of `best` [model, question], hits of each model's best head, the strongest first.

    Each is the one that, with those before it, has the most hits if every question is answered by the best of them.
    """
    chosen: list[int] = []
    reached = np.zeros(best.shape[1])
    for _ in range(keep):
        together = np.maximum(best, reached).sum(1)
        together[chosen] = -1
        chosen.append(int(together.argmax()))
        reached = np.maximum(reached, best[chosen[-1]])
    return chosen


def add_control(name: str, splits: Sequence[Split], heads: Sequence[Pooled]) -> None:
    """Add a control to the baselines of both splits: for every question its best head on both together.

    `heads` are its sums on the two.
    """
    for split, sums in zip(splits, control_sums(*heads), strict=True):
        split.baselines[name] = sums
    splits[1].blind[name] = blind_control_sums(*heads)


def add_sampled_control(name: str, splits: Sequence[Split], heads: Sequence[Pooled]) -> None:
    """Add a control that read all of the report split, and of the selection split a sample, to the baselines.

    `heads` are its sums on the two. Leads on the report split are those over its head that is best there, bounds of
    leads take the one that is best on the sample. To the selection split nothing is added, and a question that it does
    not ask has no control.
    """
    sample, report = heads[0], {question: sums for question, sums in heads[1].items() if question in splits[0].heads}
    splits[1].baselines[name] = known_control_sums(report)
    splits[1].blind[name] = guessed_control_sums(sample, report)


def of_documents(texts: Texts, count: int) -> Texts:
    """Return the texts of `count` documents, those with the smallest hash of their ids; all where there are no more."""
    ids = {text.id for chunk in texts.chunks(CHUNK) for text in chunk}
    if len(ids) <= count:
        return texts
    chosen = set(sorted(ids, key=lambda document: draws("documents of controls", document))[:count])
    return MemoryTexts([text for chunk in texts.chunks(CHUNK) for text in chunk if text.id in chosen])


def choice_gain(report: Split, names: Sequence[str]) -> Numbers:
    """Return how much more accurate controls are by the head that is best on the report split than by the other one.

    One number a control of these and question, in [0, 1].
    """
    gains = [
        (sums.hits.sum() - report.blind[name][question].hits.sum()) / sums.n.sum()
        for name in names
        for question, sums in report.baselines[name].items()
    ]
    return np.array(gains)


def choice_note(report: Split, scope: str, count: int) -> str:
    """Say where controls on a sample of `count` documents have their heads from; "" where there are no controls."""
    gain = 100 * choice_gain(report, [*report.blind])
    if not gain.size:
        return ""
    return (
        f"{scope}s: models of controls read all of the report split and {count} documents of the selection split; "
        "leads are over a control's head that is best on the report split itself, which has "
        f"{gain.mean():.1f} points more than the one that is best on those documents (mean over controls and "
        f"questions; {gain.max():.1f} at the most), from which bounds of leads are taken"
    )


def on_arcs(tally: Tally) -> Pooled:
    """Return the sums of heads on control arcs, whose labels are pooled already."""
    return dict(tally.pooled(lambda question: (question[2],)))


def of_model(tally: Tally, probes: Sequence[Probe]) -> Pooled:
    """Return sums with pooled labels of all questions that have gold: broad heads have no control."""
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
