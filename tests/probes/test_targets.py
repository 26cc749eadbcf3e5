import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from probes.targets import TOKENS, Items, Targets, both_ways, gather, key_sets
from tests.probes.conftest import by_item, items_of

Asked = tuple[int, int, list[int], list[int], str]
"Text, query, gold, candidates and label of an item."


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def read(items: Items) -> list[Asked]:
    """Everything that is said of each item, from the flat form."""
    candidates = [[]] * len(items) if isinstance(items.candidates, str) else by_item(items.candidates, len(items))
    gold = by_item(items.gold, len(items))
    labels = [items.labels[i] for i in items.label]
    return list(zip(items.text.tolist(), items.query.tolist(), gold, candidates, labels, strict=True))


KEYS = st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True).map(sorted)
ITEMS = st.lists(st.tuples(st.integers(0, 5), KEYS, KEYS, st.sampled_from(["a", "b:x", "b:y"])), max_size=4)
TEXTS = st.lists(ITEMS, min_size=1, max_size=4)


def targets_of(items: list[tuple[int, list[int], list[int], str]]) -> Targets:
    queries, gold, candidates, labels = ([item[part] for item in items] for part in range(4))
    return Targets.sets(queries, gold, labels, key_sets(candidates))


def gathered(texts: list[list[tuple[int, list[int], list[int], str]]]) -> tuple[Items, list[Asked]]:
    expected = [(number, *item) for number, items in enumerate(texts) for item in items]
    return gather("probe", "variant", [targets_of(items) for items in texts]), expected


@given(TEXTS)
def test_gathering_keeps_every_item_and_the_order_of_the_texts(texts) -> None:
    items, expected = gathered(texts)
    assert read(items) == expected
    assert (items.probe, items.variant, len(items)) == ("probe", "variant", len(expected))
    assert list(items.labels) == sorted({label for *_, label in expected})
    assert bool((np.diff(items.gold[1]) >= 0).all())


@given(TEXTS, st.data())
def test_taking_items_takes_all_that_is_said_of_them(texts, data: st.DataObject) -> None:
    items, expected = gathered(texts)
    chosen = data.draw(st.lists(st.integers(0, len(expected) - 1), max_size=6)) if expected else []
    taken = items.take(ints(*chosen))
    assert read(taken) == [expected[i] for i in chosen]
    assert read(items) == expected


@given(TEXTS)
def test_pooling_repeats_an_item_for_each_label_that_it_counts_towards(texts) -> None:
    items, expected = gathered(texts)
    pools = {"a": ("a", "all"), "b:x": ("b:x", "b:*", "all"), "b:y": ("all",)}
    pooled = items.pooled(lambda label: pools[label])
    assert read(pooled) == [(*item[:4], name) for item in expected for name in pools[item[4]]]


def test_a_text_without_items_between_others_adds_none() -> None:
    none = Targets.sets([], [], [])
    spread = Targets(ints(0, 1), (ints(), ints()), ["broad"] * 2, TOKENS, spread=True)
    empty = Targets(ints(), (ints(), ints()), [], TOKENS, spread=True)
    items = gather("p", "v", [empty, spread, empty, spread])
    assert (items.spread, items.text.tolist()) == (True, [1, 1, 3, 3])
    assert len(items.pooled(lambda label: (label,))) == 4
    assert len(items.take(ints())) == 0
    assert len(gather("p", "v", [none, none])) == 0
    assert len(gather("p", "v", [none]).pooled(lambda label: (label, "all"))) == 0


def test_keys_of_one_query_and_label_are_right_in_one_item() -> None:
    found = [(3, 1, "a"), (2, 0, "a"), (3, 0, "b"), (3, 4, "a")]
    assert items_of(Targets.grouped(found)) == [(3, [1, 4], "a"), (2, [0], "a"), (3, [0], "b")]
    assert items_of(Targets.grouped([])) == []


def test_pairs_are_asked_in_both_directions() -> None:
    found = both_ways(("there", "back"), [(3, 1, "a"), (2, 1, "a")])
    assert {name: items_of(targets) for name, targets in found.items()} == {
        "there": [(3, [1], "a"), (2, [1], "a")],
        "back": [(1, [3, 2], "a")],
    }
