import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from experiments.run.config import load_config
from experiments.run.run import run
from experiments.studies.causal.patching import PatchingError
from mha import ModelError
from probes.pairs.number_swaps import NumberSwap, number_swapped
from reports import Run
from tests.experiments.studies.causal.readers import whole_words

FEW = ("corpus.select.documents=2", "corpus.report.documents=2", 'probes.names=["position"]', "scoring.flips=99")


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a masked LM that has whole words for the sentences that are patched."""
    folder, words = tmp_path_factory.mktemp("models") / "reader", set[str]()
    for seed in (1, 2):
        for one, _ in zip(number_swapped(seed), range(60), strict=False):
            if isinstance(one, NumberSwap):
                words |= {word.lower() for word in (*one.clean, *one.corrupted, one.wrong)}
    return whole_words(folder, words)


@pytest.fixture
def ask(base: Path, reader: Path, tmp_path: Path) -> Callable[..., Run]:
    """Return the function that runs the reader with changes as of --set."""

    def ask(*changes: str, model: Path = reader) -> Run:
        config = load_config(base, (*FEW, "patching.enabled=true", f"model.name='{model}'", *changes))
        return Run.open(run(config, tmp_path / "runs", overwrite=True))

    return ask


@pytest.mark.slow
def test_a_run_patches_every_head_and_its_page_says_so(ask: Callable[..., Run]) -> None:
    found = ask("patching.items=12", "patching.seed=1")
    table, facts = found.studies["patching"], found.record.patching
    every = table[table["role"] == "all places"]
    assert every["name"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert set(table["corpus"]) == {"grammar"}
    assert (every["n"] == facts.items).all()
    assert every["share"].notna().all() == (facts.clean > facts.corrupted)
    assert set(table["role"]) >= {"all places", "subject", "verb", "other", "[CLS], [SEP]"}
    assert "post-norm" in facts.why_no_direct
    assert facts.direct is None
    dropped = [one for one in found.record.dropped if one.reason.startswith("patching: ")]
    lost = {one.reason.removeprefix("patching: "): one.count for one in dropped}
    assert lost["the subject is no noun"] > 0
    longer = sum(count for reason, count in lost.items() if reason.startswith("longer") or "vocabulary" in reason)
    assert facts.items + longer == 12
    assert "patching" in found.record.stages
    assert "Activation patching of the answer" in (found.folder / "report" / "index.html").read_text("utf-8")


@pytest.mark.slow
def test_the_seed_decides_the_sentences_and_the_same_run_gives_the_same_table(ask: Callable[..., Run]) -> None:
    one, same, other = (ask("patching.items=8", f"patching.seed={seed}").studies["patching"] for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert not one["estimate"].equals(other["estimate"])


def test_a_model_that_cannot_be_asked_is_refused_with_the_reason(
    ask: Callable[..., Run], tiny: Path, reader: Path, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match="has no masked-LM head"):
        ask(model=tiny)
    config = json.loads((reader / "tokenizer.json").read_text("utf-8"))
    vocabulary = config["model"]["vocab"]
    config["model"]["vocab"] = {word if place < 5 else f"x{word}": place for word, place in vocabulary.items()}
    silent = tmp_path / "silent"
    silent.mkdir()
    for file in reader.iterdir():
        (silent / file.name).write_bytes(file.read_bytes())
    (silent / "tokenizer.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(PatchingError, match=r"can be tested on none of 3: "):
        ask("patching.items=3", model=silent)


@pytest.mark.slow
def test_a_run_that_does_not_ask_patches_nothing(base: Path, reader: Path, tmp_path: Path) -> None:
    config = load_config(base, (*FEW, f"model.name='{reader}'"))
    assert "patching" not in Run.open(run(config, tmp_path)).studies
