"""Methods hold the settings and numbers of a run, and say nothing of what it did not do."""

import re
import string
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.config.config import resolved
from experiments.run.config import RunConfig
from reports.measures.method import Method
from reports.measures.registry import measures
from reports.page.methods import methods
from reports.run.record import ModelFacts, RunRecord
from reports.scores.controls import ComparedBaseline
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts
from tests.reports.page.test_summary import RECORD, row

pytestmark = pytest.mark.slow

WHOLE = resolved(RunConfig.model_validate({"name": "x", "corpus": {"select": {"name": "grammar"}}}))
"A config with the defaults."

CONFIG: dict[str, Any] = {
    "seed": 5,
    "model": {"source": "permuted"},
    "probes": {"names": ["dependency"], "trained": True, "trained_pairs": 123},
    "scoring": {
        "replicates": 777,
        "flips": 4321,
        "reduce": "first",
        "maps": "norms",
        "window_words": 64,
        "metrics": True,
    },
    "controls": {"random": 4, "permuted": 2, "permutations_tried": 9},
}
MODEL = ModelFacts("tiny", "permuted", "bert", layers=6, heads=12, max_pieces=512, sha256="ab12")
KNOWN = replace(RECORD, model=MODEL)
RIVALS = (
    ComparedBaseline("random weights", "fresh weights", 1, is_control=True),
    ComparedBaseline("offset", "a distance", 1, is_control=False),
)


def told(config: dict[str, Any], record: RunRecord = KNOWN, **more: Any) -> dict[str, str]:
    about = {"record": record, "tables": {}}
    run: Any = SimpleNamespace(**about | {"biographies": None} | more)
    verdicts = Verdicts(RunThresholds(0.01, 0.125), ())
    tables = {key: WHOLE.get(key, {}) | one for key, one in config.items() if isinstance(one, dict)}
    whole = {**WHOLE, **config, **tables}
    return dict(methods(run, whole, [row(), row(label="det")], RIVALS, verdicts))


def test_every_setting_of_a_run_is_in_its_methods() -> None:
    said = told(CONFIG)
    assert "tiny (weights permuted within each matrix; architecture bert, 6 layers of 12" in said["Model"]
    assert "ab12" in said["Model"]
    assert "selected on one (1,000 sentences). Heads were evaluated on two (held out; 64 documents" in said["Corpora"]
    assert "of the word pieces of a word the first was taken" in said["Maps of words"]
    assert "windows of 64 words" in said["Maps of words"]
    assert "Kobayashi et al. 2020" in said["Maps of words"]
    assert "2 labels in 2 label–direction pairs" in said["Labels and scores"]
    assert "123 arcs" in said["Labels and scores"]
    assert "reciprocal rank" in said["Labels and scores"]
    assert said["Baselines"].startswith("offset (a distance).")
    assert "Weights were randomly initialised 4 times. Of 9 models with permuted weights the 2" in said["Controls"]
    assert "777 bootstrap resamples" in said["Intervals"]
    assert said["Intervals"].endswith("Seed 5.")
    assert "leads a baseline by more than 12.5 points" in said["Tests and verdicts"]
    assert (
        "a grade where the adjusted p is below 0.01 on the report split: 1 beyond position"
        in said["Tests and verdicts"]
    )


def test_layers_that_share_their_weights_are_said_to() -> None:
    shared = replace(KNOWN, model=replace(MODEL, layers_of_weights=1))
    assert "Its 6 layers share 1 set of weights: heads of one number are the same" in told(CONFIG, shared)["Model"]
    assert "sets of weights" in told(CONFIG, replace(KNOWN, model=replace(MODEL, layers_of_weights=2)))["Model"]
    for own in (None, 6):
        assert "share" not in told(CONFIG, replace(KNOWN, model=replace(MODEL, layers_of_weights=own)))["Model"]


def test_what_was_not_done_or_is_not_known_is_not_told() -> None:
    said = told({}, RunRecord())
    assert "Model" not in said
    assert said["Corpora"] == "Nothing was dropped."
    assert "logistic" not in said["Labels and scores"]


def test_a_training_is_told_with_its_seeds() -> None:
    train = {"data": {"name": "grammar"}, "steps": 2400, "length": 64, "rows": 32, "accumulation": 2, "warmup": 30}
    train |= {"learning_rate": 0.003, "decay": "linear", "masking": {"rate": 0.4}, "seeds": [1, 2]}
    train |= {"encoder": {"layers": 4, "heads": 8, "model": 128}}
    said = told({"model": {"source": "train"}, "train": train})["Model"]
    assert "(4 layers of 8 heads, width 128) on grammar for 2,400 steps: rows of 64 pieces, 64 a step" in said
    assert "40 % of pieces to be predicted; seeds 1, 2." in said
    assert "trained as" not in told({"model": {"source": "checkpoint"}, "train": train})["Model"]


METHODS = [method for one in measures() for method in one.methods]


def test_every_table_of_a_measure_belongs_to_one_of_its_methods() -> None:
    for one in measures():
        described = [table for method in one.methods for table in method.tables]
        assert sorted(described) == sorted(set(one.tables) - {"counts"}), "counts are for comparisons of runs"


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.tables[0])
def test_a_measure_is_told_where_it_ran_with_its_settings(method: Method) -> None:
    title, section, sentences = method.title, method.section, method.sentences
    keys = {key for _, key, _, _ in string.Formatter().parse(sentences) if key}
    said = told({section: {key: 97531 for key in keys}}, tables={method.tables[0]: object()})[title]
    assert said.count("97,531") == len(re.findall(r"{\w+}", sentences))
    assert title not in told(CONFIG)


def test_behaviour_is_told_with_its_settings() -> None:
    pairs = {"corpora": ["grammar", "blimp"], "method": "pll", "seed": 9}
    said = told({"behaviour": pairs}, tables={"behaviour": object()})
    assert "(corpora: grammar, blimp; method: pll; seed of the grammar’s pairs: 9)" in said["Minimal pairs"]


def test_both_pages_hold_the_methods_and_how_to_run_again(report: Path) -> None:
    for name in ("index.html", "report.md"):
        text = (report / name).read_text(encoding="utf-8").replace("\u00a0", " ")
        assert "Methods" in text
        assert "leads a baseline by more than 12.5 points" in text
        assert "The command that started this run is not recorded." in text
        assert "headscope run config.toml" in text
