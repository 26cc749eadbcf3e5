"""Heads whose role is known, because it was built into their weights, found again from real text."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from mha import Encoder, EncoderConfig, Model
from mha.planted.heads import plant_weights
from probes import get_probe
from probes.corpora.corpus import Corpus
from probes.evidence.planted import Knows
from probes.evidence.question import Effort
from probes.evidence.results import Split, pooled_sums, score_table
from probes.records import Document
from probes.scoring.hashed_random import shuffled_places
from probes.scoring.prepared import PreparedTargets
from probes.scoring.score import Outcome, Settings, learn_baselines, score_corpus

PIECES, POSITIONS, LAYERS, HEADS = 27, 60, 2, 2

Build = Callable[..., Model]


@pytest.fixture
def build(tmp_path: Path, save_model: Callable[[Encoder, Path], Model]) -> Build:
    """Return the function that loads a model from disk and plants heads, {(layer, head): one of BY_WEIGHTS}."""

    def build(planted: dict[tuple[int, int], str]) -> Model:
        size = 64 * HEADS
        sizes = {"layers": LAYERS, "heads": HEADS, "model": size, "feed_forward": 16, "positions": POSITIONS}
        torch.manual_seed(0)
        encoder = Encoder(EncoderConfig(vocab=PIECES, **sizes))
        with torch.no_grad():
            encoder.pieces.weight.mul_(10)
            for layer in encoder.layers:
                layer.attention.project.weight.mul_(20)
        model = save_model(encoder, tmp_path)
        plant_weights(model, planted)
        return model

    return build


@pytest.fixture(scope="module")
def corpora(random_documents: Callable[..., list[Document]]) -> list[Corpus]:
    """Return a selection and a report split of sentences of 1 to 12 words of 1 to 3 pieces."""
    return [Corpus.of(random_documents(25, seed=seed, sentences=2, longest=12)) for seed in (1, 2)]


def scores_of(model: Model, corpora: list[Corpus], **settings: object) -> pd.DataFrame:
    """The table of a run with the position probe."""
    probes = [get_probe("position")]
    baselines = learn_baselines(corpora[0].sentences(), probes, ["uniform"])
    outcomes: list[Outcome] = [
        score_corpus(model, corpus.sentences(), probes, baselines, Settings(**settings)) for corpus in corpora
    ]
    splits = [Split(*pooled_sums(outcome, probes)) for outcome in outcomes]
    return score_table(*splits, shape=(LAYERS, HEADS), effort=Effort(50))


def rows_of(scores: pd.DataFrame, label: str) -> pd.DataFrame:
    """The rows of a label, with an index of (layer, head, split)."""
    return scores[scores.label == label].set_index(["layer", "head", "split"])


@pytest.mark.slow
@pytest.mark.parametrize(("label", "place"), [("previous", (0, 0)), ("next", (1, 1))])
def test_a_planted_head_is_found_and_no_other(
    label: str, place: tuple[int, int], build: Build, corpora: list[Corpus]
) -> None:
    scores = scores_of(build({place: label}), corpora, batch_pieces=100)
    rows = rows_of(scores, label)
    for split in ("select", "report"):
        found = rows.xs(split, level="split")
        assert found.loc[place, "accuracy"] == 1.0
        assert found.loc[place, "near_ties"] == 0
        assert found.accuracy.drop(place).max() < 0.6
        assert found.index[found.selected].tolist() == [place]
        assert found.loc[place, "margin"] > 0.4
        assert found.loc[place, "margin_low"] > 0.3
    opposite = rows_of(scores, "next" if label == "previous" else "previous")
    assert opposite.accuracy.xs(place, level=(0, 1)).max() < 0.3


def test_a_positional_head_loses_the_words_that_were_neighbours(build: Build, corpora: list[Corpus]) -> None:
    """Once they stand elsewhere, it is as often right as any word that is drawn in the sentence."""
    model, probes = build({(0, 0): "previous"}), [get_probe("position")]
    texts, accuracy = corpora[0].sentences(), []
    for places in (None, lambda document: shuffled_places(document, 0)):
        heads = PreparedTargets.of(model, texts, probes, {}, Settings(), places).put(model)
        sums = heads["position", "other words", "previous"]
        accuracy.append(float(sums.hits[:, 0].sum() / sums.n.sum()))
    assert accuracy[0] == 1
    assert 0.05 < accuracy[1] < 0.4


@pytest.mark.parametrize("strength", [0.1, 0.5, 0.9])
def test_a_document_has_a_share_of_its_own_around_that_of_the_head_and_within_0_and_1(strength: float) -> None:
    head = Knows(("dependency", "dependent->head", "obj"), strength, spread=0.4)
    shares = np.array([head._strength_in(Document(f"d{number}", ())) for number in range(400)])
    reach = min(0.4, strength, 1 - strength)
    assert strength - reach <= shares.min() < strength - 0.9 * reach
    assert strength + 0.9 * reach < shares.max() <= strength + reach
    assert abs(shares.mean() - strength) < 4 * reach / (3 * len(shares)) ** 0.5
