from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from mha.pieces import CLS, SEP
from probes.records import Document, Mention, Sentence
from probes.scoring.scorer import BatchScorer, score_rows
from probes.syntax.dependency import Dependency
from probes.targets import OTHERS, TOKENS, WORDS, Items, Targets, gather, key_sets
from probes.words.coreference import Coreference
from probes.words.position import BROAD, Position

HITS, MASS, COVERAGE, NEAR = range(4)


@dataclass(frozen=True)
class Kind:
    """One way to put a question."""

    candidates: str
    by_column: bool = False
    spread: bool = False


KINDS = [
    Kind(OTHERS),
    Kind(WORDS),
    Kind(TOKENS),
    Kind("listed"),
    Kind(OTHERS, by_column=True),
    Kind(WORDS, by_column=True),
    Kind("listed", by_column=True),
    Kind(TOKENS, spread=True),
]

TINY = 1.2e-38
VALUES = [0.0, 1e-42, 3e-42, 1e-8, 4e-6, 8e-6, 0.05, 0.05 + 4e-6, 0.1, 0.1 + 4e-6, 0.25, 0.25 + 2e-5, 0.5, 1.0]
"Attention with ties, near-ties on either side of 1e-5, nothing, almost nothing, and the limit of broad rows."


def judged_by_loops(row: dict[int, float], gold: Sequence[int], spread: bool) -> list[float]:
    """The MEASURES by their definition: `row` is candidate -> attention, which is none below TINY."""
    best = max(row.values())
    if spread:
        near = abs(best - float(np.float32(0.1))) <= 1e-5
        return [float(best <= np.float32(0.1)), 1 - best, sum(row.values()), float(near)]
    winners = [key for key, value in row.items() if value == best and value > TINY]
    close = [key for key, value in row.items() if value > TINY and best - value <= 1e-5]
    hits = sum(key in winners for key in gold) / len(winners) if winners else 0.0
    return [hits, sum(row[key] for key in gold), sum(row.values()), float(len(close) > 1)]


def line_of(one: Tensor, query: int, words: int, by_column: bool) -> dict[int, float]:
    """Key -> attention of a query in one map: its row, or its column over the words of the text."""
    line = {key: float(one[key, query] if by_column else one[query, key]) for key in range(words)}
    return line if by_column else line | {CLS: float(one[query, CLS]), SEP: float(one[query, SEP])}


def expected_of(maps: Tensor, words: Sequence[int], groups: Sequence[Items]) -> np.ndarray:
    """[item, measure, head] What a loop in double precision makes of every item."""
    outcome = []
    for items in groups:
        for i in range(len(items)):
            text, query = int(items.text[i]), int(items.query[i])
            allowed = {OTHERS: set(range(words[text])) - {query}, WORDS: set(range(words[text]))}
            allowed[TOKENS] = allowed[WORDS] | {CLS, SEP}
            if isinstance(items.candidates, str):
                candidates = allowed[items.candidates]
            else:
                candidates = set(items.candidates[0][items.candidates[1] == i].tolist())
            gold = items.gold[0][items.gold[1] == i].tolist()
            lines = [line_of(one, query, words[text], items.by_column) for one in maps[text]]
            judged = [judged_by_loops({key: line[key] for key in candidates}, gold, items.spread) for line in lines]
            outcome.append(np.array(judged).T)
    return np.array(outcome)


Asked = list[tuple[int, list[int], list[int], str]]
"Query, gold, listed candidates and label of every question about a text."


@st.composite
def questions(draw: st.DrawFn, kind: Kind, words: int) -> Asked:
    """Any questions of a kind about a text of that many words."""
    asked: Asked = []
    for query in draw(st.lists(st.integers(0, words - 1), max_size=4)):
        keys = [key for key in range(words) if kind.candidates != OTHERS or key != query]
        if not kind.by_column and kind.candidates in (TOKENS, "listed"):
            keys += [CLS, SEP]
        if keys:
            listed = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=4, unique=True))
            gold = draw(st.lists(st.sampled_from(listed), min_size=1, max_size=3, unique=True))
            asked.append((query, gold, listed, draw(st.sampled_from("ab"))))
    return asked


@st.composite
def cases(draw: st.DrawFn) -> tuple[Tensor, list[int], list[tuple[Kind, list[Asked]]]]:
    """Maps of some texts (padding is 0), their numbers of words, and questions of several kinds about each."""
    words = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    width, heads = max(words), draw(st.integers(1, 2))
    shape = (len(words), heads, width, width + 2)
    values = draw(st.lists(st.sampled_from(VALUES), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    maps = torch.tensor(values, dtype=torch.float32).view(shape)
    for i, n in enumerate(words):
        maps[i, :, n:] = 0
        maps[i, :, :, n:width] = 0
    if draw(st.booleans()):  # the order in memory in which maps come
        maps = maps.transpose(1, 2).contiguous().transpose(1, 2)
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    return maps, words, [(kind, [draw(questions(kind, n)) for n in words]) for kind in kinds]


def targets_of(kind: Kind, asked: Asked) -> Targets:
    query, gold, listed, label = ([item[part] for item in asked] for part in range(4))
    candidates = key_sets(listed) if kind.candidates == "listed" else kind.candidates
    keys = key_sets([] if kind.spread else gold)
    return Targets(np.array(query, np.int64), keys, label, candidates, kind.by_column, kind.spread)


def groups_of(asked: list[tuple[Kind, list[Asked]]]) -> list[Items]:
    groups = [gather("p", str(i), [targets_of(kind, one) for one in texts]) for i, (kind, texts) in enumerate(asked)]
    return [group for group in groups if len(group)]


def scorer_of_items(groups: list[Items], words: list[int]) -> BatchScorer:
    """Each item is a segment of its own."""
    items = sum(map(len, groups))
    return BatchScorer(groups, np.array(words), np.arange(items), items)


@given(cases())
def test_the_scorer_does_what_its_definition_says(case) -> None:
    maps, words, groups = *case[:2], groups_of(case[2])
    if not groups:
        return
    before = maps.clone()
    scorer = scorer_of_items(groups, words)
    outcome = scorer.sums(maps).numpy()
    expected = expected_of(maps, words, groups)
    np.testing.assert_allclose(outcome, expected, rtol=0, atol=1e-6)
    assert torch.equal(maps, before)
    assert np.array_equal(scorer.sums(maps).numpy(), outcome)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("probes.scoring.scorer.PAIRS", 3)
        assert np.array_equal(scorer.sums(maps).numpy(), outcome)


@pytest.mark.slow
@given(cases())
def test_baselines_and_heads_are_judged_alike(case) -> None:
    maps, words, groups = *case[:2], groups_of(case[2])
    for items in groups:
        outcome = scorer_of_items([items], words).sums(maps).numpy()
        for head in range(maps.shape[1]):
            rows = np.zeros((len(items), maps.shape[3]), np.float32)
            for i, (text, query) in enumerate(zip(items.text, items.query, strict=True)):
                line = line_of(maps[text, head], query, words[text], items.by_column)
                rows[i, list(line)] = list(line.values())
            before = rows.copy()
            scored = score_rows(rows, items, np.array(words))[:, :, 0]
            assert np.array_equal(scored[:, [HITS, NEAR]], outcome[:, [HITS, NEAR], head])
            np.testing.assert_allclose(scored, outcome[:, :, head], rtol=0, atol=1e-6)
            assert np.array_equal(rows, before)


@pytest.mark.slow
@given(cases(), st.data())
def test_sums_over_segments_are_sums_of_items(case, data: st.DataObject) -> None:
    maps, words, groups = *case[:2], groups_of(case[2])
    if groups:
        items = sum(map(len, groups))
        segment = data.draw(st.lists(st.integers(0, 3), min_size=items, max_size=items))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("probes.scoring.scorer.BAG", 2)
            sums = BatchScorer(groups, np.array(words), np.array(segment), 4).sums(maps).numpy()
        expected = np.zeros(sums.shape)
        for place, outcome in zip(segment, expected_of(maps, words, groups), strict=True):
            expected[place] += outcome
        np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-5)


def score(maps: Sequence[Sequence[Sequence[float]]], items: Items) -> list[list[float]]:
    """The MEASURES of one head on every item; `maps` is a map a text, columns [SEP] and [CLS] last."""
    width = max(map(len, maps))
    tensor = torch.zeros(len(maps), 1, width, width + 2)
    for i, one in enumerate(maps):
        rows = torch.tensor(one)
        n = len(rows)
        tensor[i, 0, :n, :n], tensor[i, 0, :n, width:] = rows[:, :n], rows[:, n:]
    return scorer_of_items([items], [len(one) for one in maps]).sums(tensor)[..., 0].tolist()


@pytest.mark.parametrize("words", [2, 5, 9])
def test_a_uniform_map_gets_chance_and_no_credit_at_the_edge(words: int) -> None:
    document = Document("d", (Sentence("s", ("w",) * words, np.full(words, -1), ("",) * words),))
    asked = Position().targets(document)
    maps = [[[1 / (words + 2)] * (words + 2)] * words]
    others = np.array(score(maps, gather("p", OTHERS, [asked[OTHERS]])))
    right = np.bincount(asked[OTHERS].gold[1])
    np.testing.assert_allclose(others[:, HITS], right / (words - 1), rtol=1e-6)
    assert bool((others[:, NEAR] == (words > 2)).all())
    same = np.array(score(maps, gather("p", WORDS, [asked[WORDS]])))
    np.testing.assert_allclose(same[:, HITS], 1 / words, rtol=1e-6)
    tokens = np.array(score(maps, gather("p", TOKENS, [asked[TOKENS]])))
    np.testing.assert_allclose(tokens[:, HITS], 1 / (words + 2), rtol=1e-6)


def test_attention_that_vanishes_beside_one_key_is_none() -> None:
    """A head that puts all on [SEP] leaves denormal numbers to the rest, of which many tie."""
    maps = [[[0.0, 1e-42, 1e-42, 1.0, 0.0], [0.3, 0.0, 0.3, 0.4, 0.0], [0.0] * 5]]
    items = gather("p", "v", [Targets.sets([0, 0, 1], [[1], [1, 2], [0]], ["a", "b", "c"])])
    assert [(item[HITS], item[NEAR]) for item in score(maps, items)] == [(0, 0), (0, 0), (0.5, 1)]


@pytest.mark.parametrize(("best", "hit"), [(0.09, 1), (0.11, 0)])
def test_broad_rows_that_do_not_sum_to_one_are_judged_by_shares(best: float, hit: int) -> None:
    words = 18
    document = Document("d", (Sentence("s", ("w",) * words, np.full(words, -1), ("",) * words),))
    items = gather("p", BROAD, [Position().targets(document)[BROAD]])
    row = [best, *[(1 - best) / (words + 1)] * (words + 1)]
    maps = 7 * torch.tensor([[[row] * words]])
    scorer = BatchScorer([items], np.array([words]), np.zeros(words, np.int64), 1)
    sums = scorer.sums(maps, shares=True)[0, :, 0]
    assert sums[HITS] == hit * words
    assert float(sums[MASS]) == pytest.approx(7 * (1 - best) * words, rel=1e-6)
    assert float(sums[COVERAGE]) == pytest.approx(7 * words, rel=1e-6)
    assert scorer.sums(maps)[0, HITS, 0] == 0


Tree = Callable[..., Sentence]


@pytest.fixture
def sentences(tree: Tree) -> list[Document]:
    """Four annotated sentences."""
    texts = [
        tree("The DET 2 det _\nship NOUN 3 nsubj _\nsank VERB 0 root _", name="0"),
        tree("She PRON 2 nsubj _\nsaw VERB 0 root _\nit PRON 2 obj _\nsink VERB 2 xcomp _", name="1"),
        tree("old ADJ 3 amod _\nred ADJ 3 amod _\nships NOUN 0 root _", name="2"),
        tree(
            "Ada PROPN 2 nsubj _\nsaw VERB 0 root _\nAda PROPN 2 obj _\nherself PRON 3 nmod _",
            name="3",
            mentions=[Mention((0,), 0, "a"), Mention((2,), 2, "a"), Mention((3,), 3, "a")],
        ),
    ]
    return [Document(sentence.id, (sentence,)) for sentence in texts]


MAPS = [
    # keys: the words, then [SEP], then [CLS]
    [
        [0.1, 0.5, 0.2, 0.1, 0.1],
        [0.3, 0.3, 0.2, 0.1, 0.1],
        [0.2, 0.2, 0.2, 0.2, 0.2],
    ],
    [
        [0.0, 0.25, 0.25, 0.25, 0.25, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.1, 0.2, 0.0, 0.3, 0.2, 0.2],
        [0.3, 0.300005, 0.1, 0.0, 0.0, 0.299995],
    ],
    [
        [0.0, 0.0, 1.0, 0.0, 0.0],
        [0.5, 0.0, 0.4, 0.1, 0.0],
        [0.3, 0.3, 0.2, 0.1, 0.1],
    ],
    [
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.6, 0.0, 0.3, 0.0, 0.1, 0.0],
        [0.4, 0.5, 0.0, 0.1, 0.0, 0.0],
        [0.2, 0.5, 0.2, 0.0, 0.0, 0.1],
    ],
]


def test_scores_from_dependent_to_head_are_those_made_by_hand(sentences: list[Document]) -> None:
    items = gather("d", "v", [Dependency().targets(text)["dependent->head"] for text in sentences])
    expected = {
        (0, 0): [1, 0.5, 0.7, 0],  # The -> ship
        (0, 1): [0, 0.2, 0.5, 0],  # ship -> sank, The gets 0.3
        (1, 0): [1 / 3, 0.25, 0.75, 1],  # She -> saw, ties with it and sink
        (1, 2): [0, 0.2, 0.6, 0],  # it -> saw, sink gets 0.3
        (1, 3): [1, 0.300005, 0.700005, 1],  # sink -> saw, by a hair before She
        (2, 0): [1, 1.0, 1.0, 0],  # old -> ships
        (2, 1): [0, 0.4, 0.9, 0],  # red -> ships, old gets 0.5
        (3, 0): [0, 0.0, 0.0, 0],  # Ada -> saw, all goes to [SEP]
        (3, 2): [1, 0.5, 1.0, 0],  # Ada -> saw
        (3, 3): [0, 0.2, 0.9, 0],  # herself -> the second Ada
    }
    assert list(zip(items.text.tolist(), items.query.tolist(), strict=True)) == list(expected)
    np.testing.assert_allclose(score(MAPS, items), list(expected.values()), rtol=0, atol=1e-6)


def test_scores_from_head_to_dependent_are_those_made_by_hand(sentences: list[Document]) -> None:
    items = gather("d", "v", [Dependency().targets(text)["head->dependent"] for text in sentences])
    labels = [items.labels[i] for i in items.label]
    expected = {
        (0, 1, "det"): [1, 0.3, 0.5, 0],
        (0, 2, "nsubj"): [0.5, 0.2, 0.4, 1],
        (1, 1, "nsubj"): [0, 0, 0, 0],
        (1, 1, "obj"): [0, 0, 0, 0],
        (1, 1, "xcomp"): [0, 0, 0, 0],
        (2, 2, "amod"): [1, 0.6, 0.6, 1],  # two dependents tie, and both are right
        (3, 1, "nsubj"): [1, 0.6, 0.9, 0],
        (3, 1, "obj"): [0, 0.3, 0.9, 0],
        (3, 2, "nmod"): [0, 0.1, 1.0, 0],
    }
    assert list(zip(items.text.tolist(), items.query.tolist(), labels, strict=True)) == list(expected)
    np.testing.assert_allclose(score(MAPS, items), list(expected.values()), rtol=0, atol=1e-6)


def test_scores_of_columns_are_those_made_by_hand(sentences: list[Document]) -> None:
    """Right if the word that attends most to the dependent is its head."""
    items = gather("d", "v", [Dependency().targets(text)["head<-dependent"] for text in sentences])
    expected = {
        (0, 0): [1, 0.3, 0.5, 0],  # The: ship 0.3, sank 0.2
        (0, 1): [0, 0.2, 0.7, 0],  # ship: The 0.5, sank 0.2
        (1, 0): [0, 0.0, 0.4, 0],  # She: sink 0.3
        (1, 2): [0, 0.0, 0.35, 0],  # it: She 0.25
        (1, 3): [0, 0.0, 0.55, 0],  # sink: it 0.3
        (2, 0): [0, 0.3, 0.8, 0],  # old: red 0.5, ships 0.3
        (2, 1): [1, 0.3, 0.3, 0],  # red: ships 0.3
        (3, 0): [1, 0.6, 1.2, 0],  # Ada: saw 0.6; a column is no distribution
        (3, 2): [1, 0.3, 0.5, 0],  # the second Ada: saw 0.3
        (3, 3): [1, 0.1, 0.1, 0],  # herself: the second Ada 0.1
    }
    assert list(zip(items.text.tolist(), items.query.tolist(), strict=True)) == list(expected)
    np.testing.assert_allclose(score(MAPS, items), list(expected.values()), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("preceding mention heads", [[1, 0.4, 0.4, 0], [1, 0.4, 0.4, 1]]),
        ("all words", [[0, 0.4, 1.0, 0], [0, 0.4, 0.9, 0]]),
    ],
)
def test_scores_of_antecedents_are_those_made_by_hand(
    variant: str, expected: list[list[float]], sentences: list[Document]
) -> None:
    """The second Ada and herself; herself attends 0.2 to either antecedent and 0.5 to the verb between."""
    items = gather("c", variant, [Coreference().targets(text)[variant] for text in sentences])
    assert list(zip(items.text.tolist(), items.query.tolist(), strict=True)) == [(3, 2), (3, 3)]
    np.testing.assert_allclose(score(MAPS, items), expected, rtol=0, atol=1e-6)


def test_of_listed_candidates_by_column_the_one_that_attends_most_is_judged(sentences: list[Document]) -> None:
    """The first Ada does not attend to the second, its only candidate; to herself the second Ada attends alone."""
    variant = "preceding mention heads by column"
    items = gather("c", variant, [Coreference().targets(text)[variant] for text in sentences])
    np.testing.assert_allclose(score(MAPS, items), [[0, 0, 0, 0], [1, 0.1, 0.1, 0]], rtol=0, atol=1e-6)
