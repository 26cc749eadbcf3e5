import numpy as np
import pytest
import scipy.stats
import torch

from mha import Attend
from mha.batches import Batch, collate
from mha.models.model import Model
from mha.pieces import align
from probes.corpora.corpus import MemoryTexts
from probes.corpora.ratings import Ratings
from probes.maps.relatedness import BANDS, COLUMNS, RatedItems, Relatedness, rated_pairs, relatedness_table
from probes.records import Document, Sentence
from probes.scoring.score import Settings, score_corpus

RATINGS = Ratings("sea", {("port", "ship"): 9.0, ("dog", "ship"): 2.0, ("dog", "port"): 4.0})


def text_of(name: str, words: str, upos: tuple[str, ...] = ()) -> Document:
    forms = tuple(words.split())
    n = len(forms)
    return Document(name, (Sentence(f"{name}-1", forms, np.full(n, -1), ("",) * n, upos),))


def items_of(
    rating: object, attention: object, band: object = None, pair: object = None, block: object = None
) -> RatedItems:
    n = len(np.asarray(rating))
    zero, own = np.zeros(n, np.int64), np.arange(n)
    given = (zero if band is None else np.asarray(band), own if pair is None else np.asarray(pair))
    return RatedItems(
        np.asarray(rating, float), *given, own if block is None else np.asarray(block), np.asarray(attention)
    )


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


def simulated(strength: float, seed: int = 0, n: int = 120) -> Relatedness:
    """Items of one stratum whose first head follows the ratings; the other five are noise."""
    random = np.random.default_rng(seed)
    items = items_of(random.normal(size=n), random.normal(size=(n, 6)))
    items.attention[:, 0] += strength * items.rating
    observed = Relatedness(RATINGS, layers=2, heads=3)
    observed.items = lambda: items  # type: ignore[method-assign]
    return observed


def test_a_head_that_follows_the_ratings_is_found_and_no_other() -> None:
    found = relatedness_table(simulated(1.0), "report", permutations=499, replicates=300, seed=0)
    assert tuple(found.columns) == COLUMNS
    assert found.p_adjusted.lt(0.05).tolist() == [True, *[False] * 5]
    assert found.p[0] == found.p_adjusted[0] == 1 / 500
    assert (found.p <= found.p_adjusted).all()
    assert found.ci_low[0] > 0.4
    assert ((found.ci_low < found.correlation) & (found.correlation < found.ci_high)).all()
    assert set(found.n) == set(found.pairs) == set(found.clusters) == {120}
    assert found[["layer", "head"]].values.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]


def test_where_nothing_follows_the_ratings_a_run_finds_something_in_few_cases() -> None:
    """At a level of 0.1, in 60 runs: 0 to 12 finds at odds of 99.9 %."""
    finds = [
        bool(
            relatedness_table(simulated(0.0, seed, 40), "r", permutations=99, replicates=10, seed=seed)
            .p_adjusted.le(0.1)
            .any()
        )
        for seed in range(60)
    ]
    assert sum(finds) <= scipy.stats.binom.ppf(0.9995, 60, 0.1)


def test_a_head_that_does_not_vary_has_no_number() -> None:
    observed = simulated(1.0)
    observed.items().attention[:, 2] = 0
    found = relatedness_table(observed, "report", permutations=99, replicates=50, seed=0)
    assert found[["correlation", "p", "p_adjusted"]].isna().any(axis=1).tolist() == [False, False, True, *[False] * 3]


def test_a_planted_head_is_found_in_a_model_whatever_the_batches(model: Model) -> None:
    """Sentences of two words; the head puts a tenth of the rating on the other word, the rest on [CLS]."""
    names = [f"w{chr(97 + i)}{chr(97 + j)}" for i in range(8) for j in range(8)]
    pairs = {(one, "ship"): float(rank) for rank, one in enumerate(names) if one < "ship"} | {
        ("ship", one): float(rank) for rank, one in enumerate(names) if one >= "ship"
    }
    ratings = Ratings("planted", pairs)
    documents = [text_of(name, f"ship {name}") for name in names]

    def changes(some: list[Document], batch: Batch) -> list[Attend]:
        pattern = torch.zeros(*batch.ids.shape, batch.ids.shape[1])
        for row, document in enumerate(some):
            share = names.index(document.words[1]) / 100
            pattern[row, :, 0] = 1 - share
            pattern[row, 1, 2] += share
        return [Attend(layer=1, patterns={2: pattern})]

    tables = []
    for settings in (Settings(batch_pieces=16, workers=1), Settings(batch_pieces=4096, workers=2)):
        observed = Relatedness(ratings, model.layers, model.heads)
        score_corpus(model, MemoryTexts(documents), [], {}, settings, observers=[observed], changes=changes)
        tables.append(relatedness_table(observed, "report", permutations=199, replicates=50, seed=0))
    best = tables[0].iloc[tables[0].correlation.argmax()]
    assert (best.layer, best["head"]) == (1, 2)
    assert best.correlation == pytest.approx(1.0)
    assert tables[0].correlation.to_numpy() == pytest.approx(tables[1].correlation.to_numpy(), abs=1e-6, nan_ok=True)


def test_texts_without_a_rated_pair_give_no_row(model: Model) -> None:
    observed = Relatedness(RATINGS, model.layers, model.heads)
    score_corpus(model, MemoryTexts([text_of("a", "the old ship")]), [], {}, Settings(), observers=[observed])
    found = relatedness_table(observed, "report", permutations=99, replicates=50, seed=0)
    assert tuple(found.columns) == COLUMNS
    assert found.empty
