"""What a measure may use of the run that it is part of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

import pandas as pd

from experiments.config.config import Config
from experiments.inputs.controls import first_seed
from experiments.inputs.open_model import LoadedModel
from experiments.record.job import NOTHING, AsTables, Job
from experiments.record.run_record import Journal
from mha import MaskedLM, Model, load_model
from mha.models.model import UNTRAINED
from probes import Corpus, Probe, get_probe
from probes.corpora.corpus import Texts
from probes.evidence.question import Effort
from probes.evidence.results import SPLITS, add_verdicts
from probes.evidence.statistics import VerdictRule
from probes.scoring.aligned import Dropped
from probes.scoring.score import Settings
from reports.formats import model_title
from reports.progress import Progress, counter

SCOPES: Final = ("sentence", "window")
"What a model reads at a time, in the order of a run."

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class RunContext:
    """What a measure may use of the run that it is part of."""

    config: Config
    opened: LoadedModel
    corpora: tuple[Corpus, Corpus]
    "Of the selection split and of the report split."
    journal: Journal
    progress: Progress
    job: Job = NOTHING
    "The finished parts of the run."
    read_checkpoints: Callable[[Sequence[Any]], Iterable[Any]] | None = None
    "Has checkpoints read by workers, see `experiments.training.biographies`; None without workers."
    _shared: dict[type[Any], object] = field(default_factory=dict, repr=False)

    @property
    def model(self) -> Model:
        """The model of the run."""
        return self.opened.model

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that the run reads, in order."""
        wanted = {get_probe(name).scope for name in self.config.probes.names}
        return tuple(scope for scope in SCOPES if scope in wanted)

    def once(self, kind: type[Kind]) -> Kind:
        """Return what all measures of the run share of a kind: made where it is first used, and kept."""
        shared = self._shared.setdefault(kind, kind())
        assert isinstance(shared, kind)
        return shared

    @property
    def settings(self) -> Settings:
        """How maps are read."""
        scoring = self.config.scoring
        return Settings(scoring.batch_pieces, scoring.reduce, maps=scoring.maps)

    def random_model(self) -> Model:
        """Return the same architecture with the randomly initialised weights of the first such control."""
        seed = first_seed(self.config, self.model, "random")
        return load_model(self.config.model.reference, "random", seed, device=self.model.device.type)

    def counter(self, what: str, of: int) -> Callable[..., None]:
        """Return what shows one step of `what` more, or as many as it is told, each time it is called."""
        return counter(self.progress, what, of)

    def part(self, name: str, make: Callable[[], Mapping[str, pd.DataFrame]]) -> Mapping[str, pd.DataFrame]:
        """Return tables by name, as an interrupted run has kept them, else made and kept, with what was noted."""
        return self.job.part(name, make, AsTables(self.journal))

    def fact(self, measure: str, facts: Mapping[str, Any]) -> None:
        """Note what holds for all heads together, for run.json; what is None or no number is left out."""
        known = {name: value for name, value in facts.items() if value is not None and value == value}
        self.journal.facts = {**(self.journal.facts or {}), measure: known}

    def note(self, text: str) -> None:
        """Note something that a reader of the run should know, once."""
        self.journal.note(text)

    def note_dropped(self, split: str, scope: str, what: str, dropped: Dropped) -> None:
        """Note what was left out of `what` on a split, and why."""
        self.journal.drop(split, scope, dropped, what)

    @cached_property
    def lm(self) -> MaskedLM:
        """The model with its masked-LM head, loaded once for all measures; raises ModelError where there is none."""
        return MaskedLM.of(self.model)

    @property
    def effort(self) -> Effort:
        """How many resamples are drawn, and from which seed."""
        return Effort(self.config.scoring.replicates, self.config.seed)

    def verdicts(self, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Return the scores of all parts as one table, with verdicts that are corrected for all of them."""
        verdict = self.config.verdict
        frames = [part for part in parts if len(part)]
        return add_verdicts(pd.concat(frames, ignore_index=True), VerdictRule(verdict.alpha, verdict.margin))

    def probes(self, scope: str) -> list[Probe]:
        """Return the probes of a scope, in the order of the config."""
        return [probe for probe in map(get_probe, self.config.probes.names) if probe.scope == scope]

    def texts(self, scope: str) -> list[Texts]:
        """Return the texts of a scope, "sentence" or "window": of the selection split and of the report split."""
        words = self.config.scoring.window_words
        return [corpus.sentences() if scope == "sentence" else corpus.windows(words) for corpus in self.corpora]

    def complete(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add the corpus of each row's split, that of the report split where there is none, and the model and step.

        A measure that read something else says the corpus itself.
        """
        if "corpus" in frame:
            return self.of_run(frame)
        names = dict(zip(SPLITS, (corpus.name for corpus in self.corpora), strict=True))
        corpus = frame["split"].map(names) if "split" in frame else names[SPLITS[1]]
        return self.of_run(frame.assign(corpus=corpus))

    def of_run(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add which model, and at which step of its training, the rows are about."""
        model, step = self.model, self.opened.step
        title = model_title(model.name)
        name = f"{title} ({model.source})" if model.source in UNTRAINED else title
        return frame.assign(model=name, step=pd.array([pd.NA if step is None else step] * len(frame), dtype="Int64"))
