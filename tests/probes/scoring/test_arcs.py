from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest

from mha import Model
from probes import Document, get_probe
from probes.corpora.corpus import MemoryTexts
from probes.records import Sentence, frozen_ints
from probes.scoring.aligned import Aligned
from probes.scoring.arcs import Arc, ControlTask, pairs_of, sample_arcs
from probes.scoring.tally import Question

RELATIONS = [get_probe("dependency"), get_probe("agreement"), get_probe("coreference")]
ALL = ("dependency", "dependent->head", "all")
Sample = dict[Question, list[Arc]]


@pytest.fixture
def documents(random_documents: Callable[..., list[Document]]) -> list[Document]:
    return random_documents(60)


@pytest.fixture
def draw(model: Model) -> Callable[..., Sample]:
    def draw(documents: list[Document], pairs: int = 10**6, seed: int = 0) -> Sample:
        return sample_arcs(Aligned.of(model, MemoryTexts(documents)), RELATIONS, pairs=pairs, seed=seed)

    return draw


def arc(query: int, candidates: tuple[int, ...]) -> Arc:
    return Arc(("", 0), 0, query, candidates[0], candidates[-1], candidates, "dog", 0, 0)


def told(sample: Sample) -> dict[Question, list[tuple[object, ...]]]:
    """All of a sample except for the place of each text."""
    return {
        question: [(one.text, one.query, one.gold, one.wrong, one.candidates, one.form, one.draw) for one in arcs]
        for question, arcs in sample.items()
    }


def test_the_right_key_is_gold_and_the_wrong_one_is_a_candidate_that_is_not(
    documents: list[Document], draw: Callable[..., Sample]
) -> None:
    seen = 0
    for (name, variant, _), arcs in draw(documents).items():
        for one in arcs:
            asked = get_probe(name).targets(documents[one.number])[variant]
            gold = defaultdict(set)
            for key, item in zip(*asked.gold, strict=True):
                gold[int(asked.query[item])].add(int(key))
            assert one.gold in gold[one.query]
            assert one.wrong not in gold[one.query] | {one.query}
            assert {one.gold, one.wrong} <= set(one.candidates)
            seen += len(gold[one.query]) > 1
    assert seen, "no item with several gold keys was tried"


def test_only_the_first_variant_of_probes_about_relations_is_asked(
    documents: list[Document], model: Model, draw: Callable[..., Sample]
) -> None:
    variants = {question[:2] for question in draw(documents)}
    assert variants == {(probe.name, probe.variants[0]) for probe in RELATIONS}
    texts = Aligned.of(model, MemoryTexts(documents))
    assert sample_arcs(texts, [get_probe("position")], pairs=9, seed=0) == {}


def test_a_sample_holds_the_arcs_of_lowest_rank(documents: list[Document], draw: Callable[..., Sample]) -> None:
    whole, part = draw(documents), draw(documents, pairs=30)
    assert set(whole) == set(part)
    assert len(whole[ALL]) > 30
    assert told(part) == {question: arcs[:30] for question, arcs in told(whole).items()}
    assert told(part) != told(draw(documents, pairs=30, seed=1))


def test_order_and_copies_of_texts_change_no_sample(documents: list[Document], draw: Callable[..., Sample]) -> None:
    twice = documents + documents[:20]
    assert told(draw(twice, pairs=30)) == told(draw(twice[::-1], pairs=30))
    assert len(draw(twice)[ALL]) > len(draw(documents)[ALL])


def test_an_item_whose_candidates_are_all_right_gives_no_arc(draw: Callable[..., Sample]) -> None:
    pair = Sentence("s", ("old", "ship"), frozen_ints([1, -1]), ("amod", "root"))
    three = Sentence("t", ("the", "old", "ship"), frozen_ints([2, 2, -1]), ("det", "amod", "root"))
    assert draw([Document("d", (pair,))]) == {}
    (det,) = draw([Document("d", (three,))])["dependency", "dependent->head", "det"]
    assert (det.query, det.gold, det.wrong, det.candidates, det.form) == (0, 2, 1, (1, 2), "the")


def test_a_word_without_pieces_is_in_no_arc(draw: Callable[..., Sample]) -> None:
    words, heads = ("the", "\u200b", "old", "ship", "sank"), frozen_ints([3, 3, 3, 4, -1])
    text = Document("d", (Sentence("s", words, heads, ("det", "dep", "amod", "nsubj", "root")),))
    arcs = draw([text])[ALL]
    assert sorted(one.query for one in arcs) == [0, 2, 3]
    assert all(1 not in (one.gold, one.wrong, *one.candidates) for one in arcs)


def test_the_control_task_is_a_function_of_the_word_form() -> None:
    control = ControlTask((-3, -1, 1, 4), seed=0)
    offsets = {form: control.offset(form) for form in map(str, range(200))}
    assert {form: control.offset(form) for form in reversed(offsets)} == offsets
    counts = np.unique(list(offsets.values()), return_counts=True)
    assert counts[0].tolist() == [-3, -1, 1, 4]
    assert counts[1].min() > 30
    assert {form: ControlTask(control.offsets, seed=1).offset(form) for form in offsets} != offsets


def test_the_control_task_draws_from_the_offsets_of_gold() -> None:
    arcs = [arc(3, (1, 2)), arc(0, (2, 1)), arc(5, (4, 3)), arc(6, (5, 3))]
    assert ControlTask.of(arcs, seed=0).offsets == (-2, -1, -1, 2)


@pytest.mark.parametrize(
    ("offset", "query", "candidates", "key"),
    [
        (2, 3, (0, 1, 2, 4, 5), 5),
        (9, 3, (0, 1, 2, 4, 5), 5),
        (-9, 3, (0, 1, 2, 4, 5), 0),
        (-2, 0, (1, 2, 3), 1),
        (-4, 9, (1, 4, 8), 4),
        (-3, 9, (1, 5, 7), 5),
    ],
    ids=["inside", "right of the text", "left of the text", "the query", "nearest candidate", "left of two"],
)
def test_the_control_key_is_the_candidate_nearest_to_the_offset(
    offset: int, query: int, candidates: tuple[int, ...], key: int
) -> None:
    right, wrong = ControlTask((offset,), seed=0).keys(arc(query, candidates))
    assert right == key
    assert wrong in set(candidates) - {key}


def test_pairs_come_by_task_and_arc_right_before_wrong() -> None:
    arcs = [arc(1, (0, 2, 3)), arc(2, (1, 3))]
    control = ControlTask((1,), seed=0)
    assert pairs_of(arcs, control).tolist() == [
        [[[1, 0], [1, 3]], [[2, 1], [2, 3]]],
        [[[1, 2], [1, 0]], [[2, 3], [2, 1]]],
    ]
