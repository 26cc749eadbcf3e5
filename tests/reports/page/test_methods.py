"""Methods hold what only some runs have: weights that layers share, and a training; the record pins all others."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from experiments.config.config import resolved
from experiments.run.config import RunConfig
from reports.page.methods import methods
from reports.run.record import ModelFacts
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
