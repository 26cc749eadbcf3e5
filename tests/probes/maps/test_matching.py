import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from mha import Model, align, collate, record
from probes.maps.matching import head_maps, map_cosines, map_distance, map_rows, match_heads, mates, same_roles


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
    seen, chance = same_roles(np.array([2, 1, 0]), [5, -1, 7], [7, 5, 5])
    assert (seen, chance) == (1, pytest.approx((2 / 3 + 1 / 3) / 2))
    assert all(math.isnan(share) for share in same_roles(np.array([0]), [-1], [3]))


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


def test_rows_of_words_sum_to_one_and_padding_has_none(model: Model) -> None:
    texts = [
        ["the", "old", "ship", "sank"],
        ["she", "saw", "it"],
        ["dogs", "walking", "saw", "harbours"],
        ["it", "is", "."],
    ]
    batch = collate(align(model.tokenizer, texts), padding=model.padding)
    words = batch.words.numpy()
    maps = head_maps(model, batch)
    rows = map_rows(maps, words, np.arange(4))
    assert rows.shape == (words.sum(), words.max() + 2, model.layers * model.heads)
    torch.testing.assert_close(rows.sum(1), torch.ones(len(rows), 6))
    alone = collate(align(model.tokenizer, texts[1:2]))
    other = map_rows(head_maps(model, alone), alone.words.numpy(), np.array([0]))
    torch.testing.assert_close(map_rows(maps, words, np.array([1]))[:, :3], other[:, :3])
