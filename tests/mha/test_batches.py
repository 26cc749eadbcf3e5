import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mha.batches import collate, plan
from mha.pieces import CLS, SEP, Pieces
from tests.mha.conftest import text_of

TEXTS = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=6).map(lambda n: text_of(*n)), min_size=1, max_size=9)


@given(TEXTS, st.integers(1, 60))
def test_every_text_is_in_one_batch_and_batches_keep_to_the_budget(texts: list[Pieces], budget: int) -> None:
    batches = plan(texts, ["d"] * len(texts), budget)
    assert sorted(i for batch in batches for i in batch) == list(range(len(texts)))
    for batch in batches:
        longest = max(len(texts[i]) for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget
    lengths = [len(texts[i]) for batch in reversed(batches) for i in batch]
    assert lengths == sorted(lengths)  # so that the longest come first


def test_a_batch_takes_longer_texts_only_until_it_is_half_full() -> None:
    texts = [text_of(1), text_of(1), text_of(1, 1), text_of(1, 1, 1)]
    assert [len(batch) for batch in plan(texts, list("abcd"), 12)] == [2, 2]
    assert [len(batch) for batch in plan(texts, list("abcd"), 14)] == [1, 3]
    assert [len(batch) for batch in plan(texts, list("abcd"), 30)] == [4]


@given(TEXTS, st.randoms(use_true_random=False), st.integers(1, 60))
def test_batches_depend_on_the_set_of_texts_and_not_on_their_order(texts: list[Pieces], random, budget: int) -> None:
    named = [(text, f"d{i}") for i, text in enumerate(texts)]
    shuffled = random.sample(named, len(named))

    def names(pairs: list[tuple[Pieces, str]]) -> list[list[str]]:
        batches = plan([text for text, _ in pairs], [name for _, name in pairs], budget)
        return [[pairs[i][1] for i in batch] for batch in batches]

    assert names(named) == names(shuffled)


def test_ids_and_mask_are_padded_on_the_right() -> None:
    batch = collate([text_of(1), text_of(2, 1)], padding=7)
    assert batch.ids.tolist() == [[5, 6, 7, 7, 7], [5, 6, 7, 8, 9]]
    assert batch.mask is not None
    assert batch.mask.tolist() == [[True, True, True, False, False], [True] * 5]
    assert batch.words.tolist() == [1, 2]
    assert collate([text_of(2, 1), text_of(1, 2)]).mask is None


def test_the_first_piece_of_a_word_is_no_mark_of_a_blank_unless_it_has_no_other() -> None:
    word = np.array([CLS, 0, 0, 0, 1, 2, 2, SEP], np.int32)
    marks = np.array([False, True, False, False, True, False, False, False])
    text = Pieces(np.arange(5, 13, dtype=np.int32), word, 3, marks)
    batch = collate([text, Pieces(np.arange(5, 9, dtype=np.int32), word[[0, 1, 2, 7]], 1)], reduce="first")
    assert [row.nonzero().flatten().tolist() for row in batch.from_words[0]] == [[2], [4], [5]]
    assert batch.from_words[1, 0].nonzero().flatten().tolist() == [1]
    assert batch.from_words.sum(2).tolist() == [[1, 1, 1], [1, 0, 0]]
