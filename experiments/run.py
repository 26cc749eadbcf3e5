"""A run: model and corpora in, a run folder out."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import tomli_w

from experiments.biographies import Behaviour, add_biographies, biographies
from experiments.config import Config, ConfigError, VerdictSection, resolved
from experiments.controls import ModelControl, add_control, model_controls, of_model, on_arcs
from experiments.corpora import open_corpora
from experiments.journal import Journal
from experiments.provenance import machine_record
from mha import Model, load_model
from probes import Corpus, Probe, get_probe
from probes.control_arcs import ControlArcs
from probes.corpora import Texts
from probes.evidence import Effort
from probes.examples import choose_heads, example_arcs
from probes.registry import CONTROL_ARCS
from probes.results import SPLITS, Split, add_verdicts, pooled_sums, score_table
from probes.scoring import Settings, learn_baselines, score_corpus
from probes.statistics import Rule
from reports import EXAMPLE_COLUMNS, SCORE_COLUMNS, write_examples, write_metrics, write_report, write_scores

Progress = Callable[[str, int, int], None]
"Called with what is done, how many texts of it are done, and how many there are."


class RunError(ValueError):
    """A run that cannot give any number."""


def silent(what: str, done: int, of: int) -> None:
    """Show nothing."""


def run(
    config: Config,
    out: Path,
    *,
    overwrite: bool = False,
    progress: Progress = silent,
    trainings: Mapping[int, Path] | None = None,
    behaviour: Behaviour | None = None,
) -> Path:
    """Do what `config` says and return the run folder `out`/<name>, which appears only when it is whole.

    A folder that holds a run of the same config is replaced; one of another config only with `overwrite`. Raises
    RunError where the probes find no question in the corpora, so that there is no number to report.

    With [biographies] the heads of `trainings` (seed -> folder of a training) are followed through their checkpoints,
    and `behaviour` says how well a checkpoint behaves.
    """
    if config.biographies is not None and not trainings:
        raise ConfigError("[biographies] needs the checkpoints of a training; leave that table out, or name a training")
    folder = out / config.name
    check_free(folder, config, overwrite)
    out.mkdir(parents=True, exist_ok=True)
    journal = Journal()
    started = time.time()
    with tempfile.TemporaryDirectory(dir=out, prefix=f".{config.name}-") as temporary:
        unfinished = Path(temporary) / config.name
        unfinished.mkdir()
        _work(config, unfinished, journal, started, progress)
        if config.biographies is not None and trainings:
            found = biographies(config, trainings, open_corpora(config), behaviour=behaviour, progress=progress)
            add_biographies(found, unfinished)
        write_report(unfinished)
        replaced = Path(temporary) / "replaced"
        if folder.exists():
            folder.rename(replaced)
        try:
            unfinished.rename(folder)
        except OSError:
            if replaced.exists():
                replaced.rename(folder)
            raise
    return folder


def check_free(folder: Path, config: Config, overwrite: bool) -> None:
    """Raise ConfigError where `folder` holds something that this run must not replace."""
    if not folder.exists():
        return
    before = folder / "config.toml"
    if not (before.is_file() and (folder / "scores.parquet").is_file()):
        raise ConfigError(f"{folder} exists and is not a run folder; choose another --out or name")
    if not overwrite and before.read_text(encoding="utf-8") != tomli_w.dumps(resolved(config)):
        raise ConfigError(f"{folder} holds a run of another config; choose another --out or name, or add --overwrite")


def _work(config: Config, folder: Path, journal: Journal, started: float, progress: Progress) -> None:
    with journal.stage("load model"):
        model = load_model(config.model.name, config.model.source, config.seed)
    with journal.stage("open corpora"):
        corpora = open_corpora(config)
    probes = [get_probe(name) for name in config.probes.names]
    frames, examples, compared = [], [], []
    to_show, to_ask = config.page.examples, len(probes)
    for scope in ("sentence", "window"):
        asked = [probe for probe in probes if probe.scope == scope]
        if not asked:
            continue
        part = Part(config, model, scope, asked, [_texts(corpus, scope, config) for corpus in corpora])
        if scope == "window":
            _count_borders(part.texts, config.scoring.window_words, journal)
        scores, *trained = part.score(journal, progress)
        frames += [scores, *trained]
        if config.scoring.metrics:
            with journal.stage("agreement of metrics"):
                compared.append(part.compare(trained, progress))
        share = -(-to_show * len(asked) // to_ask)
        to_show, to_ask = to_show - share, to_ask - len(asked)
        with journal.stage("examples"):
            chosen = choose_heads(scores, share)
            examples.append(example_arcs(model, part.texts[1], asked, chosen, part.settings))
    names = dict(zip(SPLITS, (corpus.name for corpus in corpora), strict=True))
    _refuse_nothing(frames, names, journal)
    frames = [frame for frame in frames if len(frame)]
    scores = add_verdicts(pd.concat(frames, ignore_index=True), Rule(config.verdict.alpha, config.verdict.margin))
    write_scores(_complete(scores, config, names), folder)
    write_examples(_renumbered(examples), folder)
    if compared:
        metrics, agreement = (pd.concat(parts, ignore_index=True) for parts in zip(*compared, strict=True))
        write_metrics(metrics, agreement, folder)
    (folder / "config.toml").write_text(tomli_w.dumps(resolved(config)), encoding="utf-8")
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in journal.lines), encoding="utf-8")
    design = _design(config, scores, journal)
    record = machine_record(config, model, corpora, started) | journal.record | design
    (folder / "run.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _design(config: Config, scores: pd.DataFrame, journal: Journal) -> dict[str, Any]:
    """Return what the published study says of small labels; note where it, or the number of signs, says too little."""
    from experiments.design import smallest_n

    notes, tested = journal.record["notes"], scores[scores.p_label.notna()]
    labels = tested.groupby(["probe", "variant", "label"]).ngroups
    if labels > config.verdict.alpha * (config.scoring.flips + 1):
        notes.append(
            f"{labels} pairs of label and variant were tested with {config.scoring.flips} random signs: one head alone "
            f"could not be found, however clear; scoring.flips should be {math.ceil(labels / config.verdict.alpha)}"
        )
    if config.verdict != VerdictSection():
        notes.append("labels with too few items are not marked: the sandbox was measured with another [verdict]")
        return {}
    small = smallest_n()
    return {"design": small} if small else {}


def _count_borders(both: Sequence[Texts], window_words: int, journal: Journal) -> None:
    """Note the mentions that no probe is shown, or that none is asked about, for the borders of windows."""
    for split, texts in zip(SPLITS, both, strict=True):
        across = (f"mention across a border of {window_words} words", texts.lost.mentions)
        alone = (f"mention with all antecedents outside its window of {window_words} words", texts.lost.anaphors)
        for reason, count in (across, alone):
            dropped = {"split": split, "scope": "window", "reason": reason, "count": count, "examples": []}
            journal.record["dropped"].extend([dropped] if count else [])


def _refuse_nothing(frames: Sequence[pd.DataFrame], names: dict[str, str], journal: Journal) -> None:
    """Raise RunError, which says why, where a split has nothing that any head was asked."""
    for split, name in names.items():
        if not any((frame.n[frame.split == split] > 0).any() for frame in frames if len(frame)):
            lost = [part for part in journal.record["dropped"] if part["split"] == split]
            why = [*journal.record["notes"], *(f"{part['count']} dropped, {part['reason']}" for part in lost)]
            if not any(journal.record["scored"][split][scope]["windows"] for scope in journal.record["scored"][split]):
                why.append("no text that the model can read")
            raise RunError(f"nothing to score on the {split} split, {name}: {'; '.join(why)}")


@dataclass(frozen=True)
class Part:
    """The part of a run in which the model reads texts of one scope."""

    config: Config
    model: Model
    scope: str
    probes: Sequence[Probe]
    texts: Sequence[Texts]
    "Of the selection split and of the report split."

    @property
    def settings(self) -> Settings:
        """How maps are read."""
        return Settings(self.config.scoring.batch_pieces, self.config.scoring.reduce)

    def score(self, journal: Journal, progress: Progress) -> list[pd.DataFrame]:
        """Return the scores of all heads, and those of trained probes if they are asked for."""
        config = self.config
        splits = self._splits(journal, progress)
        for control in model_controls(config, self.model):
            if probes := control.probes(self.probes):
                with journal.stage(f"control: {control.name}"):
                    self._add_control(control, probes, splits, progress)
        with journal.stage("statistics"):
            shape, scoring = (self.model.layers, self.model.heads), config.scoring
            frames = [score_table(*splits, shape=shape, effort=Effort(scoring.replicates, scoring.flips, config.seed))]
        for probe in self.probes:
            if probe.name not in set(frames[0].probe):
                journal.record["notes"].append(
                    f"{probe.name}: the corpora have no question for it, it needs {probe.needs}"
                )
        if config.probes.trained:
            with journal.stage("trained probes"):
                frames.append(self._trained(progress))
        return frames

    def _splits(self, journal: Journal, progress: Progress) -> list[Split]:
        """Return the sums of both splits: of heads, baselines and control arcs, which all take one pass."""
        arcs = ControlArcs(self.config.seed) if self.config.controls.arcs else None
        with journal.stage("learn baselines"):
            names = {name for probe in self.probes for name in probe.baselines}
            baselines = learn_baselines(self.texts[0], self.probes, sorted(names), arcs=arcs)
        splits, beside = [], []
        for split, texts in zip(SPLITS, self.texts, strict=True):
            with journal.stage(f"score {split}"):
                step = self._counter(progress, split, len(texts))
                outcome = score_corpus(self.model, texts, self.probes, baselines, self.settings, step, arcs=arcs)
                step(len(texts) - outcome.texts)
            journal.count(split, self.scope, outcome)
            splits.append(Split(*pooled_sums(outcome, self.probes)))
            if outcome.arcs is not None:
                beside.append(on_arcs(outcome.arcs))
        if beside:
            add_control(CONTROL_ARCS, splits, beside)
        return splits

    def compare(self, trained: Sequence[pd.DataFrame], progress: Progress) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return other metrics of all heads on the report split, and how far they rank heads alike."""
        from probes.rankings import compare_metrics

        texts = self.texts[1]
        step = self._counter(progress, "report, other metrics", len(texts))
        return compare_metrics(self.model, texts, self.probes, self.settings, trained[0] if trained else None, step)

    def _counter(self, progress: Progress, what: str, of: int) -> Callable[[int], None]:
        done = 0

        def step(texts: int) -> None:
            nonlocal done
            done += texts
            progress(f"{what} ({self.scope}s)", done, of)

        return step

    def _add_control(
        self, control: ModelControl, probes: Sequence[Probe], splits: Sequence[Split], progress: Progress
    ) -> None:
        model, heads = control.load(), []
        for split, texts in zip(SPLITS, self.texts, strict=True):
            step = self._counter(progress, f"{split}, {control.name}", len(texts))
            outcome = score_corpus(
                model, texts, probes, {}, self.settings, step, places=control.places, hits_alone=True
            )
            step(len(texts) - outcome.texts)
            heads.append(of_model(outcome.heads, probes))
        add_control(control.name, splits, heads)

    def _trained(self, progress: Progress) -> pd.DataFrame:
        from probes.classifier import fit_classifiers

        select, report = self.texts
        return fit_classifiers(
            self.model,
            select,
            report,
            self.probes,
            self.settings,
            pairs=self.config.probes.trained_pairs,
            replicates=self.config.scoring.replicates,
            seed=self.config.seed,
            progress=lambda done, of: progress(f"trained probes ({self.scope}s)", done, of),
        )


def _texts(corpus: Corpus, scope: str, config: Config) -> Texts:
    return corpus.sentences() if scope == "sentence" else corpus.windows(config.scoring.window_words)


def _complete(scores: pd.DataFrame, config: Config, corpora: dict[str, str]) -> pd.DataFrame:
    step = pd.array([pd.NA] * len(scores), dtype="Int64")
    name = config.model.name if config.model.source == "pretrained" else f"{config.model.name} ({config.model.source})"
    scores = scores.assign(model=name, step=step, corpus=scores.split.map(corpora), maps="weights")
    return scores[list(SCORE_COLUMNS)]


def _renumbered(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    start, shifted = 0, []
    for part in parts:
        if len(part):
            shifted.append(part.assign(example=part.example + start))
            start += int(part.example.max()) + 1
    return pd.concat(shifted, ignore_index=True) if shifted else pd.DataFrame(columns=list(EXAMPLE_COLUMNS))
