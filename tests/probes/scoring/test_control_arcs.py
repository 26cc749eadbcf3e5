"""Random right answers: where they lie, how far away, and what cannot change them."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from probes import get_probe
from probes.records import Document, Sentence
from probes.scoring.arcs import ControlArcs
from probes.scoring.baseline_texts import Shown
from probes.targets import OTHERS, Items, Keys, Targets, gather, key_sets

VARIANTS = [
    ("dependency", "dependent->head"),
    ("dependency", "head->dependent"),
    ("dependency", "head<-dependent"),
    ("agreement", "verb->subject"),
    ("coreference", "preceding mention heads"),
    ("coreference", "all words"),
]


def texts_of(*lengths: int) -> Shown:
    return Shown(
        [Document(f"d{i}", (Sentence(f"s{i}", ("w",) * n, np.full(n, -1), ("",) * n),)) for i, n in enumerate(lengths)]
    )


def asked(
    texts: Sequence[Sequence[tuple[int, list[int]]]], label: str = "a", listed: Sequence[list[int]] = ()
) -> Items:
    """Questions about some texts; `listed` are the candidates of every item, if not all other words."""
    parts = []
    for items in texts:
        candidates = key_sets(listed[: len(items)]) if listed else OTHERS
        parts.append(Targets.sets([q for q, _ in items], [gold for _, gold in items], [label] * len(items), candidates))
    return gather("p", "v", parts)


def by_item(keys: Keys, items: int) -> list[list[int]]:
    return [sorted(keys[0][keys[1] == i].tolist()) for i in range(items)]


@pytest.fixture(scope="module")
def documents(random_documents: Callable[..., list[Document]]) -> list[Document]:
    return random_documents(30, sentences=4, longest=12)


def items_of(probe: str, variant: str, documents: Sequence[Document]) -> Items:
    return gather(probe, variant, [get_probe(probe).targets(document)[variant] for document in documents])


def test_where_gold_is_always_the_word_before_so_are_control_arcs() -> None:
    shown, arcs = texts_of(4, 6), ControlArcs(0)
    items = asked([[(q, [q - 1]) for q in range(1, 4)], [(q, [q - 1]) for q in range(1, 6)]])
    arcs.learn(items, shown)
    drawn = arcs.draw(items, shown)
    assert np.array_equal(drawn.gold[0], items.gold[0])
    assert np.array_equal(drawn.gold[1], items.gold[1])
    assert drawn.query is items.query


def test_where_no_distance_fits_any_candidate_is_drawn() -> None:
    """A first word has none before it; a label that was never seen has no distance."""
    shown, arcs = texts_of(*[5] * 400), ControlArcs(0)
    arcs.learn(asked([[(q, [q - 1]) for q in range(1, 5)]] * 400), shown)
    for label in ("a", "new"):
        drawn = arcs.draw(asked([[(0, [1])]] * 400, label), shown)
        counts = np.bincount(drawn.gold[0], minlength=5)
        assert counts[0] == 0
        assert counts[1:].min() > 70


def test_known_distances_come_before_all_others_and_keys_differ() -> None:
    shown, arcs = texts_of(7), ControlArcs(3)
    arcs.learn(asked([[(3, [2, 4])]]), shown)
    drawn = arcs.draw(asked([[(3, [0, 1, 5]), (3, [0]), (0, [1, 2])]]), shown)
    first, second, third = by_item(drawn.gold, 3)
    assert set(first) > {2, 4}
    assert second[0] in (2, 4)
    assert 1 in third
    assert [len(set(keys)) for keys in (first, second, third)] == [3, 1, 2]


@pytest.mark.parametrize(("probe", "variant"), VARIANTS)
def test_arcs_are_as_many_as_gold_and_among_the_candidates(probe: str, variant: str, documents: list[Document]) -> None:
    shown, items, arcs = Shown(documents), items_of(probe, variant, documents), ControlArcs(0)
    before = (items.gold[0].copy(), items.query.copy())
    arcs.learn(items, shown)
    drawn = arcs.draw(items, shown)
    assert np.array_equal(drawn.gold[1], items.gold[1])
    assert not np.array_equal(drawn.gold[0], items.gold[0])
    listed = by_item(items.candidates, len(items)) if not isinstance(items.candidates, str) else None
    for i, keys in enumerate(by_item(drawn.gold, len(items))):
        everything = set(range(len(documents[items.text[i]]))) - {int(items.query[i])}
        assert len(set(keys)) == len(keys)
        assert set(keys) <= (everything if listed is None else set(listed[i]))
    assert all(map(np.array_equal, before, (items.gold[0], items.query)))


def test_arcs_are_as_far_as_gold() -> None:
    """Total variation of 20,000 drawn distances from those of gold, in texts of many lengths."""
    random = np.random.default_rng(0)
    lengths = random.integers(4, 30, 2000)
    shares, distances = [0.4, 0.25, 0.15, 0.1, 0.1], np.array([-1, 1, 2, -4, 9])
    texts = []
    for n in lengths.tolist():
        query, by = random.integers(0, n, 10), random.choice(distances, 10, p=shares)
        fits = (query + by >= 0) & (query + by < n)
        texts.append([(q, [q + d]) for q, d in zip(query[fits].tolist(), by[fits].tolist(), strict=True)])
    shown, items, arcs = texts_of(*lengths.tolist()), asked(texts), ControlArcs(0)
    arcs.learn(items, shown)
    drawn = arcs.draw(items, shown)
    gold, ours = (np.bincount(one.gold[0] - one.query + 30, minlength=60) / len(items) for one in (items, drawn))
    assert len(items) > 15_000
    assert np.abs(gold - ours).sum() / 2 < 0.03
    assert set(np.flatnonzero(ours) - 30) == set(distances.tolist())


def test_labels_keep_their_own_distances() -> None:
    shown, arcs = texts_of(*[9] * 50), ControlArcs(0)
    for label, by in (("a", -1), ("b", 3)):
        arcs.learn(asked([[(4, [4 + by])]] * 50, label), shown)
    for label, by in (("a", -1), ("b", 3)):
        assert set(arcs.draw(asked([[(4, [0])]] * 50, label), shown).gold[0].tolist()) == {4 + by}


@pytest.mark.parametrize(("probe", "variant"), VARIANTS)
def test_neither_order_nor_batch_changes_an_arc(probe: str, variant: str, documents: list[Document]) -> None:
    at_once, apart = ControlArcs(5), ControlArcs(5)
    at_once.learn(items_of(probe, variant, documents), Shown(documents))
    for document in reversed(documents):
        if len(items := items_of(probe, variant, [document])):
            apart.learn(items, Shown([document]))
    together, start = at_once.draw(items_of(probe, variant, documents), Shown(documents)).gold[0].tolist(), 0
    for document in documents:
        items = items_of(probe, variant, [document])
        if len(items):
            alone = apart.draw(items, Shown([document])).gold[0].tolist()
            assert together[start : start + len(alone)] == alone
            start += len(alone)
    assert start == len(together)


def test_another_seed_draws_other_arcs(documents: list[Document]) -> None:
    items, shown, drawn = items_of("dependency", "dependent->head", documents), Shown(documents), []
    for seed in (0, 0, 1):
        arcs = ControlArcs(seed)
        arcs.learn(items, shown)
        drawn.append(arcs.draw(items, shown).gold[0])
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_control_arcs_are_those_of_every_version() -> None:
    """Published numbers rest on them."""
    shown, arcs, items = texts_of(9), ControlArcs(0), asked([[(query, [0]) for query in (2, 4, 6, 8)]])
    assert by_item(arcs.draw(items, shown).gold, 4) == [[3], [8], [2], [3]]
