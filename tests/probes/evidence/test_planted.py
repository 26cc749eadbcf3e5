"""Heads whose role is known, because it was built into their weights, found again from real text."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mha import Encoder, EncoderConfig, Model
from mha.planted.heads import plant_weights
from probes import get_probe
from probes.corpora.corpus import Corpus
from probes.evidence.question import Effort
from probes.evidence.results import Split, pooled_sums, score_table
from probes.records import Document
from probes.scoring.score import Settings, learn_baselines, score_corpus

LAYERS, HEADS = 2, 2


@pytest.fixture(scope="module")
def corpora(random_documents: Callable[..., list[Document]]) -> list[Corpus]:
    """Return a selection and a report split of sentences of 1 to 12 words of 1 to 3 pieces."""
    return [Corpus.of(random_documents(25, seed=seed, sentences=2, longest=12)) for seed in (1, 2)]


@pytest.fixture
def model(tmp_path: Path, save_model: Callable[[Encoder, Path], Model]) -> Model:
    """Return a model that was loaded from disk, with weights large enough that maps differ."""
    torch.manual_seed(0)
    sizes = {"layers": LAYERS, "heads": HEADS, "model": 64 * HEADS, "feed_forward": 16, "positions": 60}
    encoder = Encoder(EncoderConfig(vocab=27, **sizes))
    with torch.no_grad():
        encoder.pieces.weight.mul_(10)
        for layer in encoder.layers:
            layer.attention.project.weight.mul_(20)
    return save_model(encoder, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("label", "place"), [("previous", (0, 0)), ("next", (1, 1))])
def test_a_planted_head_is_found_and_no_other(
    label: str, place: tuple[int, int], model: Model, corpora: list[Corpus]
) -> None:
    plant_weights(model, {place: label})
    probes, texts = [get_probe("position")], [corpus.sentences() for corpus in corpora]
    baselines = learn_baselines(texts[0], probes, ["uniform"])
    outcomes = [score_corpus(model, some, probes, baselines, Settings(batch_pieces=100)) for some in texts]
    splits = [Split(*pooled_sums(outcome, probes)) for outcome in outcomes]
    scores = score_table(*splits, shape=(LAYERS, HEADS), effort=Effort(50))
    rows = scores.set_index(["layer", "head", "split"])
    for split in ("select", "report"):
        found = rows[rows.label == label].xs(split, level="split")
        assert found.loc[place, "accuracy"] == 1.0
        assert found.loc[place, "near_ties"] == 0
        assert found.accuracy.drop(place).max() < 0.6
        assert found.index[found.selected].tolist() == [place]
        assert found.loc[place, "margin"] > 0.4
        assert found.loc[place, "margin_low"] > 0.3
    opposite = rows[rows.label == ("next" if label == "previous" else "previous")]
    assert opposite.accuracy.xs(place, level=(0, 1)).max() < 0.3
