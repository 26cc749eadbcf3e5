import numpy as np
import pytest
import torch

from mha.training.masking import Masking, mask_rows, next_rows
from mha.training.packing import pack
from mha.training.vocabulary import Vocabulary, VocabularyError, VocabularySettings, train_tokenizer

TEXTS = [f"{a}{b} {b}{a}{a} {a}{b}{b}{a}" for a in ("mo", "tari", "li") for b in ("nasu", "ke", "dirolu")] * 40
VOCABULARY = Vocabulary(train_tokenizer(TEXTS, VocabularySettings(32)))
ROWS = np.stack([*pack(VOCABULARY.encode(TEXTS), VOCABULARY, 64)])[:-1]
MASK = VOCABULARY.special["[MASK]"]
SPECIAL = list(VOCABULARY.special.values())
ORDINARY = ~np.isin(ROWS, SPECIAL)


def test_the_share_of_masked_pieces_is_the_rate() -> None:
    for rate in (0.15, 0.4):
        hidden = mask_rows(ROWS, VOCABULARY, Masking(rate), 0, 1)
        n = ORDINARY.sum()
        assert abs(hidden.masked.sum() - rate * n) < 4 * np.sqrt(n * rate * (1 - rate))


def test_special_pieces_are_never_masked_and_never_put_in() -> None:
    hidden = mask_rows(ROWS, VOCABULARY, Masking(0.9, hidden=0.0, random=1.0), 0, 1)
    assert not hidden.masked[~ORDINARY].any()
    assert (hidden.pieces[~ORDINARY] == ROWS[~ORDINARY]).all()
    assert not np.isin(hidden.pieces[ORDINARY], SPECIAL).any()
    assert set(hidden.pieces[hidden.masked].tolist()) == set(VOCABULARY.ordinary.tolist())


def test_of_the_masked_pieces_eighty_ten_ten_are_hidden_replaced_and_left() -> None:
    hidden = mask_rows(ROWS, VOCABULARY, Masking(0.5), 0, 1)
    before, after = ROWS[hidden.masked], hidden.pieces[hidden.masked]
    n = len(before)
    assert abs((after == MASK).sum() - 0.8 * n) < 4 * np.sqrt(n * 0.16)
    replaced = 0.1 * (1 - 1 / len(VOCABULARY.ordinary))  # one of a kind replaces itself
    assert abs(((after != MASK) & (after != before)).sum() - replaced * n) < 4 * np.sqrt(n * 0.09)
    assert (hidden.pieces[~hidden.masked] == ROWS[~hidden.masked]).all()


def test_whole_words_are_masked_together() -> None:
    hidden = mask_rows(ROWS, VOCABULARY, Masking(0.3, whole_word=True), 0, 1)
    inner = ~VOCABULARY.begins[ROWS]
    assert inner.any()
    assert (hidden.masked[:, 1:] == hidden.masked[:, :-1])[inner[:, 1:]].all()
    apart = mask_rows(ROWS, VOCABULARY, Masking(0.3), 0, 1)
    assert not (apart.masked[:, 1:] == apart.masked[:, :-1])[inner[:, 1:]].all()
    words = VOCABULARY.begins[ROWS] & ORDINARY
    assert abs(hidden.masked[words].mean() - 0.3) < 4 * np.sqrt(0.21 / words.sum())


def test_every_row_has_something_to_predict() -> None:
    for whole_word in (False, True):
        hidden = mask_rows(ROWS, VOCABULARY, Masking(1e-9, whole_word=whole_word), 0, 1)
        if whole_word:
            assert (hidden.masked & VOCABULARY.begins[ROWS]).sum(1).tolist() == [1] * len(ROWS)
        else:
            assert hidden.masked.sum(1).tolist() == [1] * len(ROWS)


def test_answers_are_masked_wherever_they_stand_and_nothing_else_is() -> None:
    answers = {
        VOCABULARY.tokenizer.id_to_token(piece): piece for piece in VOCABULARY.ordinary if VOCABULARY.begins[piece]
    }
    one, other = [*answers][:2]
    asked = np.isin(ROWS, [answers[one], answers[other]])
    assert 0 < asked.sum() < ORDINARY.sum()
    hidden = mask_rows(ROWS, VOCABULARY, Masking(1e-9, hidden=1.0, random=0.0, answers=(one, other)), 0, 1)
    assert (hidden.masked == asked).all()
    assert (hidden.pieces == np.where(asked, MASK, ROWS)).all()


def test_an_answer_that_is_no_piece_is_refused() -> None:
    for word in ("monasu monasu", "\u4e2d", ""):
        with pytest.raises(VocabularyError, match="expected one"):
            mask_rows(ROWS, VOCABULARY, Masking(answers=(word,)), 0, 1)


def test_next_pieces_are_predicted_within_their_document_and_nothing_is_hidden() -> None:
    special = VOCABULARY.special
    cls, sep, padding = special["[CLS]"], special["[SEP]"], special["[PAD]"]
    a, b, c = VOCABULARY.ordinary[:3].tolist()
    rows = np.array([[cls, a, b, sep, cls, c, sep, padding], [cls, c, b, a, c, b, a, sep]])
    asked = next_rows(rows, VOCABULARY)
    assert (asked.pieces == rows).all()
    predicts = np.array([[1, 1, 1, 0, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0]], np.bool_)
    assert (asked.masked == predicts).all()
    batch = asked.batch(slice(0, 2))
    assert batch.gold.tolist() == [a, b, sep, c, sep, c, b, a, c, b, a, sep]
    assert batch.blocks.tolist()[0] == [0, 0, 0, 0, 1, 1, 1, -1]


def test_what_is_masked_depends_on_seed_step_and_row_alone() -> None:
    masking = Masking(0.2)
    hidden = mask_rows(ROWS, VOCABULARY, masking, 3, 7)
    again = mask_rows(ROWS[:5], VOCABULARY, masking, 3, 7)
    assert (hidden.pieces[:5] == again.pieces).all()
    for seed, step in ((4, 7), (3, 8)):
        assert (mask_rows(ROWS, VOCABULARY, masking, seed, step).masked != hidden.masked).any()


def test_a_batch_names_the_masked_pieces_and_their_gold_in_order() -> None:
    hidden = mask_rows(ROWS, VOCABULARY, Masking(0.3), 0, 1)
    batch = hidden.batch(slice(2, 5))
    flat = torch.from_numpy(ROWS[2:5].astype(np.int64)).flatten()
    assert batch.pieces.shape == (3, 64)
    assert batch.masked.tolist() == sorted(batch.masked.tolist())
    assert (flat[batch.masked] == batch.gold).all()
    assert int((batch.pieces.flatten() != flat).sum()) <= len(batch.gold) == int(hidden.masked[2:5].sum())
