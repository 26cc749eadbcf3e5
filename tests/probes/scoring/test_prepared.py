"""Prepared targets give the sums that scoring the corpus gives, model after model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mha import Encoder, EncoderConfig, Model
from mha.models.model import permute_weights
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.evidence.results import pooled_sums
from probes.records import Document, Sentence
from probes.scoring.baselines import BASELINES
from probes.scoring.prepared import PreparedError, PreparedTargets
from probes.scoring.score import Settings, learn_baselines, score_corpus

PROBES = [get_probe(name) for name in ("position", "dependency", "agreement")]
SETTINGS = Settings(batch_pieces=120, workers=2)


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    return Corpus.of(random_documents(20)).sentences()


@pytest.fixture(scope="module")
def targets(model: Model, texts: Texts) -> PreparedTargets:
    return PreparedTargets.of(model, texts, PROBES, learn_baselines(texts, PROBES, BASELINES), SETTINGS)


@pytest.fixture(scope="module")
def other(
    tmp_path_factory: pytest.TempPathFactory, save_model: Callable[[Encoder, Path], Model], model: Model
) -> Model:
    encoder = Encoder(model.module.config)
    permute_weights(encoder, 3)
    return save_model(encoder, tmp_path_factory.mktemp("other"))


@pytest.mark.slow
def test_prepared_targets_give_what_scoring_gives_for_every_model(
    targets: PreparedTargets, texts: Texts, model: Model, other: Model
) -> None:
    baselines = learn_baselines(texts, PROBES, BASELINES)
    for one in (model, other, model):
        heads, tables = pooled_sums(score_corpus(one, texts, PROBES, baselines, SETTINGS), PROBES)
        found = targets.put(one)
        assert list(found) == list(heads)
        for question, sums in heads.items():
            assert found[question].clusters == sums.clusters
            for part in ("n", "hits", "mass", "coverage", "near_ties"):
                np.testing.assert_array_equal(getattr(found[question], part), getattr(sums, part))
        for name, table in tables.items():
            for question, sums in table.items():
                np.testing.assert_array_equal(targets.baselines[name][question].hits, sums.hits)


def test_a_model_that_reads_other_pieces_is_refused(
    targets: PreparedTargets, model: Model, save_model: Callable[[Encoder, Path], Model], tmp_path: Path
) -> None:
    shorter = save_model(Encoder(replace(model.module.config, positions=20)), tmp_path / "shorter")
    with pytest.raises(PreparedError, match="another tokenizer or longest input"):
        targets.put(shorter)
    wider = save_model(
        Encoder(EncoderConfig(vocab=27, layers=1, heads=2, model=8, feed_forward=8, positions=40)), tmp_path
    )
    assert targets.fits(wider), "the number of heads is the model's own affair"
    assert all(sums.hits.shape[1] == 2 for sums in targets.put(wider).values())


def test_shuffled_words_are_scored_as_the_text_that_reads_so(model: Model, tree: Callable[[str], Sentence]) -> None:
    """Four words that are written down in their other order, with the tree that follows them."""
    rows = ["the DET 3 det _", "old ADJ 3 amod _", "harbours NOUN 4 nsubj _", "sank VERB 0 root _"]
    order = [2, 0, 3, 1]
    head = {row.split()[0]: order.index(int(row.split()[2]) - 1) + 1 if row.split()[2] != "0" else 0 for row in rows}
    moved = [" ".join([*rows[i].split()[:2], str(head[rows[i].split()[0]]), *rows[i].split()[3:]]) for i in order]
    stands = np.argsort(order)
    texts = [Corpus.of([Document("d", (tree("\n".join(lines)),))]).sentences() for lines in (rows, moved)]
    shuffled = PreparedTargets.of(model, texts[0], PROBES[1:2], {}, SETTINGS, lambda document: stands).put(model)
    written = PreparedTargets.of(model, texts[1], PROBES[1:2], {}, SETTINGS).put(model)
    assert list(shuffled) == list(written)
    for question, sums in written.items():
        np.testing.assert_array_equal(shuffled[question].hits, sums.hits)
        np.testing.assert_array_equal(shuffled[question].mass, sums.mass)


def test_baselines_read_no_other_order(model: Model, texts: Texts) -> None:
    uniform = {"uniform": BASELINES["uniform"]()}
    with pytest.raises(ValueError, match="without `places`"):
        PreparedTargets.of(model, texts, PROBES, uniform, SETTINGS, lambda document: np.arange(len(document)))
