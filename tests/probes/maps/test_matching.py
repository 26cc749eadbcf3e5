import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from mha import Model, align, record
from probes.maps.matching import map_cosines, map_distance, match_heads, same_roles


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
