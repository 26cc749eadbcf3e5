"""Runs on models without knowledge, in which no head is to have a grade."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import pandas as pd

from experiments.config.config import Config
from experiments.inputs.controls import ModelControl, Strengths
from experiments.inputs.corpora import open_corpora
from experiments.inputs.open_model import Opened
from experiments.record.run_record import Journal
from experiments.run.config import RunConfig
from experiments.run.context import RunContext
from experiments.run.scope import Part
from mha import load_model
from probes import Corpus, Probe
from probes.corpora.named import NAMED, data_folder
from probes.maps.relation_attention import RelationAttention
from probes.registry import WORDS
from probes.scoring.tally import Pooled, Question
from reports.progress import silent

SOURCES = ("random", "permuted")
"Weights without knowledge: randomly initialised ones, and trained ones permuted within each matrix."

TREEBANKS = {"ewt": 1.0, "gum": 2.5}
"Real corpora, and how many times the sentences are taken: GUM's documents are few and long."


def null_corpora() -> list[str]:
    """Return the corpora of runs on models without knowledge: the grammar, and the treebanks that are there."""
    return ["grammar", *(name for name in TREEBANKS if (data_folder() / NAMED[f"{name}-dev"].path).exists())]


def null_config(corpus: str, source: str, seed: int, sentences: int) -> Config:
    """Return the config of a run on MiniLM's architecture with random or permuted weights, all controls on.

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


@dataclass
class Shared:
    """What models without knowledge gave on the texts of one scope, which runs of other seeds need too."""

    heads: dict[tuple[str, int], Sequence[Pooled]] = field(default_factory=dict)
    "Control and seed -> sums of its heads on both splits."
    tried: dict[int, Mapping[Question, float]] = field(default_factory=dict)
    "Seed of permuted weights -> hits of the best heads on a sample."


@dataclass(frozen=True)
class SharingPart(Part):
    """The part of a run that takes what it can from runs of other seeds."""

    shared: Shared = field(default_factory=Shared)

    def control_heads(
        self, control: ModelControl, probes: Sequence[Probe], observers: Sequence[RelationAttention]
    ) -> Sequence[Pooled]:
        """Return the sums of a control's heads, read once for all runs but for words in another order."""
        key = (control.control, control.seed)
        if control.control == WORDS:
            return super().control_heads(control, probes, ())
        if key not in self.shared.heads:
            self.shared.heads[key] = super().control_heads(control, probes, ())
        return self.shared.heads[key]

    def permutation_strengths(self, seeds: Sequence[int]) -> Strengths:
        """Return the hits of the best heads of each permutation, which is tried once for all runs."""
        self.shared.tried |= super().permutation_strengths([seed for seed in seeds if seed not in self.shared.tried])
        return self.shared.tried


@dataclass
class NullRuns:
    """Runs of many seeds on one corpus, as `headscope run` does them, but for measures and the page."""

    corpus: str
    sentences: int
    corpora: tuple[Corpus, Corpus] = field(init=False)
    shared: dict[str, Shared] = field(default_factory=dict)
    "Scope -> what runs share."

    def __post_init__(self) -> None:
        """Open the corpus."""
        self.corpora = open_corpora(null_config(self.corpus, SOURCES[0], 0, self.sentences))

    def scores(self, source: str, seed: int) -> pd.DataFrame:
        """Return the scores of a run, with verdicts."""
        config = null_config(self.corpus, source, seed, self.sentences)
        model = load_model(config.model.reference, source, seed, device=config.model.device)
        run = RunContext(config, Opened(model, config), self.corpora, Journal(""), silent)
        frames: list[pd.DataFrame] = []
        permutations: Callable[[], Sequence[int]] | None = None
        for scope in run.scopes:
            shared = self.shared.setdefault(scope, Shared())
            part = SharingPart(run, scope, shared=shared)
            permutations = permutations or cache(part.selected_permutations)
            frames += part.score(permutations).frames
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
    for done, (source, seed) in enumerate(product(SOURCES, range(seeds)), start=1):
        yield runs.row(source, seed)
        progress(done, len(SOURCES) * seeds)
