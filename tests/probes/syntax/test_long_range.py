from collections.abc import Callable

import numpy as np
import pytest

from probes.records import Document, Sentence
from probes.syntax.long_range import LongRange

Asked = Callable[..., list[tuple[int, list[int], str]]]


def test_arcs_are_asked_both_ways_by_distance_and_punctuation_is_not(
    tree: Callable[..., Sentence], asked: Asked
) -> None:
    text = """
        Old   ADJ   3 amod  _
        red   ADJ   3 amod  _
        ships NOUN  5 nsubj _
        ,     PUNCT 5 punct _
        sank  VERB  0 root  _
        here  ADV   5 advmod _
    """
    found = LongRange().targets(Document("d", (tree(text),)))
    assert asked(found["dependent->head"]) == [(0, [2], "2-3"), (1, [2], "1"), (2, [4], "2-3"), (5, [4], "1")]
    assert sorted(asked(found["head->dependent"])) == [
        (2, [0], "2-3"),
        (2, [1], "1"),
        (4, [2], "2-3"),
        (4, [5], "1"),
    ]


def test_dependents_of_one_band_are_all_right(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = "Old ADJ 4 amod _\nred ADJ 4 amod _\nbig ADJ 4 amod _\nships NOUN 0 root _\nhere ADV 4 advmod _"
    found = LongRange().targets(Document("d", (tree(text),)))
    assert asked(found["head->dependent"]) == [(3, [0, 1], "2-3"), (3, [2, 4], "1")]


@pytest.mark.parametrize(
    ("distance", "band"),
    [(1, "1"), (2, "2-3"), (3, "2-3"), (4, "4-7"), (7, "4-7"), (8, "8-15"), (15, "8-15"), (16, "16+"), (40, "16+")],
)
def test_bands_begin_and_end_where_they_say(distance: int, band: str, asked: Asked) -> None:
    heads = np.full(distance + 1, -1)
    heads[distance] = 0
    sentence = Sentence("s", ("w",) * len(heads), heads, ("dep",) * len(heads))
    assert asked(LongRange().targets(Document("d", (sentence,)))["dependent->head"]) == [(distance, [0], band)]


def test_an_arc_counts_in_its_band_and_among_all() -> None:
    assert LongRange().pool("16+") == ("16+", "all")
