import copy
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from mha import Model, align, collate, record
from mha.models.maps import MAPS
from mha.pieces import CLS, SEP, Pieces
from probes.corpora.corpus import Corpus, MemoryTexts, Texts
from probes.evidence.examples import word_level
from probes.maps.matching import (
    Distances,
    map_cosines,
    map_distance,
    match_heads,
    mates,
    same_roles,
    see_maps,
    text_key,
)
from probes.records import Document
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Numbers
from tests.probes.text_pairs import text_pair


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


def test_heads_are_matched_on_both_texts_of_a_pair_as_the_tokenizer_joins_them(model: Model) -> None:
    seen = see_maps(model, [text_pair("abc" * 20, "a"), text_pair("abc", "cadb")])
    assert seen is not None
    assert (seen.kept, seen.words.tolist()) == ([1], [7])
    ids = model.tokenizer.encode("a b c", "c a d b").ids
    assert ids.count(model.special["sep"]) == 2
    pieces = Pieces(np.array(ids, np.int32), np.array([CLS, 0, 1, 2, SEP, 3, 4, 5, 6, SEP], np.int32), 7, second=3)
    expected = torch.from_numpy(word_level(model, pieces, Settings())).flatten(0, 1).permute(1, 2, 0)
    torch.testing.assert_close(seen.maps[0], expected)


def test_only_chosen_texts_count_and_none_with_a_word_that_has_no_piece(model: Model, texts: Texts) -> None:
    chosen = texts.take([0, 3])
    some = Distances([text_key(text) for text in chosen])
    score_corpus(model, texts, [], {}, Settings(), observers=[some])
    np.testing.assert_allclose(means(some), means(observed(model, MemoryTexts(chosen))), atol=1e-7)
    assert some.texts == 2
    empty = Distances()
    lost = collate([Pieces(np.ones(4, np.int32), np.array([CLS, 0, 1, SEP], np.int32), 2)])
    lost.from_words[0, 1] = 0
    empty.add(empty.observe([Document("a", ())], lost))
    assert (empty.texts, empty.means()) == (0, None)


def random_rows(rows: int, keys: int, heads: int, seed: int) -> torch.Tensor:
    random = np.random.default_rng(seed)
    return torch.from_numpy(random.dirichlet(np.full(keys, 0.3), (rows, heads)).transpose(0, 2, 1).astype(np.float32))


def test_matching_recovers_a_permutation() -> None:
    maps, order = random_rows(40, 6, 12, 2), np.random.default_rng(3).permutation(12)
    noisy = 0.9 * maps[:, :, order] + 0.1 * random_rows(40, 6, 12, 4)
    match = match_heads(map_distance(maps, noisy), 3, within_layers=False)
    assert order[match.partner].tolist() == list(range(12))
    assert match.distance.mean() < match.chance / 2


def test_within_layers_no_head_is_matched_to_another_layer() -> None:
    maps = random_rows(40, 6, 6, 2)
    swapped = maps[:, :, [3, 1, 2, 0, 4, 5]]
    free, bound = (match_heads(map_distance(maps, swapped), 2, within_layers=within) for within in (False, True))
    assert free.partner.tolist() == [3, 1, 2, 0, 4, 5]
    assert bound.partner.tolist() == [0, 1, 2, 3, 4, 5]
    assert free.distance.mean() == pytest.approx(0, abs=1e-6)


def test_partners_with_the_same_role_are_counted_beside_chance() -> None:
    seen, chance = same_roles(np.array([2, 1, 0]), ["obj", "", "nsubj"], ["nsubj", "obj", "obj"])
    assert (seen, chance) == (1, pytest.approx((2 / 3 + 1 / 3) / 2))
    assert all(math.isnan(share) for share in same_roles(np.array([0]), [""], ["obj"]))


def test_the_cosine_is_that_of_whole_maps_head_by_head(model: Model) -> None:
    text = align(model.tokenizer, [["the", "old", "ships", "sank"]])[0]
    other = replace(model, module=copy.deepcopy(model.module))
    with torch.no_grad():
        other.module.layers[1].attention.W_Q.neg_()
    maps = []
    for one in (model, other):
        with record(one.module) as seen, torch.inference_mode():
            one.run(torch.from_numpy(text.ids)[None].long(), None)
        maps.append(torch.cat(seen["pattern"]).double().numpy().reshape(6, -1))
    expected = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(*maps, strict=True)]
    found = map_cosines(model, other, text)
    np.testing.assert_allclose(found.flatten(), expected, rtol=1e-6)
    assert (found[0] > 1 - 1e-6).all()
    assert (found[1] < 0.99).all()


def test_the_distance_is_the_mean_jensen_shannon_divergence() -> None:
    one, other = random_rows(7, 5, 3, 0), random_rows(7, 5, 2, 1)
    expected = [
        [
            np.mean([jensenshannon(p, q) ** 2 for p, q in zip(one[:, :, i], other[:, :, j], strict=True)])
            for j in range(2)
        ]
        for i in range(3)
    ]
    np.testing.assert_allclose(map_distance(one, other), expected, atol=1e-6)


def test_chance_is_the_mean_over_all_pairs_that_are_allowed() -> None:
    distance = np.arange(16.0).reshape(4, 4)
    assert match_heads(distance, 2, within_layers=False).chance == 7.5
    assert match_heads(distance, 2, within_layers=True).chance == np.mean([0, 1, 4, 5, 10, 11, 14, 15])


def test_a_mate_is_another_text_of_the_same_length() -> None:
    words = np.array([4, 3, 4, 3, 4, 9])
    found = mates(words)
    assert found[5] == -1
    assert (words[found[:5]] == words[:5]).all()
    assert sorted(found[:5].tolist()) == [0, 1, 2, 3, 4]
    assert (found != np.arange(6)).all()
