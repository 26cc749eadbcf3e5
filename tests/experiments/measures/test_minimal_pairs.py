import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer

from experiments.measures.minimal_pairs import FOLDED, MinimalPairsMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Encoder, export_encoder, load_model
from mha.training.vocabulary import save_tokenizer
from reports import Run
from tests.experiments.measures.conftest import told

PAIRS = "True\tthe king sleeps\nFalse\tthe king sleep\nTrue\tthe kings sleep\nFalse\tthe kings sleeps\n"
QUICK = 'probes.names=["position"]'


@pytest.fixture(scope="session")
def speaker(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tiny model with a masked-LM head that likes plural verbs, whatever their subject is."""
    folder = tmp_path_factory.mktemp("models") / "speaker"
    source = load_model(str(tiny)).module
    assert isinstance(source, Encoder)
    tokenizer = Tokenizer.from_file(str(tiny / "tokenizer.json"))
    tokenizer.add_special_tokens(["[MASK]"])
    tokenizer.add_tokens(["king", "kings", "sleep", "sleeps"])
    ids = {word: tokenizer.token_to_id(word) for word in ("sleep", "are", "were", "have", "do")}
    encoder = Encoder(replace(source.config, vocab=tokenizer.get_vocab_size()), lm_head=True)
    head = encoder.lm_head
    assert head is not None
    with torch.no_grad():
        for parameter in (head.transform.weight, head.transform.bias, head.norm.bias, head.decoder.bias):
            parameter.zero_()
        for piece in filter(None, ids.values()):
            head.decoder.bias[piece] = 5
    export_encoder(encoder, folder)
    save_tokenizer(tokenizer, folder, 512)
    return folder


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    (tmp_path / "sleepers.txt").write_text(PAIRS, "utf-8")
    return tmp_path / "sleepers.txt"


@pytest.fixture
def ask(base: Path, speaker: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return the function that runs the speaker on a few texts with changes as of --set."""
    few = ("corpus.select.documents=2", "corpus.report.documents=2")

    def ask(*changes: str, model: Path = speaker) -> Path:
        config = load_config(base, (QUICK, *few, f"model.name='{model}'", *changes))
        return run(config, tmp_path / "runs", overwrite=True)

    return ask


def row(frame: pd.DataFrame, corpus: str, level: str, **keys: object) -> pd.Series:
    rows = frame[(frame.corpus == corpus) & (frame.level == level)]
    for column, value in keys.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.slow
def test_a_run_writes_what_the_model_prefers_and_its_page_says_so(ask: Callable[..., Path], pairs: Path) -> None:
    folder = ask(f'behaviour.corpora=["grammar", "{pairs}"]', "behaviour.first=40")
    frame = Run.open(folder).tables["behaviour"]
    assert (folder / "behaviour.csv").is_file()
    whole = row(frame, "sleepers", "corpus")
    assert (whole.n, whole.accuracy, whole.method, whole.left_out) == (2, 0.5, "masked", 0)
    singular, plural = (row(frame, "grammar", "number", number=number) for number in ("singular", "plural"))
    assert singular.n + plural.n + singular.left_out + plural.left_out == 40
    assert singular.accuracy < 0.5 < plural.accuracy, "a verb's form is preferred whatever its subject is"
    assert row(frame, "grammar", "attractors", attractors=0).n > 10
    assert "## Minimal pairs" in (folder / "report" / "report.md").read_text("utf-8")
    record = json.loads((folder / "run.json").read_text("utf-8"))
    assert record["facts"]["minimal_pairs"]["sleepers"]["decided"] == 2
    assert "minimal_pairs" in record["stages"]


@pytest.mark.slow
def test_the_method_of_the_config_is_used_and_what_is_left_out_is_counted(
    ask: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    (tmp_path / "longer.txt").write_text("True\tthe king sleeps\nFalse\tthe the king sleeps\n" + PAIRS, "utf-8")
    corpora = f'behaviour.corpora=["{tmp_path}/longer.txt"]'
    scored = {}
    for method in ("auto", "masked", "pll"):
        folder = ask(corpora, f"behaviour.method='{method}'")
        if method == "masked":
            dropped = json.loads((folder / "run.json").read_text("utf-8"))["dropped"]
            lost = {"reason": "not different in exactly one piece", "count": 1, "examples": ["longer:1"]}
            assert {"split": "longer", "scope": "minimal pairs", **lost} in dropped
        scored[method] = row(Run.open(folder).tables["behaviour"], "longer", "corpus")
    assert {method: (one.method, one.n, one.left_out) for method, one in scored.items()} == {
        "auto": ("masked, pll", 3, 0),
        "masked": ("masked", 2, 1),
        "pll": ("pll", 3, 0),
    }


NAN = float("nan")
HOSTILE = '<b>&"|</script>`'


def line(corpus: str, level: str, accuracy: float, spread: float = 0.05, n: int = 200, **more: object) -> dict:
    low, high = (NAN, NAN) if math.isnan(accuracy) else (accuracy - spread, accuracy + spread)
    row = {"model": "speaker", "step": pd.NA, "corpus": corpus, "level": level, "attractors": pd.NA, "method": "masked"}
    row |= dict.fromkeys(("field", "phenomenon", "paradigm", "condition", "number"), "")
    row |= {"n": n, "clusters": n, "accuracy": accuracy, "ci_low": low, "ci_high": high, "near_ties": 1, "left_out": 0}
    return row | more


def rows() -> pd.DataFrame:
    """An invented corpus of agreement with two attractors at the most, and one of many paradigms."""
    attractors = [line("ships", "attractors", 0.9 - 0.3 * n, attractors=n) for n in range(3)]
    few = line("ships", "attractors", 0.1, n=5, attractors=3)
    numbers = [line("ships", "number", 0.8, number="singular"), line("ships", "number", 0.4, number="plural")]
    conditions = [line("ships", "condition", 0.5, paradigm="a", condition=name) for name in ("question", "main clause")]
    whole = line("ships", "corpus", 0.62, left_out=1234)
    paradigms = [
        line("many", "paradigm", 0.5, paradigm=HOSTILE if n == 0 else f"paradigm_{n}", method="pll")
        for n in range(FOLDED + 2)
    ]
    phenomena = [line("many", "phenomenon", value, phenomenon=f"island_{value}") for value in (0.3, 0.7)]
    extra = [line("many", "condition", 0.5, paradigm=f"paradigm_{n}", condition="c") for n in (1, 2)]
    other = [
        line("many", "corpus", 0.51, method="masked, pll"),
        line("many", "field", NAN, n=0, field="empty", method=""),
    ]
    return pd.DataFrame([whole, *attractors, few, *numbers, *conditions, *other, *paradigms, *phenomena, *extra])


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


def test_only_methods_that_were_used_are_explained_and_nothing_decided_is_said(measured: Callable[..., Run]) -> None:
    text = told(MinimalPairsMeasure, measured(behaviour=rows()))
    assert [f"**{name}**" in text for name in ("masked", "pll", "cloze")] == [True, True, False]
    nothing = pd.DataFrame([line("ships", "corpus", NAN, n=0, left_out=7, method="")])
    assert "Nothing was decided; pairs left out: 7." in told(MinimalPairsMeasure, measured(behaviour=nothing))
    last = pd.concat([rows()[:1].assign(step=0, accuracy=0.58), rows()[:1].assign(step=400)])
    assert "preferred in 62.0 %" in told(MinimalPairsMeasure, measured(behaviour=last)), "the last step"
