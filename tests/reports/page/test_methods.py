"""Methods hold what only some runs have: weights that layers share, and a training; the record pins all others."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from experiments.compare.answers import texts_text
from experiments.config.config import resolved
from experiments.run.config import RunConfig
from reports import Run
from reports.page.dataset_card import dataset_card
from reports.page.methods import methods, provenance_facts
from reports.run.record import CorpusFacts, ModelFacts
from reports.scores.shortest_table import corpus_name
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts
from tests.reports.page.test_summary import RECORD

CONFIG = resolved(RunConfig.model_validate({"name": "x", "corpus": {"select": {"name": "grammar"}}}))
MODEL = ModelFacts("tiny", "train", "bert", layers=6, heads=12, max_pieces=512, sha256="ab12")


def told(own: int | None = None, **config: Any) -> str:
    record = replace(RECORD, model=replace(MODEL, layers_of_weights=own))
    run: Any = SimpleNamespace(record=record, tables={}, biographies=None)
    return dict(methods(run, CONFIG | config, [], (), Verdicts(RunThresholds(), ())))["Model"]


def test_layers_that_share_their_weights_and_a_training_are_told() -> None:
    assert "Its 6 layers share 1 set of weights: heads of one number are the same" in told(1)
    assert "share 2 sets of weights" in told(2)
    assert "share" not in told(6) + told()
    train = {"data": {"name": "grammar"}, "steps": 2400, "length": 64, "rows": 32, "accumulation": 2, "warmup": 30}
    train |= {"learning_rate": 0.003, "decay": "linear", "masking": {"rate": 0.4}, "seeds": [1, 2]}
    said = told(model={"source": "train"}, train=train)
    assert "on grammar for 2,400 steps: rows of 64 pieces, 64 a step" in said
    assert "40 % of pieces to be predicted; seeds 1, 2." in said
    assert "trained as" not in told(model={"source": "checkpoint"}, train=train)


def test_pairs_are_called_pairs_wherever_the_texts_of_a_run_are_counted(run_folder: Path) -> None:
    read = Run.open(run_folder)
    corpora = {"select": CorpusFacts("nli", "f", 9, 14, 203, 14), "report": CorpusFacts("mixed", "f", 9, 1020, 203, 20)}
    run = replace(read, record=replace(read.record, corpora=corpora))
    written = dict(methods(run, CONFIG, [], (), Verdicts(RunThresholds(), ())))["Corpora"]
    card, facts = dataset_card(run, "scores", [], {}), str(provenance_facts(run, "weights"))
    named = corpus_name(run.record, "select") + corpus_name(run.record, "report")
    compared = texts_text(corpora["select"]) + texts_text(corpora["report"])
    for said in (written, card, facts, named, compared):
        assert "14 pairs of texts" in said
        assert "1,000 sentences and 20 pairs of texts" in said
        assert "14 sentences" not in said
    assert (CorpusFacts().texts(), CorpusFacts(sentences=0).texts()) == (None, "0 sentences")
