"""MUC, B-cubed and CEAF: worked examples, a slow evaluator of sets, and what must hold of any chains."""

from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.chains.scores import CONLL, MEASURES, SCORES, chain_scores, chain_sums

Chain = frozenset[int]
Triple = tuple[float, float, float]


def numbered(chains: Iterable[Sequence[int]]) -> list[int]:
    """Return the number of the chain of each mention."""
    of = {mention: number for number, chain in enumerate(chains) for mention in chain}
    return [of[mention] for mention in sorted(of)]


def scored(gold: Sequence[int], *predicted: Sequence[int]) -> dict[str, list[Triple]]:
    """Return precision, recall and F1 by score, one a method."""
    columns = np.array(predicted, np.int64).T.reshape(len(gold), len(predicted))
    scores = chain_scores(chain_sums(np.array(gold, np.int64), columns))
    return {name: [tuple(one) for one in scores[:, place].tolist()] for place, name in enumerate(SCORES)}


LUO: list[Sequence[int]] = [range(5), range(5, 7), range(7, 12)]
"The example of Luo 2005: twelve mentions in gold chains of five, two and five."

RESPONSES: dict[str, list[Sequence[int]]] = {
    "(a)": [range(5), range(5, 12)],
    "(b)": [[*range(5), *range(7, 12)], range(5, 7)],
    "(c)": [range(12)],
    "(d)": [[mention] for mention in range(12)],
}

WORKED = {
    "(a)": (18 / 19, 2 * 16 / 21 / (1 + 16 / 21), 10 / 12, 11 / 15),
    "(b)": (18 / 19, 14 / 19, 7 / 12, 2 / 3),
    "(c)": (0.9, 6 / 11, 5 / 12, 5 / 17),
    "(d)": (0.0, 0.4, 0.25, 8 / 45),
}
"""F1 of MUC, B3, CEAF-m and CEAF-e, by hand. Of (a): nine gold links are kept, one of ten is wrong; B3 has recall 1 and
precision (5 + 2 * 2/7 + 5 * 5/7) / 12; paired chains share 5 + 5 of 12; 1 + 10/12 of 3 gold and 2 predicted chains."""


@pytest.mark.parametrize("response", RESPONSES)
def test_the_worked_example_of_luo_has_the_numbers_that_a_hand_finds(response: str) -> None:
    found = scored(numbered(LUO), numbered(RESPONSES[response]))
    assert [found[measure][0][2] for measure in MEASURES] == pytest.approx(WORKED[response])
    muc, b3, _, ceaf = WORKED[response]
    assert found[CONLL][0][2] == pytest.approx((muc + b3 + ceaf) / 3)
    assert np.isnan(found[CONLL][0][:2]).all()


def sets(labels: Sequence[int]) -> list[Chain]:
    return [frozenset(np.flatnonzero(np.array(labels) == one).tolist()) for one in sorted({*labels})]


def harmonic(precision: float, recall: float) -> Triple:
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def muc_recall(one: list[Chain], other: list[Chain]) -> float:
    """Count links: of the fewest that join each chain, those that are left when the other side cuts it up."""
    links = sum(len(chain) - 1 for chain in one)
    kept = sum(len(chain & piece) - 1 for chain in one for piece in other if chain & piece)
    return kept / links if links else 0.0


def b3_recall(one: list[Chain], other: list[Chain]) -> float:
    mentions = sorted(frozenset[int]().union(*one))
    mine, theirs = ({m: chain for chain in side for m in chain} for side in (one, other))
    return sum(len(mine[m] & theirs[m]) / len(mine[m]) for m in mentions) / len(mentions)


def ceaf(gold: list[Chain], predicted: list[Chain], *, entities: bool) -> Triple:
    """Try every way of pairing the chains."""

    def alike(one: Chain, other: Chain) -> float:
        return 2 * len(one & other) / (len(one) + len(other)) if entities else len(one & other)

    few, many = sorted((gold, predicted), key=len)
    most = max(sum(map(alike, few, some)) for some in permutations(many, len(few)))
    sizes = [sum(1 if entities else len(chain) for chain in side) for side in (predicted, gold)]
    return harmonic(most / sizes[0], most / sizes[1])


def slow(gold: list[Chain], predicted: list[Chain]) -> dict[str, Triple]:
    return {
        "MUC": harmonic(muc_recall(predicted, gold), muc_recall(gold, predicted)),
        "B3": harmonic(b3_recall(predicted, gold), b3_recall(gold, predicted)),
        "CEAF-m": ceaf(gold, predicted, entities=False),
        "CEAF-e": ceaf(gold, predicted, entities=True),
    }


@st.composite
def both_sides(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    """Draw gold chains of at most six mentions and those of three methods, each numbered as the scorer wants it."""
    size = draw(st.integers(1, 6))
    labels = st.lists(st.integers(0, size - 1), min_size=size, max_size=size)
    gold, *predicted = (draw(labels) for _ in range(4))
    return np.unique(gold, return_inverse=True)[1].tolist(), predicted


@given(both_sides())
def test_all_measures_are_those_of_a_slow_evaluator_of_sets(chains: tuple[list[int], list[list[int]]]) -> None:
    gold, predicted = chains
    found = scored(gold, *predicted)
    for method, labels in enumerate(predicted):
        for measure, expected in slow(sets(gold), sets(labels)).items():
            assert found[measure][method] == pytest.approx(expected), measure


def test_right_chains_have_all_there_is_and_single_mentions_have_no_link() -> None:
    gold = [0, 1, 0, 2, 1]
    assert {measure: triples[0][2] for measure, triples in scored(gold, [3, 1, 3, 0, 1]).items()} == dict.fromkeys(
        SCORES, 1
    )
    single = scored([0, 1, 2], [0, 1, 2])
    assert [single[measure][0][2] for measure in MEASURES] == [0, 1, 1, 1], "MUC as the scorer of the shared tasks"


def test_texts_are_pooled_by_their_terms_and_not_by_their_scores() -> None:
    """Texts of two mentions rightly linked, and of four wrongly left alone: one of four links, not half of the mean."""
    parts = [([0, 0], [0, 0]), ([0, 0, 0, 0], [0, 1, 2, 3])]
    sums = np.sum([chain_sums(np.array(gold), np.array([predicted]).T) for gold, predicted in parts], 0)
    assert chain_scores(sums)[0, 0].tolist() == pytest.approx([1, 1 / 4, 0.4])
