"""One checkpoint read for the biographies of its heads, here or by a worker that has the same config and corpora."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from experiments.config.config import Config
from experiments.config.sections import BiographiesSection
from experiments.record.job import packed, unpacked
from experiments.training.checkpoints import Checkpoint
from mha import Model, load_model
from probes import Corpus, Probe, get_probe
from probes.corpora.corpus import MemoryTexts, Texts
from probes.maps.matching import SeenMaps, see_maps
from probes.records import Document
from probes.scoring.aligned import Dropped
from probes.scoring.prepared import PreparedTargets
from probes.scoring.score import Settings, learn_baselines
from probes.scoring.tally import Pooled, Question
from probes.training.biography import Marks, marks

Behaviour = Callable[[Model], float]
"Says how well a model behaves, such as its accuracy on minimal pairs of agreement; in [0, 1]."


@dataclass(frozen=True)
class CheckpointAnswers:
    """What the heads of one checkpoint do, and what does not depend on its weights."""

    layers: int
    heads: int
    marks: Mapping[Question, Marks]
    behaviour: float
    "NaN where none is asked for."
    maps: SeenMaps | None
    "Of the sentences on which heads are matched; None where none are matched, or the model can read no sentence."
    baselines: Mapping[str, Pooled]
    "By name: the sums of one scored column a question."
    dropped: Mapping[str, Dropped]
    "What the prepared targets leave out, by scope."

    def saved(self) -> dict[str, Any]:
        """Return everything as arrays; of baselines the hits alone, which are all that biographies ask of them."""
        facts = {
            **{"layers": self.layers, "heads": self.heads, "questions": [*self.marks], "baselines": [*self.baselines]},
            "dropped": {scope: asdict(dropped) for scope, dropped in self.dropped.items()},
            "maps": None if self.maps is None else {"layers": self.maps.layers, "kept": self.maps.kept},
        }
        arrays = {"facts": np.array(json.dumps(facts)), "behaviour": np.array(self.behaviour)}
        for number, one in enumerate(self.marks.values()):
            arrays |= {f"{name} {number}": value for name, value in vars(one).items()}
        for name, pooled in self.baselines.items():
            arrays |= {f"{name}: {key}": value for key, value in packed(pooled).items()}
        if self.maps is not None:
            arrays |= {"maps": self.maps.maps.numpy(), "words": self.maps.words}
        return arrays

    @classmethod
    def from_saved(cls, arrays: Mapping[str, Any]) -> CheckpointAnswers:
        """Return what was `saved`."""
        facts = json.loads(arrays["facts"].item())
        found = {
            (probe, variant, label): Marks(*(arrays[f"{one.name} {number}"] for one in fields(Marks)))
            for number, (probe, variant, label) in enumerate(facts["questions"])
        }
        baselines = {
            name: unpacked(
                {key.removeprefix(f"{name}: "): arrays[key] for key in arrays if key.startswith(f"{name}: ")}
            )
            for name in facts["baselines"]
        }
        maps = facts["maps"] and SeenMaps(**facts["maps"], maps=torch.from_numpy(arrays["maps"]), words=arrays["words"])
        dropped = {scope: Dropped(**one) for scope, one in facts["dropped"].items()}
        behaviour = float(arrays["behaviour"])
        return cls(facts["layers"], facts["heads"], found, behaviour, maps, baselines, dropped)


@dataclass(frozen=True)
class CheckpointReader:
    """Puts the same questions to one checkpoint after the other.

    Baselines learn on the selection corpus, `corpora[0]`. What does not depend on weights is made once, for the
    checkpoints of a run have one tokenizer.
    """

    config: Config
    section: BiographiesSection
    corpora: tuple[Corpus, Corpus]
    behaviour: Behaviour | None
    _prepared: list[PreparedTargets] = field(default_factory=list, init=False)
    "The targets of each scope, once a checkpoint has been read."

    @cached_property
    def probes(self) -> list[Probe]:
        """What is asked."""
        return [get_probe(name) for name in self.section.probes]

    @cached_property
    def _matched(self) -> list[Document]:
        """The sentences on which heads are matched."""
        texts = self.corpora[1].sentences()
        return texts.take(range(min(self.section.match_texts, len(texts))))

    def read(self, checkpoint: Checkpoint) -> CheckpointAnswers:
        """Put the prepared targets to a checkpoint."""
        model = load_model(str(checkpoint.folder), device=self.config.model.device)
        model = replace(model, precision=self.config.model.precision)
        labels = None if self.section.labels == "all" else self.section.labels
        if not self._prepared:
            scopes = dict.fromkeys(probe.scope for probe in self.probes)
            self._prepared.extend([self._prepare(model, scope) for scope in scopes])
        found = dict[Question, Marks]()
        for targets in self._prepared:
            found |= marks(targets.put(model), labels)
        return CheckpointAnswers(
            model.layers,
            model.heads,
            found,
            math.nan if self.behaviour is None else self.behaviour(model),
            see_maps(model, self._matched) if self._matched else None,
            _baselines(self._prepared),
            {targets.probes[0].scope: targets.dropped for targets in self._prepared},
        )

    def _prepare(self, model: Model, scope: str) -> PreparedTargets:
        asked = [probe for probe in self.probes if probe.scope == scope]
        select, report = (self._texts(corpus, scope) for corpus in self.corpora)
        if self.section.first is not None:
            report = MemoryTexts(report.take(range(min(self.section.first, len(report)))))
        names = sorted({name for probe in asked for name in probe.baselines})
        baselines = learn_baselines(select, asked, names, lexical=False)
        scoring = self.config.scoring
        return PreparedTargets.of(
            model, report, asked, baselines, Settings(scoring.batch_pieces, scoring.reduce, maps=scoring.maps)
        )

    def _texts(self, corpus: Corpus, scope: str) -> Texts:
        return corpus.sentences() if scope == "sentence" else corpus.windows(self.config.scoring.window_words)


def _baselines(prepared: Sequence[PreparedTargets]) -> dict[str, Pooled]:
    """Return the sums of all baselines, those of every scope together."""
    names = {name for targets in prepared for name in targets.baselines}
    return {
        name: {question: sums for targets in prepared for question, sums in targets.baselines.get(name, {}).items()}
        for name in sorted(names)
    }
