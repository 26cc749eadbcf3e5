import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mha.training.packing import cut, pack, places_and_blocks
from mha.training.vocabulary import Vocabulary, VocabularySettings, train_tokenizer

VOCABULARY = Vocabulary(train_tokenizer(["abcd abc ab a"] * 3, VocabularySettings(20)))
CLS, SEP, PAD = 2, 3, 0
WORD = int(VOCABULARY.begins.nonzero()[0][5])
"A piece that begins a word; the special ones before it do as well."
INNER = int((~VOCABULARY.begins).nonzero()[0][0])


def documents(*lengths: int) -> list[np.ndarray]:
    return [np.full(length, WORD, np.int32) for length in lengths]


def lengths_of(row: np.ndarray) -> list[int]:
    """Pieces of each document of a row, without [CLS] and [SEP]."""
    return [len(part) - 1 for part in np.split(row, np.flatnonzero(row == CLS))[1:] for part in [part[part != PAD]][:1]]


def test_a_document_goes_where_it_leaves_the_least_room() -> None:
    # rows of 10: 6 + 2 leaves 2, 3 + 2 leaves 5; then 1 + 2 fits the second alone
    rows = [*pack(documents(6, 3, 1), VOCABULARY, 10)]
    assert [lengths_of(row) for row in rows] == [[7], [4, 2]]
    # 2 + 2 would fit the empty rest of both rows of 12 (4 and 7 free): the first is left full
    rows = [*pack(documents(6, 3, 2), VOCABULARY, 12)]
    assert [lengths_of(row) for row in rows] == [[7, 3], [4]]


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(3, 30), st.integers(1, 8))
def test_no_piece_is_lost_added_or_moved_within_its_document(sizes: list[int], length: int, buffer: int) -> None:
    draws = np.random.default_rng(0)
    texts = [draws.integers(5, VOCABULARY.size, size).astype(np.int32) for size in sizes]
    rows = [*pack(iter(texts), VOCABULARY, length, buffer)]
    assert all(len(row) == length for row in rows)
    parts = [tuple(part) for text in texts for part in cut(text, length - 2, VOCABULARY.begins)]
    packed = [
        tuple(part[(part != CLS) & (part != SEP) & (part != PAD)])
        for row in rows
        for part in np.split(row, np.flatnonzero(row == CLS))[1:]
    ]
    assert sorted(map(repr, parts)) == sorted(map(repr, packed))
    assert sum(map(len, parts)) == sum(sizes)


def test_a_long_document_is_cut_before_a_word() -> None:
    text = np.array([WORD, INNER, WORD, INNER, INNER, WORD], np.int32)
    assert [len(part) for part in cut(text, 4, VOCABULARY.begins)] == [2, 4]
    assert [len(part) for part in cut(text, 5, VOCABULARY.begins)] == [5, 1]
    inner = np.full(7, INNER, np.int32)  # one word without end is cut where it must be
    assert [len(part) for part in cut(inner, 3, VOCABULARY.begins)] == [3, 3, 1]


def test_positions_restart_with_each_document_and_padding_is_in_none() -> None:
    row = np.array([[CLS, WORD, SEP, CLS, WORD, WORD, SEP, PAD]])
    places, blocks = places_and_blocks(row, VOCABULARY)
    assert places.tolist() == [[0, 1, 2, 0, 1, 2, 3, 0]]
    assert blocks.tolist() == [[0, 0, 0, 1, 1, 1, 1, -1]]


def test_rows_begin_with_cls_end_documents_with_sep_and_fill_with_padding() -> None:
    (row,) = pack(documents(2, 1), VOCABULARY, 9)
    assert row.tolist() == [CLS, WORD, WORD, SEP, CLS, WORD, SEP, PAD, PAD]
