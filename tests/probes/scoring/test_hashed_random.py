import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from probes.records import Document, Sentence
from probes.scoring.hashed_random import draws, random_bits, shuffled_places


def sentence_of(name: str, words: int) -> Sentence:
    return Sentence(name, ("w",) * words, np.full(words, -1), ("",) * words)


def test_numbers_are_a_function_of_their_content() -> None:
    assert draws(0, "a", ("b",)) == draws(0, "a", ("b",))
    assert len({draws(0, "a"), draws(1, "a"), draws("a", 0), draws("0", "a")}) == 4
    assert all(0 <= number < 2**64 for number in draws("x"))


def test_random_bits_know_each_counter_and_are_broadcast() -> None:
    rows, columns = np.arange(50), np.arange(-40, 40)
    table = random_bits(rows[:, None], columns)
    assert (table.shape, table.dtype) == ((50, 80), np.uint64)
    assert len(np.unique(table)) == table.size
    assert table[7, 9] == random_bits(rows[7:8], columns[9:10])[0]
    assert random_bits(np.array([1]), np.array([2])) != random_bits(np.array([2]), np.array([1]))


def test_random_bits_are_evenly_spread_in_every_bit() -> None:
    numbers = random_bits(np.array([3], np.uint64), np.arange(20_000))
    shares = [float(((numbers >> np.uint64(bit)) & np.uint64(1)).mean()) for bit in range(64)]
    assert max(abs(share - 0.5) for share in shares) < 0.02
    assert np.histogram(numbers / 2.0**64, 16, (0, 1))[0].std() < 60


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


def test_every_place_is_as_likely() -> None:
    counts = np.zeros((4, 4))
    for number in range(4000):
        counts[np.arange(4), shuffled_places(Document("d", (sentence_of(f"s{number}", 4),)), 0)] += 1
    assert np.abs(counts / 4000 - 0.25).max() < 0.03
