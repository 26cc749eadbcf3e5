"""Methods hold the settings and numbers of a run."""

import re
import string
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.config.config import resolved
from experiments.run.config import RunConfig
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
    "probes": {"names": ["dependency"], "trained": True, "trained_pairs": 123},
    "scoring": {"replicates": 777, "reduce": "first", "maps": "norms", "window_words": 64, "metrics": True},
    "controls": {"random": 4, "permuted": 2, "permutations_tried": 9},
}
MODEL = ModelFacts("tiny", "permuted", "bert", layers=6, heads=12, max_pieces=512, sha256="ab12")
KNOWN = replace(RECORD, model=MODEL)
RIVALS = (
    ComparedBaseline("random weights", "random ones", 1, is_control=True),
    ComparedBaseline("offset", "a distance", 1, is_control=False),
)


def told(config: dict[str, Any], record: RunRecord = KNOWN, **tables: object) -> dict[str, str]:
    run: Any = SimpleNamespace(record=record, tables=tables, biographies=None)
    sections = {key: WHOLE.get(key, {}) | one for key, one in config.items() if isinstance(one, dict)}
    verdicts = Verdicts(RunThresholds(0.01, 0.125), ())
    return dict(methods(run, {**WHOLE, **config, **sections}, [row(), row(label="det")], RIVALS, verdicts))


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Model", ("tiny (weights permuted within each matrix; architecture bert, 6 layers of 12", "ab12")),
        ("Corpora", ("selected on one (1,000 sentences). Heads were evaluated on two (held out; 64 documents",)),
        (
            "Maps of words",
            ("word pieces of a word the first was taken", "windows of 64 words", "Kobayashi et al. 2020"),
        ),
        ("Labels and scores", ("2 labels in 2 label–direction pairs", "123 arcs", "reciprocal rank")),
        ("Baselines", ("offset (a distance).",)),
        ("Controls", ("initialised 4 times. Of 9 models with permuted weights the 2",)),
        ("Intervals", ("777 bootstrap resamples", "Seed 5.")),
        ("Tests and verdicts", ("a baseline by more than 12.5 points", "adjusted p is below 0.01 on the report split")),
    ],
)
def test_every_setting_of_a_run_is_in_its_methods(title: str, words: tuple[str, ...]) -> None:
    assert [one for one in words if one not in told(CONFIG)[title]] == []


def test_layers_that_share_their_weights_and_a_training_are_told() -> None:
    shared = replace(KNOWN, model=replace(MODEL, layers_of_weights=1))
    assert "Its 6 layers share 1 set of weights: heads of one number are the same" in told(CONFIG, shared)["Model"]
    assert "share" not in told(CONFIG, replace(KNOWN, model=replace(MODEL, layers_of_weights=6)))["Model"]
    train = {"data": {"name": "grammar"}, "steps": 2400, "length": 64, "rows": 32, "accumulation": 2, "warmup": 30}
    train |= {"learning_rate": 0.003, "decay": "linear", "masking": {"rate": 0.4}, "seeds": [1, 2]}
    said = told({"model": {"source": "train"}, "train": train})["Model"]
    assert "on grammar for 2,400 steps: rows of 64 pieces, 64 a step" in said
    assert "40 % of pieces to be predicted; seeds 1, 2." in said


def test_a_measure_is_told_where_it_ran_with_its_settings() -> None:
    for method in (method for one in measures() for method in one.methods):
        keys = {key for _, key, _, _ in string.Formatter().parse(method.sentences) if key}
        said = told({method.section: dict.fromkeys(keys, 97531)}, **{method.tables[0]: object()})[method.title]
        assert said.count("97,531") == len(re.findall(r"{\w+}", method.sentences))
