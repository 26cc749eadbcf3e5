import numpy as np
import pytest
import scipy.stats
import torch

from mha.batches import collate
from mha.models.model import Model
from mha.pieces import align
from probes.corpora.ratings import Ratings
from probes.maps.relatedness import BANDS, RatedItems, Relatedness, rated_pairs, relatedness_table
from probes.records import Document, Sentence

RATINGS = Ratings("sea", {("port", "ship"): 9.0, ("dog", "ship"): 2.0, ("dog", "port"): 4.0})


def text_of(name: str, words: str, upos: tuple[str, ...] = ()) -> Document:
    forms = tuple(words.split())
    n = len(forms)
    return Document(name, (Sentence(f"{name}-1", forms, np.full(n, -1), ("",) * n, upos),))


def items_of(rating: object, attention: object, band: object = None, pair: object = None) -> RatedItems:
    n = len(np.asarray(rating))
    zero, own = np.zeros(n, np.int64), np.arange(n)
    given = (zero if band is None else np.asarray(band), own if pair is None else np.asarray(pair))
    return RatedItems(np.asarray(rating, float), *given, own, np.asarray(attention))


def test_all_rated_pairs_of_content_words_of_a_sentence_are_found() -> None:
    text = Document(
        "d", (*text_of("a", "the ship saw dogs .").sentences, *text_of("b", "the port saw the Ships").sentences)
    )
    assert rated_pairs(text, RATINGS) == [(1, 3, ("dog", "ship"), 2.0), (6, 9, ("port", "ship"), 9.0)]
    tagged = text_of("c", "ship port dog", ("NOUN", "AUX", "NOUN"))
    assert rated_pairs(tagged, RATINGS) == [(0, 2, ("dog", "ship"), 2.0)]


def test_the_attention_of_a_pair_is_the_mean_of_both_directions(model: Model) -> None:
    document = text_of("a", "the ship saw the dog")
    observed = Relatedness(RATINGS, layers=1, heads=2)
    look = observed.observe([document], collate(align(model.tokenizer, [document.words])))
    maps = torch.zeros(1, 2, 5, 7)
    maps[0, :, 1, 4] = torch.tensor([0.5, 0.0])
    maps[0, :, 4, 1] = torch.tensor([0.1, 0.2])
    look.see(0, maps, torch.empty(0))
    observed.add(look)
    items = observed.items()
    assert items.attention[0].tolist() == pytest.approx([0.3, 0.1])
    assert (items.rating.tolist(), items.band.tolist()) == ([2.0], [BANDS.index(3)])


def test_in_one_stratum_the_correlation_is_spearmans() -> None:
    random = np.random.default_rng(0)
    rating, attention = random.normal(size=30).round(1), random.normal(size=(30, 4)).round(1)
    found = items_of(rating, attention).correlation(rating)
    assert found == pytest.approx([scipy.stats.spearmanr(rating, column).statistic for column in attention.T])


def test_what_differs_between_distances_alone_does_not_count() -> None:
    """Near pairs are more related and more attended to; within a stratum both fall together in the opposite way."""
    rating = np.array([8.0, 9.0, 10.0, 1.0, 2.0, 3.0])
    attention = np.array([[0.9, 0.8, 0.7, 0.3, 0.2, 0.1]]).T
    apart = items_of(rating, attention, band=[0, 0, 0, 3, 3, 3])
    assert apart.correlation(rating) == pytest.approx([-1.0])
    assert items_of(rating, attention).correlation(rating)[0] > 0.5


def test_ratings_are_dealt_anew_among_pairs_of_a_stratum_and_stay_one_a_pair() -> None:
    rating = np.array([1.0, 1.0, 2.0, 3.0, 7.0, 8.0])
    items = items_of(rating, np.zeros((6, 1)), band=[0, 0, 0, 0, 4, 4], pair=[0, 0, 1, 2, 3, 4])
    dealt = items.shuffled(200, seed=1)
    assert (dealt[:, 0] == dealt[:, 1]).all()
    assert {tuple(sorted(row)) for row in dealt[:, 1:4].tolist()} == {(1.0, 2.0, 3.0)}
    assert {tuple(sorted(row)) for row in dealt[:, 4:].tolist()} == {(7.0, 8.0)}
    assert len({tuple(row) for row in dealt.tolist()}) == 12


def test_a_head_that_follows_the_ratings_is_found_and_no_other() -> None:
    """Items of one stratum whose first head follows the ratings; the other five are noise."""
    random = np.random.default_rng(0)
    items = items_of(random.normal(size=120), random.normal(size=(120, 6)))
    items.attention[:, 0] += items.rating
    observed = Relatedness(RATINGS, layers=2, heads=3)
    observed.items = lambda: items  # type: ignore[method-assign]
    found = relatedness_table(observed, "report", permutations=499, replicates=300, seed=0)
    assert found.p_adjusted.lt(0.05).tolist() == [True, *[False] * 5]
    assert found.p[0] == found.p_adjusted[0] == 1 / 500
    assert (found.p <= found.p_adjusted).all()
    assert found.ci_low[0] > 0.4
    assert ((found.ci_low < found.correlation) & (found.correlation < found.ci_high)).all()
    assert set(found.n) == set(found.pairs) == set(found.clusters) == {120}
    assert found[["layer", "head"]].values.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
