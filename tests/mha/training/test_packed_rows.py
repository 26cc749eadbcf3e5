from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from mha.training.packed_rows import StoredRows, StreamedRows, store_rows
from mha.training.packing import pack
from mha.training.vocabulary import Vocabulary, VocabularySettings, train_tokenizer

TEXTS = [f"{a}{b}" * n for n in (1, 2, 3) for a in ("mo", "tari", "li") for b in ("nasu", "ke", "dirolu")]
VOCABULARY = Vocabulary(train_tokenizer(TEXTS, VocabularySettings(32)))


class Texts:
    """Texts that count how often they are gone through."""

    def __init__(self, texts: list[str]) -> None:
        self.texts, self.times = texts, 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return iter(self.texts)


def numbered(rows: int) -> StoredRows:
    return StoredRows(np.arange(rows * 3).reshape(rows, 3), padding=0, fingerprint="x")


def test_what_is_stored_is_what_was_packed(tmp_path: Path) -> None:
    stored = store_rows(TEXTS, VOCABULARY, 16, tmp_path)
    packed = np.stack([*pack(VOCABULARY.encode(TEXTS), VOCABULARY, 16)])
    assert (np.asarray(stored.rows) == packed).all()
    assert (len(stored), stored.length) == packed.shape
    assert stored.pieces() == (packed != 0).sum()
    assert isinstance(stored.rows.base, np.memmap)


def test_rows_are_made_once_for_the_same_texts_tokenizer_and_length(tmp_path: Path) -> None:
    texts = Texts(TEXTS)
    first = store_rows(texts, VOCABULARY, 16, tmp_path)
    assert texts.times == 2
    again = store_rows(texts, VOCABULARY, 16, tmp_path)
    assert texts.times == 3  # for their hash alone
    assert again.fingerprint == first.fingerprint
    other = Vocabulary(train_tokenizer(TEXTS, VocabularySettings(31)))
    changed = [
        store_rows(TEXTS, VOCABULARY, 17, tmp_path),
        store_rows(TEXTS, other, 16, tmp_path),
        store_rows([*TEXTS, "mo"], VOCABULARY, 16, tmp_path),
        store_rows([TEXTS[0] + TEXTS[1], *TEXTS[2:]], VOCABULARY, 16, tmp_path),
    ]
    assert len({rows.fingerprint for rows in (first, *changed)}) == 5
    assert len([*tmp_path.iterdir()]) == 5


def test_a_full_disk_is_an_error_that_names_the_file_and_leaves_none(
    tmp_path: Path, largest_file: Callable[[int], AbstractContextManager[None]]
) -> None:
    with largest_file(200), pytest.raises(OSError, match="File too large") as caught:
        store_rows(TEXTS * 40, VOCABULARY, 16, tmp_path)
    assert str(caught.value.filename).startswith(str(tmp_path))
    assert [*tmp_path.iterdir()] == []


def test_every_epoch_has_all_rows_once_in_another_order() -> None:
    rows = numbered(10)
    taken = np.concatenate([*islice(rows.batches(4, 0, seed=1), 5)])[:, 0] // 3
    first, second = taken[:10].tolist(), taken[10:].tolist()
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
    assert (next(rows.batches(4, 0, seed=2))[:, 0] // 3).tolist() != first[:4]


def test_stored_rows_go_on_at_any_step_as_if_they_had_not_stopped() -> None:
    rows = numbered(7)
    whole = [*islice(rows.batches(3, 0, seed=1), 12)]
    for start in range(12):
        assert (next(rows.batches(3, start, seed=1)) == whole[start]).all()


def test_streamed_rows_go_on_at_any_step_as_if_they_had_not_stopped() -> None:
    rows = StreamedRows(TEXTS, VOCABULARY, 16, "x", mixed=5)
    whole = [*islice(rows.batches(3, 0, seed=1), 9)]
    for start in (1, 4, 8):
        assert (next(rows.batches(3, start, seed=1)) == whole[start]).all()


def test_streamed_rows_are_those_of_the_texts_in_a_mixed_order() -> None:
    rows = StreamedRows(TEXTS, VOCABULARY, 16, "x", mixed=5)
    packed = np.stack([*pack(VOCABULARY.encode(TEXTS), VOCABULARY, 16)])
    batches = rows.batches(2, 0, seed=1)
    taken = np.concatenate([*islice(batches, 40)])
    assert set(map(bytes, taken)) == set(map(bytes, packed))
    assert (taken[: len(packed)] != packed).any()
    assert (np.concatenate([*islice(rows.batches(2, 0, seed=2), 40)]) != taken).any()
