import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from mha.pieces import CLS, SEP, Pieces, align
from tests.small_words import word_pieces

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "ship", "un", "##sink", "##able", "-"]


@pytest.fixture
def tokenizer() -> Tokenizer:
    """Return a WordPiece tokenizer whose texts end in [SEP] and begin with [CLS]."""
    return word_pieces(VOCABULARY)


@pytest.mark.parametrize(
    ("words", "pieces", "of"),
    [
        (["the", "unsinkable", "ship"], "the un ##sink ##able ship", [0, 1, 1, 1, 2]),
        (["un-ship", "the"], "un - ship the", [0, 0, 0, 1]),
        (["qqq", "ship"], "[UNK] ship", [0, 1]),
    ],
)
def test_every_piece_knows_its_word_and_special_tokens_their_end(
    words: list[str], pieces: str, of: list[int], tokenizer: Tokenizer
) -> None:
    (found,) = align(tokenizer, [words])
    assert [VOCABULARY[i] for i in found.ids] == ["[CLS]", *pieces.split(), "[SEP]"]
    assert found.word.tolist() == [CLS, *of, SEP]
    assert (found.words, found.missing()) == (len(words), [])


@pytest.mark.parametrize(("gone", "place"), [(["\u200b", "ship", "the"], 0), (["ship", "the", "\x00"], 2)])
def test_a_word_without_pieces_is_missing_and_moves_no_other(tokenizer: Tokenizer, gone: list[str], place: int) -> None:
    (pieces,) = align(tokenizer, [gone])
    assert pieces.missing() == [place]
    assert pieces.words == 3
    assert [gone[word] for word in pieces.word[1:-1]] == [word for word in gone if word in ("ship", "the")]


def test_a_text_without_words_has_its_special_tokens(tokenizer: Tokenizer) -> None:
    (pieces,) = align(tokenizer, [[]])
    assert pieces.word.tolist() == [CLS, SEP]
    assert (pieces.words, pieces.missing()) == (0, [])
    (pieces,) = align(tokenizer, [["\u200b"]])
    assert pieces.word.tolist() == [CLS, SEP]
    assert pieces.missing() == [0]


def test_several_special_tokens_at_an_end_all_belong_to_it(tokenizer: Tokenizer) -> None:
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    template = "[CLS] [SEP] $A [SEP] [SEP]"
    tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=ends)
    (pieces,) = align(tokenizer, [["the", "ship"]])
    assert pieces.word.tolist() == [CLS, CLS, 0, 1, SEP, SEP]


def test_a_tokenizer_without_special_tokens_gives_words_alone(tokenizer: Tokenizer) -> None:
    tokenizer.post_processor = None
    (pieces,) = align(tokenizer, [["the", "unsinkable"]])
    assert pieces.word.tolist() == [0, 1, 1, 1]


def test_texts_keep_their_order_and_are_neither_cut_nor_padded(tokenizer: Tokenizer) -> None:
    texts = [["ship"] * 300, ["the"], ["unsinkable", "ship"]]
    pieces = align(tokenizer, texts)
    assert [len(one) for one in pieces] == [302, 3, 6]
    assert align(tokenizer, []) == []
    for text, one in zip(texts, pieces, strict=True):
        (alone,) = align(tokenizer, [text])
        assert np.array_equal(one.ids, alone.ids)
        assert np.array_equal(one.word, alone.word)


def test_pieces_move_with_their_words_and_special_tokens_stay(tokenizer: Tokenizer) -> None:
    words, places = ["the", "unsinkable", "\u200b", "ship"], np.array([3, 0, 1, 2])
    (pieces,) = align(tokenizer, [words])
    moved = pieces.moved(places)
    assert [VOCABULARY[i] for i in moved.ids] == ["[CLS]", "un", "##sink", "##able", "ship", "the", "[SEP]"]
    assert moved.word.tolist() == [CLS, 0, 0, 0, 2, 3, SEP]
    assert (moved.words, moved.missing(), moved.word.dtype) == (4, [1], np.int32)
    (read,) = align(tokenizer, [["unsinkable", "\u200b", "ship", "the"]])
    assert np.array_equal(moved.ids, read.ids)
    assert np.array_equal(moved.word, read.word)
    assert pieces.word.tolist() == [CLS, 0, 1, 1, 1, 3, SEP]


@pytest.fixture
def bytes_() -> Tokenizer:
    """Return a byte-level BPE that puts no blank before a text, as those of ModernBERT and Llama 3."""
    letters = [*"Ġthekysou", "th", "the", "Ġt", "ke", "key", "keys", "Ġkeys"]
    merges = [("t", "h"), ("th", "e"), ("Ġ", "t"), ("k", "e"), ("ke", "y"), ("key", "s"), ("Ġ", "keys")]
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def test_words_are_parted_by_blanks_for_a_tokenizer_that_puts_none(bytes_: Tokenizer) -> None:
    (pieces,) = align(bytes_, [["the", "keys", "to", "us"]])
    assert [bytes_.id_to_token(i) for i in pieces.ids] == ["the", "Ġkeys", "Ġt", "o", "Ġ", "u", "s"]
    assert pieces.word.tolist() == [0, 1, 2, 2, 3, 3, 3]
    assert pieces.blank is not None
    assert pieces.blank.tolist() == [False] * 4 + [True, False, False]
    assert pieces.shared == ()


def test_raw_text_has_blanks_where_they_stood_and_a_piece_belongs_to_its_first_word(bytes_: Tokenizer) -> None:
    words, after = ["the", "ke", "ys", "to"], [True, False, True, True]
    (pieces,) = align(bytes_, [words], [after])
    assert [bytes_.id_to_token(i) for i in pieces.ids] == ["the", "Ġkeys", "Ġt", "o"]
    assert (pieces.word.tolist(), pieces.shared, pieces.missing()) == ([0, 1, 3, 3], (2,), [2])
    moved = pieces.moved(np.array([1, 3, 2, 0]))
    assert (moved.word.tolist(), moved.shared) == ([0, 0, 1, 3], (2,))


def test_what_looks_like_a_special_token_is_text_where_the_tokenizer_has_results_so(tokenizer: Tokenizer) -> None:
    tokenizer.add_special_tokens(["[SEP]"])
    assert align(tokenizer, [["the", "[SEP]"]])[0].ids.tolist() == [2, 4, 3, 3]
    tokenizer.encode_special_tokens = True
    (pieces,) = align(tokenizer, [["the", "[SEP]"]])
    assert pieces.ids.tolist() == [2, 4, 1, 1, 1, 3]
    assert pieces.word.tolist() == [CLS, 0, 1, 1, 1, SEP]


def test_letters_that_a_vocabulary_without_an_unknown_piece_drops_are_lost() -> None:
    letters = [*"[]theship"]
    plain = models.BPE({letter: i for i, letter in enumerate(dict.fromkeys(letters))}, [])
    tokenizer = Tokenizer(plain)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    (pieces,) = align(tokenizer, [["the", "шip", "жук", "ship"]])
    assert (pieces.word.tolist(), pieces.lost, pieces.missing()) == ([0, 0, 0, 1, 1, 3, 3, 3, 3], (1, 2), [2])
    assert pieces.moved(np.array([3, 2, 1, 0])).lost == (1, 2)
    (raw,) = align(tokenizer, [["the", "ship", "ш"]], [[True, False, True]])
    assert raw.lost == (2,)


def test_a_word_that_is_a_blank_to_the_model_is_bare(bytes_: Tokenizer) -> None:
    word = np.array([0, 1, 2, 2], np.int32)
    blank = np.array([False, True, True, False])
    assert Pieces(np.zeros(4, np.int32), word, 3, blank).bare() == [1]
    assert align(bytes_, [["the", "us"]])[0].bare() == []


def test_a_piece_that_stands_for_the_unknown_too_is_no_special_token(tokenizer: Tokenizer) -> None:
    (pieces,) = align(tokenizer, [["the", "qqq", "ship"]])
    assert pieces.misread({"unk": 1, "pad": 1, "sep": 3}) == []
    assert pieces.misread({"unk": 0, "mask": 1, "bos": 4}) == [0, 1]
