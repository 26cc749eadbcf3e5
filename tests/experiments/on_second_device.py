"""Runs on a second device beside the CPU; `test_second_device.py` starts this in a process of its own.

torch has to know the device before the first gradient of the process, so no other test shares one with these.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.bench.gpu import CLOSE, COMPARED, parity
from experiments.inputs.corpora import open_corpora
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.training.biographies import biographies
from mha import Batch, Model, collate, export_encoder, load_model
from mha.device import find_device
from mha.pieces import align
from mha.training.vocabulary import save_tokenizer, tokenizer_fingerprint
from probes import Corpus, Settings, get_probe, score_corpus
from probes.causal.patching import measure_patching
from probes.causal.transfer import draw_donors, measure_transfer
from probes.chains.links import Linker
from probes.corpora.corpus import Texts
from probes.corpora.ratings import Ratings
from probes.grammar.lexicon import NOUNS
from probes.maps.deciles import Deciles
from probes.maps.description import RulePredictions
from probes.maps.ensembles import gather_answers
from probes.maps.relatedness import Relatedness
from probes.registry import probe_names
from probes.scoring.aligned import Aligned
from probes.states.trees import attached_arcs, gold_tree
from probes.trained.pair_attention import read_cells
from reports import Run
from tests.probes.causal import test_transfer as sentences
from tests.probes.causal.test_patching import asked, planted
from tests.second_device import NAME

NEEDS = ("words", "trees", "subjects", "noun groups")
"What the grammar has."
SENTENCE = [one for one in probe_names() if get_probe(one).scope == "sentence" and get_probe(one).needs in NEEDS]
BOTH = 'behaviours=["loss", "embedding"], items=6'
SIX = ("corpus.select.documents=6", "corpus.report.documents=6")
ASKED = {
    "scores": (f"probes.names={SENTENCE}", "controls={random=2, permuted=2}"),
    "norms": ("scoring.maps='norms'", "probes.names=['position']", "page.examples=2"),
    "rollout": ("scoring.maps='rollout'", "probes.names=['position']", "page.examples=2"),
    "effects": (
        f'ablation={{{BOTH}, draws=1, ways=["zero", "uniform", "mean", "mean by position", "resample"]}}',
        f"importance={{{BOTH}, directions=2}}",
        f"slopes={{{BOTH}, directions=2}}",
    ),
    "pruning and gates": (
        *(*SIX, f"pruning={{{BOTH}, draws=1, step=0.5}}", f"gates={{{BOTH}, prices=[0.0, 1.0], steps=4}}"),
        'behaviour={corpora=["grammar"], first=20}',
    ),
    "gates with weights": ('gates={behaviours=["loss"], items=6, prices=[0.1], steps=4, weights=true}', *SIX),
    "classifiers": (
        *("probes.trained=true", "probes.trained_pairs=20", "probes.names=['dependency']"),
        *("classifiers={examples=60, sentences=12, parser=true, codes=2}",),
    ),
    "heads and states": (
        *("heads={texts=6, groups=2, permutations=19, relations=1, largest=2}", "mixing.texts=3"),
        *("circuits={enabled=true, words=30, sentences=4}", "explanation={sentences=10, classifiers=2}"),
        "states={texts=12, contexts=2, sets=1}",
    ),
}
"What is asked of the model of a run, on either device."


@pytest.fixture(autouse=True)
def _second(few_steps: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let "auto" find the second device; draw no page."""
    monkeypatch.setattr("mha.device.devices_there", lambda: (NAME, "cpu"))
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)


@pytest.fixture
def model(speaker: Path) -> Model:
    return load_model(str(speaker), device="auto")


def batch_of(model: Model) -> Batch:
    return collate(align(model.tokenizer, [["the", "king", "sleeps"], ["kings", "sleep"]]), padding=model.padding)


def test_a_batch_that_is_not_moved_and_an_array_that_is_made_too_early_are_caught(model: Model) -> None:
    """What somebody forgets fails here, as it would on a GPU."""
    batch, device = batch_of(model), find_device("auto")
    assert model.device.type == device.type == NAME
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        model.module(batch.ids, batch.mask)
    vectors = model.run(batch.ids, batch.mask).detach()
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        batch.from_words @ vectors
    with pytest.raises(RuntimeError, match="numpy"):
        vectors.numpy()
    with pytest.raises(TypeError, match="no float64"):
        vectors.double()
    assert np.isfinite(vectors.cpu().double().numpy()).all()


def test_maps_scores_ablation_and_gates_are_those_of_the_cpu(speaker: Path) -> None:
    """As `make gpu` compares them."""
    corpus = Corpus.generated(6, seed=0).sentences()
    apart = parity(load_model(str(speaker)), corpus.take(range(12)), find_device("auto"))
    assert {*apart} == {*COMPARED}
    assert {name for name, far in apart.items() if not far < CLOSE} == set()


def observed(observer: Any) -> Callable[[Model, Texts], Any]:
    """Return what an observer, made of numbers of layers and heads, is after a pass."""

    def read(model: Model, texts: Texts) -> Any:
        made = observer(model.layers, model.heads)
        score_corpus(model, texts, [], {}, Settings(), observers=[made])
        return made

    return read


def tree_arcs(model: Model, texts: Texts) -> Any:
    """Return how many arcs of gold trees heads have."""
    aligned = Aligned.of(model, texts)
    return attached_arcs(model, aligned, [gold_tree(one) for one in texts.take(aligned.kept)], Settings())


RATED = Ratings("made up", dict.fromkeys(combinations(sorted({noun.singular for noun in NOUNS}), 2), 1.0))
ALL = ("dependency", "dependent->head", "all")
CELLS = np.array([[0, 1, 0], [0, 1, 2], [1, 0, 1]])
READ: dict[str, Callable[[Model, Texts], Any]] = {
    "deciles": lambda *given: observed(Deciles)(*given).mass,
    "rules of descriptions": lambda *given: observed(RulePredictions)(*given).hits,
    "links": lambda *given: np.concatenate([one.strength.ravel() for one in observed(Linker)(*given).texts]),
    "rated pairs": lambda *given: observed(partial(Relatedness, RATED))(*given).items().attention,
    "ensembles": lambda model, texts: (
        gather_answers(model, texts, [get_probe("dependency")], {ALL: [0, 1]}, Settings())[ALL].values
    ),
    "cells": lambda model, texts: read_cells(model, Aligned.of(model, texts), [0, 1], CELLS, Settings()),
    "spanning trees": tree_arcs,
}


@pytest.mark.parametrize("what", [*READ])
def test_what_copies_maps_reads_those_of_the_cpu(what: str, speaker: Path) -> None:
    """Of measures that no run of ASKED has, or that there read kept maps."""
    texts = Corpus.generated(6, seed=0).sentences()
    expected, found = (READ[what](load_model(str(speaker), device=one), texts) for one in ("cpu", "auto"))
    assert np.size(expected)
    assert np.nanmax(np.abs(np.asarray(expected, float))) > 0
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def tables(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    for path in sorted(folder.glob("*.parquet")):
        yield path.name, pd.read_parquet(path)


@pytest.mark.parametrize("study", [*ASKED])
def test_a_run_has_the_numbers_of_the_cpu_and_says_where_it_read(
    study: str, base: Path, speaker: Path, tmp_path: Path
) -> None:
    changes = ("corpus.select.documents=3", "corpus.report.documents=3", *ASKED[study])
    folders = {}
    for device in ("auto", "cpu"):
        config = load_config(base, (*changes, f"model.name='{speaker}'", f"model.device='{device}'"))
        folders[device] = run(config, tmp_path / device)
    assert [Run.open(folder).record.device for folder in folders.values()] == [NAME, "cpu"]
    found = [dict(tables(folder)) for folder in folders.values()]
    assert found[0].keys() == found[1].keys()
    for name, frame in found[0].items():
        assert_alike(frame, found[1][name], name)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_patching_is_that_of_the_cpu(norm: str) -> None:
    lm = planted(norm=norm)
    items = asked(lm)
    expected = measure_patching(lm, items)
    lm.module.to(NAME)
    found = measure_patching(lm, items)
    for name, one in vars(expected).items():
        other = getattr(found, name)
        assert other == one if not isinstance(one, torch.Tensor) else torch.allclose(one, other, atol=1e-4), name


def test_transfer_is_that_of_the_cpu() -> None:
    lm = sentences.planted()
    behaviour = sentences.asked(lm)
    donors, _ = draw_donors(behaviour, 0)
    expected = measure_transfer(behaviour, donors)
    lm.module.to(NAME)
    found = measure_transfer(behaviour, donors)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def assert_alike(one: pd.DataFrame, other: pd.DataFrame, name: str) -> None:
    """Compare tables; rows with other numbers, where rounding decided between heads or baselines alike, are counted."""
    assert one.shape == other.shape, name
    assert [*one.dtypes] == [*other.dtypes], name
    apart = np.zeros(len(one), bool)
    for column in one:
        here, there = one[column], other[column]
        if pd.api.types.is_float_dtype(here):
            near = {"atol": 0.05} if column.startswith("p") else {"rtol": 1e-4, "atol": 1e-5}  # p of costs near 1e-5
            apart |= ~np.isclose(here, there, **near, equal_nan=True)
        else:
            apart |= np.array([*map(str, here)]) != np.array([*map(str, there)])
    assert apart.sum() <= 0.03 * len(one), f"{name}: {apart.sum()} of {len(one)} rows differ"


LIVES = """
name = "lives"
model = { name = "training", source = "checkpoint", device = "DEVICE" }
corpus.select = { name = "grammar", documents = 3, seed = 1 }
corpus.report = { name = "grammar", documents = 3, seed = 2 }
probes.names = ["position"]
controls = { random = 0, permuted = 0, orders = 0 }
[biographies]
probes = ["position", "dependency"]
replicates = 10
match_texts = 4
"""


def test_biographies_are_those_of_the_cpu(speaker: Path, tmp_path: Path) -> None:
    for step, seed in enumerate((3, 4)):
        model = load_model(str(speaker), "random", seed)
        checkpoint = tmp_path / "training" / "checkpoints" / f"step-{step:08d}"
        export_encoder(model.module, checkpoint)
        save_tokenizer(model.tokenizer, checkpoint, 512)
        known = f'"tokenizer": "{tokenizer_fingerprint(model.tokenizer)}"'
        (checkpoint / "training.json").write_text(f'{{"step": {step}, "tokens": {step}, "files": {{}}, {known}}}')
    found = []
    for device in ("auto", "cpu"):
        path = tmp_path / f"{device}.toml"
        path.write_text(LIVES.replace("DEVICE", device), encoding="utf-8")
        config = load_config(path)
        found.append(biographies(config, {0: tmp_path / "training"}, open_corpora(config)).tables)
    for name, frame in found[0].items():
        assert_alike(frame, found[1][name], name)


assert os.environ["HEADSCOPE_SECOND_DEVICE"]
