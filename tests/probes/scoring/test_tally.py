import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.scoring.tally import BLOCKS, CHUNK, Question, Segments, Sums, Tally, cluster_blocks
from probes.targets import OTHERS, Items

Row = tuple[str, str, int, list[float]]
"Variant, label, cluster block and the four measures of an item."

MEASURES = st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=4, max_size=4)
ROWS = st.lists(st.tuples(st.sampled_from("vw"), st.sampled_from("ab"), st.sampled_from([0, 3, 999]), MEASURES))


def groups_of(rows: list[Row]) -> tuple[list[Items], np.ndarray, np.ndarray]:
    """Items of a batch with a text each, the block of every text, and the measures [item, measure, scored]."""
    groups, order = [], []
    for variant in sorted({row[0] for row in rows}):
        chosen = [i for i, row in enumerate(rows) if row[0] == variant]
        labels = tuple(sorted({rows[i][1] for i in chosen}))
        label = np.array([labels.index(rows[i][1]) for i in chosen], np.int64)
        zeros = np.zeros(len(chosen), np.int64)
        keys = (zeros, np.arange(len(chosen)))
        groups.append(Items("p", variant, np.array(chosen, np.int64), zeros, label, labels, keys, OTHERS))
        order.extend(chosen)
    outcome = np.array([np.outer(rows[i][3], [1, 2]) for i in order], np.float32)
    return groups, np.array([row[2] for row in rows], np.int64), outcome


def add(tally: Tally, rows: list[Row]) -> None:
    if rows:
        groups, blocks, outcome = groups_of(rows)
        tally.add_items(Segments.of(groups, blocks), outcome)


def read(sums: Sums) -> dict[int | str, list[float]]:
    """Cluster -> number of items, hits and mass of the first that is scored; its coverage and near-ties in all."""
    cells = dict(zip(sums.clusters, np.stack((sums.n, sums.hits[:, 0], sums.mass[:, 0]), 1).tolist(), strict=True))
    return cells | {"in all": [sums.coverage[0], sums.near_ties[0]]}


def added_by_loops(rows: list[Row]) -> dict[tuple[str, str, str], dict[int | str, list[float]]]:
    expected: dict = defaultdict(lambda: defaultdict(lambda: [0.0] * 3) | {"in all": [0.0] * 2})
    for variant, label, block, (hit, mass, *others) in rows:
        for name in (label, "all"):
            question = expected["p", variant, name]
            for cell, more in ((question[block], (1, hit, mass)), (question["in all"], others)):
                cell[:] = [old + new for old, new in zip(cell, more, strict=True)]
    return {question: dict(cells) for question, cells in expected.items()}


def added_up(batches: list[list[Row]]) -> tuple[Tally, dict[Question, Sums]]:
    """Return the tally of some batches and its sums, which are those that loops add up."""
    tally = Tally(2)
    for rows in batches:
        add(tally, rows)
    pooled = dict(tally.pooled(lambda question: (question[2], "all")))
    assert {question: read(sums) for question, sums in pooled.items()} == added_by_loops(
        [row for rows in batches for row in rows]
    )
    return tally, pooled


@pytest.mark.slow
@given(st.lists(ROWS, max_size=4))
def test_batches_add_up_by_question_and_cluster_and_pooled_labels_are_sums_of_parts(batches: list[list[Row]]) -> None:
    _, pooled = added_up(batches)
    assert list(pooled) == sorted(pooled)
    for sums in pooled.values():
        assert sums.clusters == tuple(sorted(sums.clusters))
        assert np.array_equal(sums.hits[:, 1], 2 * sums.hits[:, 0])
        assert sums.near_ties[1] == 2 * sums.near_ties[0]


def test_sums_are_kept_in_double_precision() -> None:
    tally = Tally(2)
    for _ in range(300):
        add(tally, [("v", "a", 0, [1e-8, 0, 1e-8, 0]), ("v", "a", 0, [1, 0, 1, 0])])
    (sums,) = tally.pooled(lambda question: (question[2],)).values()
    np.testing.assert_allclose([sums.hits[0, 0], sums.coverage[0]], 300 + 300e-8, rtol=1e-12)


@pytest.mark.parametrize("held", [1, 2, 1000])
@pytest.mark.parametrize("rows", [1, 7, CHUNK])
def test_sums_do_not_depend_on_the_rows_that_are_reserved_at_a_time_nor_on_where_they_lie(
    rows: int, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a question lie in several chunks, and those of a batch in as many; so many chunks are not in the file."""
    monkeypatch.setattr("probes.scoring.tally.CHUNK", rows)
    monkeypatch.setattr("probes.scoring.tally.IN_MEMORY", held * rows * 2 * 2 * 8)
    batches = [
        [("vw"[block % 2], "ba"[n // 2 % 2], block, [n / 8, 1, n / 4, n / 8]) for block in range(n % 3, 9, 1 + n % 3)]
        for n in range(8)
    ]
    tally, _ = added_up(batches)
    chunks = -(-tally._used // rows)
    assert (len(tally._n), len(tally._held)) == (chunks, min(chunks, held))


def test_a_full_disk_ends_a_tally_with_an_error(
    monkeypatch: pytest.MonkeyPatch, largest_file: Callable[[int], AbstractContextManager[None]]
) -> None:
    monkeypatch.setattr("probes.scoring.tally.IN_MEMORY", 0)
    monkeypatch.setattr("probes.scoring.tally.CHUNK", BLOCKS)
    tally = Tally(1)
    tally._find([("p", "v", str(n)) for n in range(3)])
    with largest_file(1000), pytest.raises(OSError, match="File too large"):
        tally._reserve(np.repeat(np.arange(3), BLOCKS), np.tile(np.arange(BLOCKS), 3))


def test_clusters_have_a_block_each_whatever_their_order() -> None:
    assert cluster_blocks(["b", "a", "b", "c"]) == cluster_blocks(["c", "b", "a"]) == {"a": 0, "b": 1, "c": 2}
    exactly = [f"d{i}" for i in range(BLOCKS)]
    assert sorted(cluster_blocks(exactly).values()) == list(range(BLOCKS))


def test_too_many_clusters_share_blocks_by_a_hash_of_their_ids() -> None:
    names = [f"d{i}" for i in range(BLOCKS + 1)]
    blocks = cluster_blocks(names)
    assert blocks == cluster_blocks(reversed(names))
    assert set(blocks.values()) == set(range(BLOCKS))
    by_hash = sorted(names, key=lambda name: zlib.crc32(name.encode()))
    assert [blocks[name] for name in by_hash] == sorted(blocks.values())
    many = cluster_blocks(f"d{i}" for i in range(10 * BLOCKS))
    assert set(Counter(many.values()).values()) == {10}
