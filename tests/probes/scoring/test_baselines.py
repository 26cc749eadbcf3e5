from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.records import Document, Mention, Sentence
from probes.scoring.baseline_texts import Counts, Shown
from probes.scoring.baselines import BASELINES, LEXICAL, Baseline, LexicalTable, LikeliestDistance, Offset
from probes.scoring.scorer import score_rows
from probes.targets import Items, Targets, gather, key_sets
from probes.words.coreference import ALL_WORDS, FOLLOWING, PRECEDING, Coreference

Pair = tuple[int, list[int]]
"A query and its gold keys."


def text_of(words: str, mentions: Sequence[Mention] = (), upos: str = "") -> Document:
    forms = tuple(words.split())
    blank = ("",) * len(forms)
    tags = tuple(upos.split()) or blank
    return Document("d", (Sentence("s", forms, np.full(len(forms), -1), blank, tags, mentions=tuple(mentions)),))


def ask(pairs: Sequence[Sequence[Pair]], label: str = "a") -> Items:
    """Questions with one label about some texts."""
    targets = [Targets.sets([q for q, _ in one], [gold for _, gold in one], [label] * len(one)) for one in pairs]
    return gather("p", "v", targets)


def keys(baseline: Baseline, items: Items, shown: Shown) -> list[list[int]]:
    """The keys of each row that get anything."""
    return [np.flatnonzero(row).tolist() for row in baseline.rows(items, shown)]


@pytest.mark.parametrize("distance", [-9, -4, 3, 9])
def test_the_offset_is_learned_over_the_full_range(distance: int) -> None:
    """Also far beyond -3 to 2, against nearer ones that are right less often."""
    shown = Shown([text_of("w " * 12)] * 5)
    query = 10 if distance < 0 else 1
    far, near = [(query, [query + distance])], [(query, [query - 1])]
    items, offset = ask([far, far, far, near, near]), Offset()
    offset.learn(items, shown)
    assert offset.best(items).tolist() == [distance] * 5
    assert score_rows(offset.rows(items, shown), items, shown.words)[:, 0].mean() == pytest.approx(0.6)


def test_each_label_has_an_offset_of_its_own_a_new_one_has_none_and_none_leads_out_of_a_text() -> None:
    shown, offset = Shown([text_of("w w w w"), text_of("w w")]), Offset()
    for label, by in (("a", 1), ("b", 2)):
        offset.learn(ask([[(0, [by])]], label), shown)
    for label, expected in (("a", [[2], []]), ("b", [[3], []]), ("c", [[1], [1]])):
        assert keys(offset, ask([[(1, [0])], [(1, [0])]], label), shown) == expected


def test_of_equally_frequent_offsets_the_nearest_is_taken_and_of_these_the_left() -> None:
    shown, offset = Shown([text_of("w " * 9)]), Offset()
    items = ask([[(4, [8, 6, 2, 1])]])
    offset.learn(items, shown)
    assert offset.best(items).tolist() == [-2]
    offset.learn(ask([[(0, [4])]]), shown)
    assert offset.best(items).tolist() == [4]


def test_the_likeliest_distance_is_that_of_the_candidates_which_were_correct_most_often() -> None:
    """One word on is correct for two of four candidates there, two on for one of three, two back for the only one."""
    shown, likeliest = Shown([text_of("w w w w")]), LikeliestDistance()
    likeliest.learn(ask([[(0, [1]), (1, [2]), (2, [0]), (1, [3])]]), shown)
    asked = ask([[(0, [1]), (2, [3]), (3, [0])]])
    assert keys(likeliest, asked, shown) == [[1], [0], [1]]
    assert keys(likeliest, ask([[(0, [1]), (3, [0])]], "new"), shown) == [[1], [2]], "the nearest of a new label"


def test_the_previous_word_is_attended_to_and_by_column_attends() -> None:
    """A first word has no word before it, and nothing attends to a last word."""
    shown, previous = Shown([text_of("w w w w"), text_of("w w")]), BASELINES["previous word"]()
    items = ask([[(0, [1]), (1, [0]), (3, [0])], [(1, [0])]])
    assert keys(previous, items, shown) == [[], [0], [2], [0]]
    assert keys(previous, replace(items, by_column=True), shown) == [[1], [2], [], []]


def test_the_uniform_row_is_chance() -> None:
    shown = Shown([text_of("w w w w"), text_of("w w")])
    rows = BASELINES["uniform"]().rows(ask([[(0, [1])], [(0, [1])]]), shown)
    np.testing.assert_allclose(rows, [[1 / 6] * 6, [0.25, 0.25, 0, 0, 0.25, 0.25]], rtol=1e-6)


@pytest.mark.parametrize(
    ("variant", "nearest", "same"),
    [
        (PRECEDING, [[2], [4], [5]], [[0], [4], [5]]),
        (ALL_WORDS, [[2], [4], [5]], [[0], [4], [5]]),
        (FOLLOWING, [[2], [4]], [[4], [4]]),
    ],
)
def test_mention_baselines_look_back_and_before_the_first_mention_ahead(
    variant: str, nearest: list[list[int]], same: list[list[int]]
) -> None:
    """Ada(0) met Bo(2) and ada(4), his(5) aunt(6): the second ada has the first one's form, letter case aside.

    His, nested in the mention headed by aunt, and aunt have no like and take the nearest.
    """
    spans = (((0,), "ada"), ((2,), "bo"), ((4,), "ada"), ((5,), "bo"), ((5, 6), "ada"))
    mentions = [Mention(words, words[-1], entity) for words, entity in spans]
    story = text_of("Ada met Bo and ada his aunt", mentions, "PROPN VERB PROPN CCONJ PROPN PRON NOUN")
    shown, items = Shown([story]), gather("coreference", variant, [Coreference().targets(story)[variant]])
    assert items.query.tolist() == ([0, 2] if variant == FOLLOWING else [4, 5, 6])
    assert keys(BASELINES["nearest mention"](), items, shown) == nearest
    assert keys(BASELINES["same head word"](), items, shown) == same


def test_the_lexical_table_is_the_one_made_by_hand() -> None:
    """Learned from one item, query 0 of "a b c" with gold 2, so that b was asked once, c asked and right once."""
    taught, table = Shown([text_of("a b c")]), LexicalTable()
    table.learn(ask([[(0, [2])]]), taught)
    shown = Shown([text_of("x C b c d")])
    (row,) = table.rows(ask([[(0, [1])]]), shown)
    expected = np.array(
        [
            0,
            (1.05 / 2) * (0.1 / 2) * (1 - 1e-6),  # C: right form, offset never seen
            (0.05 / 2) * (1.1 / 2) * (1 - 2e-6),  # b: wrong form, the offset
            (1.05 / 2) * (0.1 / 2) * (1 - 3e-6),  # c: as C, but farther
            (0.05 / 1) * (0.1 / 2) * (1 - 4e-6),  # d: a form that was never asked
            0,
            0,
        ]
    )
    np.testing.assert_allclose(row, expected / expected.sum(), rtol=1e-6)
    assert int(row.argmax()) == 1


@given(st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), max_size=9), max_size=4))
def test_counts_are_those_of_a_dictionary(batches: list[list[tuple[int, int]]]) -> None:
    counts, expected = Counts(), {}
    labels = ("a", "b")
    for pairs in batches:
        items = ask([[(0, [1])] * max(1, len(pairs))])
        label = np.array([one for one, _ in pairs] or [0], np.int64)
        items = items.take(np.arange(len(label)), label, labels)
        thing = np.array([thing for _, thing in pairs], np.int64)
        counts.add(counts.codes(items, np.arange(len(pairs)), thing))
        for pair in pairs:
            expected[pair] = expected.get(pair, 0) + 1
        everything = [(label, thing) for label in (0, 1) for thing in range(4)]
        asked = items.take(np.zeros(8, np.int64), np.array([one for one, _ in everything], np.int64), labels)
        codes = counts.codes(asked, np.arange(8), np.array([thing for _, thing in everything], np.int64))
        assert counts.of(codes)[0].tolist() == [expected.get(pair, 0) for pair in everything]


@pytest.mark.parametrize("name", [*BASELINES, LEXICAL])
def test_a_baseline_learns_the_same_in_any_order_and_changes_nothing(
    name: str, random_documents: Callable[..., list[Document]]
) -> None:
    documents = [one for document in random_documents(8) for one in document.split_sentences()]
    targets = [Coreference().targets(document)[ALL_WORDS] for document in documents]
    everything, shown = gather("coreference", ALL_WORDS, targets), Shown(documents)
    before = (everything.query.copy(), everything.gold[0].copy(), everything.label.copy())
    make = BASELINES.get(name, LexicalTable)
    at_once, apart = make(), make()
    at_once.learn(everything, shown)
    for i in reversed(range(len(documents))):
        items = gather("coreference", ALL_WORDS, [targets[i]])
        if len(items):
            apart.learn(items, Shown([documents[i]]))
    rows = at_once.rows(everything, shown)
    assert rows.dtype == np.float32
    assert rows.shape == (len(everything), int(shown.words.max()) + 2)
    assert np.array_equal(rows, apart.rows(everything, shown))
    assert all(map(np.array_equal, before, (everything.query, everything.gold[0], everything.label)))


@pytest.mark.parametrize(
    ("query", "candidates", "nearest", "ranked"),
    [
        (5, [0, 1, 2], [2], [0]),
        (6, [0, 1, 2], [2], [2]),
        (7, [0, 1, 2], [2], [2]),  # a third C where there are two: the last one
        (8, [0, 1, 2], [], []),  # no O among the candidates
        (2, [0, 1, 2], [0], [0]),  # the last candidate itself
        (5, [0, 2, 5], [2], [2]),  # counted from the first, as a candidate
        (2, [4, 5, 6, 7, 8], [5], [6]),
    ],
)
def test_the_same_word_is_the_nearest_or_the_one_of_the_same_rank_with_its_case(
    query: int, candidates: list[int], nearest: list[int], ranked: list[int]
) -> None:
    shown = Shown([text_of("C c C >> N C C C O")])
    items = gather("", "", [Targets.sets([query], [[candidates[0]]], ["a"], key_sets([candidates]))])
    assert keys(BASELINES["same word, nearest"](), items, shown) == [nearest]
    assert keys(BASELINES["same word, same rank"](), items, shown) == [ranked]
