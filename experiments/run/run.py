"""A run: model and corpora in, a run folder out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pandas as pd
import tomli_w

from experiments.config.config import Config, resolved
from experiments.inputs.corpora import corpus_notes, open_corpora, remark_notes
from experiments.inputs.open_model import LoadedModel, open_model
from experiments.record.job import Job, KeptError, delete_parts
from experiments.record.provenance import Start, finished, machine_record
from experiments.record.run_record import Journal
from experiments.run.context import RunContext
from experiments.run.first_page import first_page
from experiments.run.folder import CONFIG, check_free, is_training, made_for
from experiments.run.measures import Measures
from experiments.run.scope import Part, Scored, ShowScores
from experiments.run.shards import ShardedPart, Shards, open_shards
from mha import Model
from mha.models.check import local_windows
from probes.corpora.corpus import Corpus, Texts
from probes.evidence.examples import choose_heads, choose_texts, example_arcs
from probes.evidence.results import SPLITS
from probes.maps.page_maps import EveryHead
from reports import write_attention, write_examples, write_report, write_scores
from reports.progress import Course, Progress, silent
from reports.run.record import Lost, RunRecord
from reports.run.replacing import replacing
from reports.scores.best_heads import GLOBAL
from reports.tables.scores import EXAMPLES, SCORES


class RunError(ValueError):
    """A run that cannot give any number."""


def run(
    config: Config,
    out: Path,
    *,
    overwrite: bool = False,
    progress: Progress = silent,
    command: str | None = None,
    model: Model | None = None,
    page: bool = True,
    resume: bool = False,
    first: Callable[[Path], None] | None = None,
) -> Path:
    """Do what `config` says and return the run folder `out`/<name>, which appears only when it is whole.

    A folder that holds a run of the same config, but for `[page]`, is replaced; one of another config only with
    `overwrite`. `command` is what was typed, for run.json; `model` is the one that the config names, where it is loaded
    already. Without `page` the folder has no report. The finished parts of an interrupted run are kept beside its
    folder: with `resume` they are not measured again. The workers of `config.cluster` read controls and checkpoints.
    `first` is shown the path of a first page (`FirstPage`) once that is there, long before the run is complete.
    Raises RunError where the probes find no question in the corpora, so that there is no number to report, KeptError
    where parts are of another config, model, corpus or version, and ClusterError where there is no cluster, or where
    its workers are lost or have another version, model or corpus.
    """
    folder = out / config.name
    course = progress if isinstance(progress, Course) else Course(progress)
    journal = Journal(command or "", course=course)
    started = Start()
    place = replacing(folder, stays=is_training, then=lambda: delete_parts(folder))
    with place as unfinished, first_page(folder, first) as opening:
        check_free(folder, config, overwrite)
        with journal.stage("open corpora"):  # before a training, which may take days
            corpora = open_corpora(config)
        with journal.stage("load model"):
            opened = open_model(config, out, course) if model is None else LoadedModel(model, config)
            for said in opened.model.notes:
                journal.note_input(said)
        record = machine_record(config, opened.model, corpora, started)
        for said in corpus_notes(corpora):
            journal.note_input(said)
        job = Job.open(folder, made_for(config, record), resume=resume)
        around = RunContext(opened.config, opened, corpora, journal, course, job)
        try:
            with open_shards(around.config, record) as shards:
                _work(config, around, record, unfinished, started, shards, opening.of(around), page=page)
            if page:
                course.begin("page")
                write_report(unfinished, course)
        except RunError:  # which would come again
            delete_parts(folder)
            raise
        except BaseException as error:
            if job.some and not isinstance(error, KeptError):
                error.add_note("The finished parts are kept: the same command with --resume continues the run.")
            raise
    return folder


def resume_or_run(config: Config, out: Path, **options: Any) -> Path:
    """Resume a run, or begin it anew where it was interrupted with another config, model or version."""
    try:
        return run(config, out, resume=True, **options)
    except KeptError:
        return run(config, out, **options)


def _work(
    config: Config,
    around: RunContext,
    record: RunRecord,
    folder: Path,
    started: Start,
    shards: Shards | None,
    first: ShowScores | None,
    *,
    page: bool,
) -> None:
    """Do the run of a config; that of `around` may name a checkpoint of the training that this one asks for."""
    opened, journal = around.opened, around.journal
    around = replace(around, read_checkpoints=None if shards is None else shards.read_checkpoints)
    measures = Measures.of(around)
    names = [one.name for one in measures.wanted]
    journal.course.plan(_stages(around, names, first=first is not None, page=page))
    every = EveryHead(opened.model, around.settings, config.page.sentences)
    parts, examples = _read(around, measures, every, shards, first)
    frames = [frame for part in parts for frame in part.frames]
    _refuse_nothing(frames, around.corpora, journal)
    measures.write(parts, folder)
    journal.begin("tables")
    scores = around.complete(around.verdicts(frames))
    scores = scores.assign(maps=config.scoring.maps, layer_attention=_layer_attention(opened.model, scores["layer"]))
    write_scores(scores[list(SCORES.names)], folder)
    write_examples(_renumbered(examples), folder)
    _copy_annotated(around.corpora, folder)
    _write_every_head(every, around, folder)
    (folder / CONFIG).write_text(tomli_w.dumps(resolved(config)), encoding="utf-8")
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in journal.lines), encoding="utf-8")
    read_by = None if shards is None else shards.read_by
    record = replace(finished(record, started), resumed=tuple(around.job.taken) or None, workers=read_by)
    journal.complete(record).write(folder / "run.json")


def _copy_annotated(corpora: Sequence[Corpus], folder: Path) -> None:
    """Put the trees that a pipeline made of plain text into the run folder."""
    for path in {corpus.annotated for corpus in corpora if corpus.annotated is not None}:
        (folder / "annotated").mkdir(exist_ok=True)
        shutil.copyfile(path, folder / "annotated" / path.name)


def _layer_attention(model: Model, layers: pd.Series) -> pd.Series:
    """Return what the column of scores says of each of the layers, counted from 0."""
    windows = local_windows(model.module, model.layers)
    return layers.map(dict(enumerate(GLOBAL if one is None else f"local (window {one})" for one in windows)))


def _write_every_head(every: EveryHead, run: RunContext, folder: Path) -> None:
    """Write what every head does on the texts of the examples, and note how many were too many."""
    if kept := every.tables():
        write_attention(kept, folder)
    if every.left_out and run.config.page.sentences:
        run.note(
            f"the attention of every head is kept on {len(every.sentences)} of the texts that examples are drawn from; "
            f"{every.left_out} more would have made the page too large"
        )


def _read(
    run: RunContext,
    measures: Measures,
    every: EveryHead,
    shards: Shards | None,
    first: ShowScores | None,
) -> tuple[list[Scored], list[pd.DataFrame]]:
    """Have the model read all texts; return its parts with their scores, and the examples.

    `every` head is looked at on the texts of the examples; controls are read by the workers of `shards`; `first` is
    shown the scores of each part before they are compared with controls.
    """
    config, model, journal = run.config, run.model, run.journal
    parts, examples = [], []
    to_show, to_ask = config.page.examples, len(config.probes.names)
    for scope in run.scopes:
        make = Part if shards is None else partial(ShardedPart, shards=shards)
        part = make(run, scope, measures.observers if measures.wanted else None, measures.codelength, first)
        asked = part.probes
        if scope == "window":
            _count_borders(part.texts, config.scoring.window_words, journal)
        scored = part.score()
        measures.add(scored)
        parts.append(scored)
        share = -(-to_show * len(asked) // to_ask)
        to_show, to_ask = to_show - share, to_ask - len(asked)
        with journal.stage("examples"):
            shown = choose_texts(part.texts[1], asked, choose_heads(scored.scores, share))
            examples.append(example_arcs(model, shown, part.settings))
            for example in shown:
                every.observe(example.text, asked)
        part.own_maps.clear()
    return parts, examples


def _count_borders(both: Sequence[Texts], window_words: int, journal: Journal) -> None:
    """Note the mentions that no probe is shown, and those that none is asked about, for the borders of windows."""
    for split, texts in zip(SPLITS, both, strict=True):
        across = (f"mention across a border of {window_words} words", texts.lost.mentions)
        alone = (f"mention with all antecedents outside its window of {window_words} words", texts.lost.anaphors)
        between = (f"pronoun without two candidates in its window of {window_words} words", texts.lost.pronouns)
        journal.dropped += [Lost(split, "window", why, count) for why, count in (across, alone, between) if count]


def _refuse_nothing(frames: Sequence[pd.DataFrame], corpora: Sequence[Corpus], journal: Journal) -> None:
    """Raise RunError, which says why, where a split has nothing that any head was asked."""
    for split, corpus in zip(SPLITS, corpora, strict=True):
        if not any((frame.n[frame.split == split] > 0).any() for frame in frames if len(frame)):
            lost = [f"{one.count} dropped, {one.reason}" for one in journal.dropped if one.split == split]
            why = [*journal.notes, *lost, *remark_notes(corpus.name, corpus.sentences().remarks())]
            if not any(scored.windows for scored in journal.scored[split].values()):
                why.append("no text that the model can read")
            elif not why:
                why.append(
                    "its texts hold nothing that the probes ask about (`headscope list probes`: what each needs)"
                )
            raise RunError(f"nothing to score on the {split} split, {corpus.name}: {'; '.join(why)}")


def _renumbered(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    start, shifted = 0, []
    for part in parts:
        if len(part):
            shifted.append(part.assign(example=part.example + start))
            start += int(part.example.max()) + 1
    return pd.concat(shifted, ignore_index=True) if shifted else pd.DataFrame(columns=list(EXAMPLES.names))


WORK: Final = {
    **{"learn baselines": 0.05, "score select": 1.0, "score report": 1.0, "first page": 0.4, "statistics": 0.4},
    **{"control": 0.15, "trained probes": 3.0, "examples": 0.1, "measure": 0.3, "tables": 0.6, "page": 2.0},
}
"""Seconds of stages, in those that scoring the heads on one split of one scope takes: as the quickstart's record has
them, and roughly for others. "control" and "measure" are for each of them."""


def _stages(run: RunContext, measures: Sequence[str], *, first: bool, page: bool) -> list[tuple[str, float]]:
    """Return name and work of the stages that follow when corpora and model are open, in their order."""
    config, found = run.config, list[tuple[str, float]]()
    controls = config.controls
    for _ in run.scopes:
        found += [
            _stage("learn baselines"),
            _stage("score select"),
            _stage("score report"),
            *[_stage("first page")] * first,
        ]
        if models := controls.random + controls.permuted + controls.orders:
            found.append(("controls", models * WORK["control"]))
        found += [_stage("statistics"), *[_stage("trained probes")] * config.probes.trained, _stage("examples")]
    found += [(name, WORK["measure"]) for name in measures]
    return [*found, _stage("tables"), *[_stage("page")] * page]


def _stage(name: str) -> tuple[str, float]:
    return name, WORK[name]
