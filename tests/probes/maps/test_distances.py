"""Distances of heads, gathered in the pass that scores them."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from mha import Model, align, collate
from mha.models.maps import MAPS
from mha.pieces import CLS, SEP, Pieces
from probes.corpora.corpus import Corpus, MemoryTexts, Texts
from probes.evidence.examples import word_level
from probes.maps.distances import Distances, text_key
from probes.records import Document
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Numbers


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    return Corpus.of(random_documents(6, sentences=4, longest=9)).sentences()


def observed(model: Model, texts: Texts, settings: Settings | None = None) -> Distances:
    distances = Distances()
    score_corpus(model, texts, [], {}, settings or Settings(), observers=[distances])
    return distances


def means(distances: Distances) -> Numbers:
    found = distances.means()
    assert found is not None
    return found


@pytest.mark.parametrize("maps", MAPS)
def test_distances_are_those_of_scipy_between_smoothed_rows_as_shares_of_their_sums(
    model: Model, texts: Texts, maps: str
) -> None:
    rows: list[Numbers] = []
    for text in texts.take(range(len(texts))):
        read = word_level(model, align(model.tokenizer, [text.words])[0], Settings(maps=maps))
        shares = (read / read.sum(3, keepdims=True)).astype(np.float64)
        shares = shares.reshape(-1, *shares.shape[2:])
        rows += list(np.moveaxis(0.999 * shares + 0.001 / shares.shape[2], 1, 0))
    expected = [[np.mean([jensenshannon(row[i], row[j]) ** 2 for row in rows]) for j in range(6)] for i in range(6)]
    found = observed(model, texts, Settings(maps=maps))
    np.testing.assert_allclose(means(found), expected, atol=1e-6)
    assert (means(found) < math.log(2)).all()


def test_only_chosen_texts_count_and_none_with_a_word_that_has_no_piece(model: Model, texts: Texts) -> None:
    chosen = texts.take([0, 3])
    some = Distances([text_key(text) for text in chosen])
    score_corpus(model, texts, [], {}, Settings(), observers=[some])
    np.testing.assert_allclose(means(some), means(observed(model, MemoryTexts(chosen))), atol=1e-7)
    assert some.texts == 2
    empty = Distances()
    lost = collate([align_words(2)[0]])
    lost.from_words[0, 1] = 0
    empty.add(empty.observe([Document("a", ())], lost))
    assert (empty.texts, empty.means()) == (0, None)


def align_words(count: int) -> list[Pieces]:
    """Return the pieces of a text of so many words, one piece each, between special tokens."""
    word = np.array([CLS, *range(count), SEP], np.int32)
    return [Pieces(np.ones(count + 2, np.int32), word, count)]
