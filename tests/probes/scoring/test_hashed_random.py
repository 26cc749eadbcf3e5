import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from probes.records import Document, Sentence
from probes.scoring.hashed_random import random_bits, shuffled_places


def sentence_of(name: str, words: int) -> Sentence:
    return Sentence(name, ("w",) * words, np.full(words, -1), ("",) * words)


def test_random_bits_know_each_counter_and_are_broadcast() -> None:
    rows, columns = np.arange(50), np.arange(-40, 40)
    table = random_bits(rows[:, None], columns)
    assert (table.shape, table.dtype) == ((50, 80), np.uint64)
    assert len(np.unique(table)) == table.size
    assert table[7, 9] == random_bits(rows[7:8], columns[9:10])[0]
    assert random_bits(np.array([1]), np.array([2])) != random_bits(np.array([2]), np.array([1]))


@given(st.lists(st.integers(0, 9), min_size=0, max_size=5), st.integers(0, 3))
def test_words_stay_in_their_sentence_and_none_is_lost(lengths: list[int], seed: int) -> None:
    document = Document("d", tuple(sentence_of(f"s{i}", n) for i, n in enumerate(lengths)))
    places, start = shuffled_places(document, seed), 0
    assert places.dtype == np.int64
    for n in lengths:
        assert sorted(places[start : start + n].tolist()) == list(range(start, start + n))
        start += n


def test_the_order_follows_from_seed_and_ids_alone() -> None:
    def places(document: str, sentence: str, seed: int = 0, before: int = 0) -> list[int]:
        text = Document(document, (sentence_of("first", before), sentence_of(sentence, 12)))
        return (shuffled_places(text, seed)[before:] - before).tolist()

    assert places("d", "s") == places("d", "s") == places("d", "s", before=5) != list(range(12))
    assert len({tuple(one) for one in (places("d", "s"), places("e", "s"), places("d", "t"), places("d", "s", 1))}) == 4
