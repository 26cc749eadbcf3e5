"""Random right answers: where they lie, how far away, and what cannot change them."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from probes import get_probe
from probes.records import Document, Sentence
from probes.scoring.baseline_texts import Shown
from probes.scoring.control_arcs import ControlArcs
from probes.targets import Items, Keys, Targets, gather

VARIANTS = [
    ("dependency", "head->dependent"),
    ("dependency", "head<-dependent"),
    ("coreference", "preceding mention heads"),
]


def texts_of(*lengths: int) -> Shown:
    return Shown(
        [Document(f"d{i}", (Sentence(f"s{i}", ("w",) * n, np.full(n, -1), ("",) * n),)) for i, n in enumerate(lengths)]
    )


def asked(texts: Sequence[Sequence[tuple[int, int]]]) -> Items:
    """Questions about some texts: pairs of query and gold."""
    parts = [np.array(pairs, np.int64).reshape(-1, 2) for pairs in texts]
    return gather("p", "v", [Targets.pairs(part[:, 0], part[:, 1], ["a"] * len(part)) for part in parts])


def by_item(keys: Keys, items: int) -> list[list[int]]:
    return [sorted(keys[0][keys[1] == i].tolist()) for i in range(items)]


@pytest.fixture(scope="module")
def documents(random_documents: Callable[..., list[Document]]) -> list[Document]:
    return random_documents(30, sentences=4, longest=12)


def items_of(probe: str, variant: str, documents: Sequence[Document]) -> Items:
    return gather(probe, variant, [get_probe(probe).targets(document)[variant] for document in documents])


@pytest.mark.parametrize(("probe", "variant"), VARIANTS)
def test_arcs_are_as_many_as_gold_among_the_candidates_and_neither_order_nor_batch_changes_one(
    probe: str, variant: str, documents: list[Document]
) -> None:
    at_once, apart, items = ControlArcs(5), ControlArcs(5), items_of(probe, variant, documents)
    at_once.learn(items, Shown(documents))
    drawn = at_once.draw(items, Shown(documents))
    assert np.array_equal(drawn.gold[1], items.gold[1])
    assert not np.array_equal(drawn.gold[0], items.gold[0])
    listed = by_item(items.candidates, len(items)) if not isinstance(items.candidates, str) else None
    for i, keys in enumerate(by_item(drawn.gold, len(items))):
        everything = set(range(len(documents[items.text[i]]))) - {int(items.query[i])}
        assert len(set(keys)) == len(keys)
        assert set(keys) <= (everything if listed is None else set(listed[i]))
    alone = [(Shown([document]), items_of(probe, variant, [document])) for document in documents]
    for shown, some in reversed(alone):
        apart.learn(some, shown)
    assert drawn.gold[0].tolist() == [key for shown, some in alone for key in apart.draw(some, shown).gold[0].tolist()]


def test_arcs_are_as_far_as_gold() -> None:
    """Total variation of 20,000 drawn distances from those of gold, in texts of many lengths."""
    random = np.random.default_rng(0)
    lengths = random.integers(4, 30, 2000)
    shares, distances = [0.4, 0.25, 0.15, 0.1, 0.1], np.array([-1, 1, 2, -4, 9])
    texts = []
    for n in lengths.tolist():
        query, by = random.integers(0, n, 10), random.choice(distances, 10, p=shares)
        fits = (query + by >= 0) & (query + by < n)
        texts.append([*zip(query[fits].tolist(), (query + by)[fits].tolist(), strict=True)])
    shown, items, arcs = texts_of(*lengths.tolist()), asked(texts), ControlArcs(0)
    arcs.learn(items, shown)
    drawn = arcs.draw(items, shown)
    gold, ours = (np.bincount(one.gold[0] - one.query + 30, minlength=60) / len(items) for one in (items, drawn))
    assert len(items) > 15_000
    assert np.abs(gold - ours).sum() / 2 < 0.03
    assert set(np.flatnonzero(ours) - 30) == set(distances.tolist())


def test_control_arcs_are_those_of_every_version() -> None:
    """Published numbers rest on them."""
    shown, arcs, items = texts_of(9), ControlArcs(0), asked([[(query, 0) for query in (2, 4, 6, 8)]])
    assert by_item(arcs.draw(items, shown).gold, 4) == [[3], [8], [2], [3]]
