import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from experiments.measures.minimal_pairs import FOLDED, MinimalPairsMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from reports import Run
from reports.tables.scores import BEHAVIOUR
from tests.experiments.measures.conftest import told
from tests.experiments.measures.pages import ONE_RUN

PAIRS = "True\tthe king sleeps\nFalse\tthe king sleep\nTrue\tthe kings sleep\nFalse\tthe kings sleeps\n"


@pytest.mark.slow
def test_a_run_writes_what_the_model_prefers_and_its_page_says_so(base: Path, speaker: Path, tmp_path: Path) -> None:
    (tmp_path / "sleepers.txt").write_text(PAIRS, "utf-8")
    corpora = f'behaviour={{corpora=["grammar", "{tmp_path}/sleepers.txt"], first=40, method="pll"}}'
    few = ('probes.names=["position"]', "corpus.select.documents=2", "corpus.report.documents=2")
    folder = run(load_config(base, (*few, f"model.name='{speaker}'", corpora)), tmp_path / "runs")
    found = Run.open(folder).tables["behaviour"]
    whole = found[found.level == "corpus"].set_index("corpus")
    assert (whole.n + whole.left_out).to_dict() == {"grammar": 40, "sleepers": 2}
    assert set(whole.method) == {"pll"}
    assert "<h2>Minimal pairs</h2>" in (folder / "report" / "index.html").read_text("utf-8")
    record = json.loads((folder / "run.json").read_text("utf-8"))
    assert record["facts"]["minimal_pairs"]["sleepers"]["decided"] == 2


def line(corpus: str, level: str, accuracy: float, n: int = 200, **more: object) -> dict[str, object]:
    numbers = {"n": n, "clusters": n, "accuracy": accuracy, "ci_low": accuracy - 0.05, "ci_high": accuracy + 0.05}
    return {**BEHAVIOUR.missing, **ONE_RUN, "corpus": corpus, "level": level, "method": "masked", **numbers, **more}


def rows() -> pd.DataFrame:
    """An invented corpus of agreement with two attractors at the most, and one of many paradigms."""
    attractors = [line("ships", "attractors", 0.9 - 0.3 * n, attractors=n) for n in range(3)]
    few = line("ships", "attractors", 0.1, n=5, attractors=3)
    numbers = [line("ships", "number", 0.8, number="singular"), line("ships", "number", 0.4, number="plural")]
    conditions = [line("ships", "condition", 0.5, paradigm="a", condition=name) for name in ("question", "main clause")]
    paradigms = [line("many", "paradigm", 0.5, paradigm=f"paradigm_{n}") for n in range(FOLDED + 2)]
    phenomena = [line("many", "phenomenon", value, phenomenon=f"island_{value}") for value in (0.3, 0.7)]
    extra = [line("many", "condition", 0.5, paradigm=f"paradigm_{n}", condition="c") for n in (1, 2)]
    whole = [line("ships", "corpus", 0.62, left_out=1234), line("many", "corpus", 0.51)]
    return pd.DataFrame([*whole, *attractors, few, *numbers, *conditions, *paradigms, *phenomena, *extra])


def test_groupings_are_those_with_something_to_compare_and_verdicts_need_clusters(
    measured: Callable[..., Run],
) -> None:
    ships, many = told(MinimalPairsMeasure, measured(behaviour=rows())).split("### many")
    assert [title in ships for title in ("By attractors", "By number", "By condition", "By paradigm")] == [
        *(True, True, True, False)
    ]
    assert [title in many for title in ("By phenomenon", "By paradigm: 17 rows", "By condition")] == [True, True, False]
    assert (
        "The correct sentence is preferred in 62.0 % [57.0, 67.0] of 200 pairs: the interval lies above chance. "
        "Without attractors 90.0 % [85.0, 95.0] of 200, with 2 attractors: 30.0 % [25.0, 35.0] of 200. Pairs left "
        "out: 1,234." in ships
    )
    verdicts = {
        line.split(" | ")[0][2:]: line for line in ships.splitlines()[::-1] if "attractor" in line and "| " in line
    }
    assert "| above chance |" in verdicts["1 attractor"]
    assert "| below chance |" in verdicts["2 attractors"]
    assert "| – |" in verdicts["3 attractors"]
    assert "| island 0.3 |" in many


@pytest.mark.slow
def test_the_seed_of_the_grammar_s_pairs_is_heard(scored: Callable[..., Run], speaker: Path) -> None:
    asked = (
        'probes.names=["position"]',
        f"model.name='{speaker}'",
        'behaviour.corpora=["grammar"]',
        "behaviour.first=15",
    )
    one, other = (scored(*asked, f"behaviour.seed={seed}").facts("minimal_pairs")["grammar"] for seed in (71, 72))
    assert one["items"] == other["items"] == 15
    assert one["fingerprint"] != other["fingerprint"]
