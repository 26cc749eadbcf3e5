import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer

from experiments.config.config import ConfigError
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Encoder, ModelError, export_encoder, load_model
from mha.training.vocabulary import save_tokenizer
from reports import Run

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
    frame = Run.open(folder).behaviour
    assert frame is not None
    assert (folder / "behaviour.csv").is_file()
    whole = row(frame, "sleepers", "corpus")
    assert (whole.n, whole.accuracy, whole.method, whole.left_out) == (2, 0.5, "masked", 0)
    singular, plural = (row(frame, "grammar", "number", number=number) for number in ("singular", "plural"))
    assert singular.n + plural.n + singular.left_out + plural.left_out == 40
    assert singular.accuracy < 0.5 < plural.accuracy, "a verb's form is preferred whatever its subject is"
    assert row(frame, "grammar", "attractors", attractors=0).n > 10
    page = (folder / "report" / "index.html").read_text("utf-8")
    text = (folder / "report" / "report.md").read_text("utf-8")
    assert "Minimal pairs" in page
    assert "## Minimal pairs" in text
    assert (folder / "report" / "figures" / "behaviour.png").is_file()
    record = json.loads((folder / "run.json").read_text("utf-8"))
    assert record["behaviour"]["sleepers"]["decided"] == 2
    assert {"behaviour: grammar", "behaviour: sleepers"} <= set(record["stages"])


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
        scored[method] = row(Run.open(folder).behaviour, "longer", "corpus")
    assert {method: (one.method, one.n, one.left_out) for method, one in scored.items()} == {
        "auto": ("masked, pll", 3, 0),
        "masked": ("masked", 2, 1),
        "pll": ("pll", 3, 0),
    }


def test_the_seed_of_the_grammar_s_pairs_is_heard(ask: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    prints = []
    for seed in (71, 72):
        folder = ask('behaviour.corpora=["grammar"]', "behaviour.first=15", f"behaviour.seed={seed}")
        prints.append(json.loads((folder / "run.json").read_text("utf-8"))["behaviour"]["grammar"])
    assert prints[0]["items"] == prints[1]["items"] == 15
    assert prints[0]["fingerprint"] != prints[1]["fingerprint"]


def test_a_model_without_a_head_is_refused_before_anything_is_scored(
    ask: Callable[..., Path], tiny: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "experiments.run.scope.score_corpus", lambda *words, **named: pytest.fail("something was scored")
    )
    with pytest.raises(ModelError, match="has no masked-LM head"):
        ask('behaviour.corpora=["grammar"]', model=tiny)
    assert not (tmp_path / "runs" / "quick").exists()


def test_a_run_that_asks_for_no_pairs_has_no_behaviour(scored: Callable[..., Run]) -> None:
    assert scored().behaviour is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ('behaviour.corpora=["blimb"]', "behaviour: unknown minimal pairs 'blimb'; did you mean 'blimp'"),
        ('behaviour.corpora=["grammar", "grammar"]', "behaviour: minimal pairs 'grammar' are named twice"),
        ("behaviour.first=0", "behaviour.first: Input should be greater than or equal to 1"),
        ("behaviour.method='guess'", "behaviour.method: Input should be 'auto', 'masked' or 'pll'"),
        ("behaviour.corpus='grammar'", "unknown key 'behaviour.corpus'; did you mean 'corpora'"),
    ],
)
def test_faults_in_the_table_are_told_in_one_line(base: Path, change: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(base, (change,))
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_path_is_relative_to_the_config_file(base: Path, tmp_path: Path, pairs: Path) -> None:
    config = tmp_path / "here.toml"
    config.write_text(base.read_text("utf-8") + '\n[behaviour]\ncorpora = ["sleepers.txt"]\n', "utf-8")
    assert load_config(config).behaviour.corpora == (str(pairs.resolve()),)
