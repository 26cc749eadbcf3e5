"""Checks of the study: whole runs beside the shortcut, heads planted by weights."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from experiments.inputs.controls import add_control, of_model, on_arcs
from experiments.sandbox.population import LAYERS, ROLES, WIDTH, Sandbox
from mha.planted.heads import BY_WEIGHTS, plant_weights, word_model
from probes import Corpus, Probe, get_probe
from probes.evidence.planted import Planted, planted_changes
from probes.evidence.question import Effort
from probes.evidence.results import Split, add_verdicts, pooled_sums, score_table
from probes.evidence.statistics import VerdictRule
from probes.registry import CONTROL_ARCS, RANDOM
from probes.scoring.arcs import ControlArcs
from probes.scoring.score import Settings, learn_baselines, score_corpus


def whole_run(
    box: Sandbox, planted: Planted, documents: int, seed: int, effort: Effort, rule: VerdictRule
) -> pd.DataFrame:
    """Return the scores of a run with nothing taken from the large pass: new texts, learned baselines, controls."""
    corpora = [Corpus.generated(documents, seed + split) for split in range(2)]
    frames = [_scores(box, planted, corpora, [get_probe(probe)], effort, rule) for probe, _, _ in ROLES.values()]
    return add_verdicts(pd.concat(frames, ignore_index=True), rule)


def _scores(
    box: Sandbox, planted: Planted, corpora: list[Corpus], probes: list[Probe], effort: Effort, rule: VerdictRule
) -> pd.DataFrame:
    texts = [one.sentences() if probes[0].scope == "sentence" else one.windows(100) for one in corpora]
    arcs = ControlArcs(effort.seed) if any(CONTROL_ARCS in probe.controls for probe in probes) else None
    names = sorted({name for probe in probes for name in (*probe.baselines, *probe.rules)})
    baselines = learn_baselines(texts[0], probes, names, arcs=arcs)
    changes = partial(planted_changes, planted)
    outcomes = [
        score_corpus(box.model, part, probes, baselines, Settings(workers=1), arcs=arcs, changes=changes)
        for part in texts
    ]
    splits = [Split(*pooled_sums(outcome, probes)) for outcome in outcomes]
    beside = [on_arcs(outcome.arcs) for outcome in outcomes if outcome.arcs is not None]
    if beside:
        add_control(CONTROL_ARCS, splits, beside)
    others = [score_corpus(box.other, part, probes, {}, Settings(workers=1)).heads for part in texts]
    add_control(RANDOM, splits, [of_model(tally, probes) for tally in others])
    scores = score_table(*splits, shape=(LAYERS, WIDTH), effort=effort, margin=rule.margin)
    asked = {question[1:] for question in ROLES.values()}
    return scores[[pair in asked for pair in zip(scores.variant, scores.label, strict=True)]]


def planted_by_weights(documents: int, seed: int) -> list[dict[str, Any]]:
    """Return, for every place of BY_WEIGHTS, the head that was built for it and the head that a run chooses."""
    corpora = [Corpus.generated(documents, seed + split) for split in range(2)]
    words = {word for corpus in corpora for text in corpus.stream() for word in text.words}
    model = word_model(words, layers=2, heads=4, head_dim=64, positions=60, seed=seed)
    places = {divmod(3 * number + 1, 4): place for number, place in enumerate(BY_WEIGHTS[:2])}
    places |= {(1, number): place for number, place in enumerate(BY_WEIGHTS[2:], start=2)}
    plant_weights(model, places)
    probes = [get_probe("position")]
    outcomes = [
        score_corpus(model, one.sentences(), probes, learn_baselines(one.sentences(), probes, ["uniform"]), Settings())
        for one in corpora
    ]
    splits = [Split(*pooled_sums(outcome, probes)) for outcome in outcomes]
    scores = add_verdicts(score_table(*splits, shape=(2, 4), effort=Effort(seed=seed)), VerdictRule())
    told = scores[(scores.split == "report") & scores.selected].set_index("label")
    return [
        {
            "place": place,
            "planted": f"{layer + 1}-{head + 1}",
            "selected": str(told.name[place]),
            "accuracy": float(told.accuracy[place]),
            "graded": bool(told.grade[place] > 0),
        }
        for (layer, head), place in places.items()
    ]


def with_roles(box: Sandbox, margin: float) -> Planted:
    """Return the heads of a sandbox in which only those of one margin are planted, that of the first grade."""
    keep = {number for (_, grade, at), number in box.layout.planted.items() if (grade, at) == (1, margin)}
    kept = {number: role for number, role in box.layout.roles.items() if number in keep}
    return replace(box.layout, roles=kept).by_head
