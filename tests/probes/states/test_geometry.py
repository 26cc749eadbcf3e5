"""Geometry of states, by hand and on planted vectors."""

import numpy as np
import pytest

from probes.states.geometry import (
    ADJUSTED,
    BEYOND,
    RANDOM,
    SELF,
    SENTENCE,
    explained_variance,
    geometry,
    self_similarity,
)
from probes.states.word_states import WordStates
from tests.probes.text_pairs import text_pair


def states_of(vectors: np.ndarray, sentences: list[list[str]]) -> WordStates:
    """Return texts, each a document, with these states."""
    documents = [text_pair(words, [], f"d{i}") for i, words in enumerate(sentences)]
    starts = np.cumsum([0, *map(len, sentences)])
    return WordStates(documents, vectors.astype(np.float32), starts)


def planted(cone: float, context: float, seed: int = 0, *, drawn: bool = False) -> WordStates:
    """Return two layers: states with a common direction as long as `cone`, a word's, and a context's.

    Sentences have every word once; or words `drawn` at random, as random sentences have.
    """
    random = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(8)]
    sentences = [list(random.choice(words, 8) if drawn else random.permutation(words)) for _ in range(40)]
    of_word = dict(zip(words, random.normal(size=(8, 64)), strict=True))
    common, rows = np.zeros(64), []
    common[0] = cone
    for sentence in sentences:
        of_text = random.normal(size=64)
        rows += [common + of_word[word] + context * of_text for word in sentence]
    return states_of(np.stack([random.normal(size=(len(rows), 64)), np.array(rows)]), sentences)


def values(states: WordStates) -> dict[str, float]:
    table = geometry(states, 0, contexts=20)
    assert not table.duplicated(["layer", "measure"]).any()
    assert (table.low <= table.value).all()
    return table[table.layer == 1].set_index("measure").value.to_dict()


def test_a_common_direction_is_anisotropy_and_adjusting_takes_it_away() -> None:
    flat, cone = values(planted(0, 0.5)), values(planted(40, 0.5))
    assert abs(flat[RANDOM]) < 0.2
    assert cone[RANDOM] > 0.9
    assert cone[SELF] > flat[SELF]
    assert cone[SELF + ADJUSTED] == pytest.approx(cone[SELF] - cone[RANDOM])
    assert cone[SELF + ADJUSTED] < 0.1 < flat[SELF + ADJUSTED]


def test_words_are_no_closer_to_their_sentence_than_random_words_where_sentences_share_nothing() -> None:
    """A word is part of the mean, so the cosine itself is above 0 even then."""
    none, shared = (values(planted(0, context, drawn=True)) for context in (0.05, 2.0))
    assert none[SENTENCE] > 0.3
    assert abs(none[BEYOND]) < 0.06
    assert shared[BEYOND] > 0.3
    assert abs(values(planted(40, 0.05, drawn=True))[BEYOND]) < 0.01, "nor by a common direction"


def test_self_similarity_is_the_mean_over_all_pairs() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 3))
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    pairs = [unit[i] @ unit[j] for i in range(5) for j in range(5) if i != j]
    assert self_similarity(rows) == pytest.approx(np.mean(pairs))


def test_explained_variance_is_that_of_scikit_learn() -> None:
    from sklearn.decomposition import PCA

    rows = np.random.default_rng(2).normal(size=(6, 4)) + 5
    assert explained_variance(rows) == pytest.approx(PCA(1).fit(rows).explained_variance_ratio_[0])
    assert np.isnan(explained_variance(np.ones((3, 2))))
