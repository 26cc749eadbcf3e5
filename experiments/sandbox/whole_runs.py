"""Whole runs: beside the shortcut, of heads planted by weights, and on models without knowledge.

No head of a model without knowledge is to have a grade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.config import Config
from experiments.inputs.controls import Control
from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import LoadedModel, open_model
from experiments.record.run_record import Journal
from experiments.run.config import RunConfig
from experiments.run.context import SCOPES, RunContext
from experiments.run.scope import Part
from experiments.sandbox.population import ROLES, Sandbox, head_of
from experiments.statements.rule import CONTROLS
from mha import load_model
from mha.planted.heads import BY_WEIGHTS, plant_weights, word_model
from probes import Corpus, Probe, get_probe
from probes.corpora.named import NAMED, data_folder
from probes.evidence.planted import planted_changes
from probes.evidence.question import Effort
from probes.evidence.results import Split, add_verdicts, pooled_sums, score_table
from probes.evidence.simulation import MODELS
from probes.evidence.statistics import VerdictRule
from probes.maps.relation_attention import RelationAttention
from probes.registry import RANDOM
from probes.scoring.score import Settings, learn_baselines, score_corpus
from probes.scoring.tally import Pooled
from reports.progress import silent

TREEBANKS = {"ewt": 1.0, "gum": 2.5}
"Real corpora, and how many times the sentences are taken: GUM's documents are few and long."


def null_corpora() -> list[str]:
    """Return the corpora of runs on models without knowledge: the grammar, and the treebanks that are there."""
    return ["grammar", *(name for name in TREEBANKS if (data_folder() / NAMED[f"{name}-dev"].path).exists())]


def whole_config(corpus: str, source: str, seed: int, sentences: int) -> Config:
    """Return the config of a run on MiniLM's architecture with pretrained, random or permuted weights, all controls on.

    `sentences` are those of either split; of the grammar a tenth as many documents.
    """
    if corpus == "grammar":
        documents = {"name": corpus, "documents": sentences // 10}
        splits = {"select": documents | {"seed": 1}, "report": documents | {"seed": 2}}
    else:
        first = round(sentences * TREEBANKS[corpus])
        splits = {
            split: {"name": f"{corpus}-{part}", "first": first}
            for split, part in (("select", "train"), ("report", "dev"))
        }
    model = {"name": "minilm", "source": source}
    return RunConfig.model_validate({"name": "null", "seed": seed, "model": model, "corpus": splits})


def real_split(corpus: str, sentences: int) -> Split:
    """Return the sums of the report split of a run on pretrained weights, of what single sentences are asked."""
    config = whole_config(corpus, "pretrained", 0, sentences)
    run = RunContext(config, open_model(config, Path(), silent), open_corpora(config), Journal(""), silent)
    return Part(run, run.scopes[0]).score().splits[1]


@dataclass(frozen=True)
class SharingPart(Part):
    """The part of a run that takes what it can from runs of other seeds."""

    shared: dict[tuple[str, int], Pooled] = field(default_factory=dict)
    "Kind and seed of a control -> sums of its heads on the texts of the scope."

    def control_heads(self, one: Control, observers: Sequence[RelationAttention]) -> Pooled:
        """Return the sums of a control's heads, read once for all runs but for words in another order."""
        if one.places is not None:
            return super().control_heads(one, ())
        key = (one.kind, one.seed)
        if key not in self.shared:
            self.shared[key] = super().control_heads(one, ())
        return self.shared[key]


@dataclass
class NullRuns:
    """Runs of many seeds on one corpus, as `headscope run` does them, but for measures and the page."""

    corpus: str
    sentences: int
    corpora: tuple[Corpus, Corpus] = field(init=False)
    shared: dict[str, dict[tuple[str, int], Pooled]] = field(default_factory=dict)
    "Scope -> what runs of several seeds share."

    def __post_init__(self) -> None:
        """Open the corpus."""
        self.corpora = open_corpora(whole_config(self.corpus, CONTROLS[0], 0, self.sentences))

    def scores(self, source: str, seed: int) -> pd.DataFrame:
        """Return the scores of a run, with verdicts."""
        config = whole_config(self.corpus, source, seed, self.sentences)
        model = load_model(config.model.reference, source, seed, device=config.model.device)
        run = RunContext(config, LoadedModel(model, config), self.corpora, Journal(""), silent)
        frames: list[pd.DataFrame] = []
        for scope in run.scopes:
            part = SharingPart(run, scope, shared=self.shared.setdefault(scope, {}))
            frames += part.score().frames
        return run.verdicts(frames)

    def row(self, source: str, seed: int) -> dict[str, Any]:
        """Return which heads have a grade on the report split."""
        scores = self.scores(source, seed)
        told = scores[(scores.split == "report") & scores.p_adjusted.notna()]
        declared = told[told.grade > 0]
        return {
            "corpus": self.corpus,
            "source": source,
            "seed": seed,
            "documents": self.corpora[1].size()["documents"],
            "labels": int(told.groupby(["probe", "variant", "label"]).ngroups),
            "graded": len(declared),
            "declared": [
                f"{row.name} {row.probe} {row.variant} {row.label}" for row in declared.itertuples(index=False)
            ],
        }


def null_runs(
    corpus: str, seeds: int, sentences: int, progress: Callable[[int, int], None]
) -> Iterator[dict[str, Any]]:
    """Yield a row a kind of weights and seed."""
    runs = NullRuns(corpus, sentences)
    for done, (source, seed) in enumerate(product(CONTROLS, range(seeds)), start=1):
        yield runs.row(source, seed)
        progress(done, len(CONTROLS) * seeds)


def whole_run(
    box: Sandbox, heads: Sequence[int], documents: int, seed: int, effort: Effort, rule: VerdictRule
) -> pd.DataFrame:
    """Return the scores of a run with nothing taken from the large pass: new texts, learned baselines, controls.

    `heads` of the sandbox are scored, as if the model had one layer of no others: p is corrected for their number.
    """
    corpora = [Corpus.generated(documents, seed + split) for split in range(2)]
    probes = [get_probe(probe) for probe, _, _ in ROLES.values()]
    scopes = [[probe for probe in probes if probe.scope == scope] for scope in SCOPES]
    frames = [_scores(box, heads, corpora, part, effort, rule) for part in scopes]
    return add_verdicts(pd.concat(frames, ignore_index=True), rule)


def _scores(
    box: Sandbox, heads: Sequence[int], corpora: list[Corpus], probes: list[Probe], effort: Effort, rule: VerdictRule
) -> pd.DataFrame:
    texts = [one.sentences() if probes[0].scope == "sentence" else one.windows(100) for one in corpora]
    names = sorted({name for probe in probes for name in (*probe.baselines, *probe.rules)})
    baselines = learn_baselines(texts[0], probes, names)
    changes = partial(planted_changes, {head_of(one): role for one, role in box.layout.roles.items() if one in heads})
    outcomes = [
        score_corpus(box.model, part, probes, baselines, Settings(workers=1), changes=changes) for part in texts
    ]
    sums = [pooled_sums(outcome, probes) for outcome in outcomes]
    kept = np.array(heads)
    splits = [Split({one: found.columns(kept) for one, found in every.items()}, beaten) for every, beaten in sums]
    splits[1].controls[RANDOM] = box.untrained(texts[1], probes, MODELS, workers=1)
    scores = score_table(*splits, shape=(1, len(heads)), effort=effort, margin=rule.margin)
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
