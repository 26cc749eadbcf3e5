from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mha import Model
from probes.corpora.corpus import Corpus, MemoryTexts, Texts
from probes.records import Document, Sentence, frozen_ints
from probes.scoring.aligned import UNKNOWN, Aligned, sample_texts


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    return Corpus.of(random_documents(12, sentences=4, longest=10)).sentences()


def test_a_sample_is_the_same_in_any_order_and_ends_before_it_has_too_many_words(texts: Texts) -> None:
    every = texts.take(range(len(texts)))
    sample = sample_texts(texts, 5)
    assert len(sample) == 5
    assert sample_texts(MemoryTexts(every[::-1]), 5) == sample
    lengths = np.cumsum([len(text) for text in sample]).tolist()
    assert sample_texts(texts, 5, lengths[2]) == sample[:3]
    assert sample_texts(texts, 5, lengths[2] - 1) == sample[:2]
    assert sample_texts(texts, 5, 1) == sample[:1], "one at the least"


def test_a_sample_is_that_of_every_version() -> None:
    """Published numbers rest on it."""
    every = [Document(f"d{number}", ()) for number in range(10)]
    assert [text.id for text in sample_texts(MemoryTexts(every), 4)] == ["d7", "d9", "d1", "d2"]


def text(name: str, words: str, *blanks: bool) -> Document:
    forms = tuple(words.split())
    return Document(
        name, (Sentence(name, forms, frozen_ints([-1] * len(forms)), ("",) * len(forms), space_after=blanks),)
    )


def test_unknown_words_are_counted_and_words_that_are_special_tokens_left_out(model: Model) -> None:
    texts = [text("a", "the zzz zz-z sank"), text("b", "the ship sank"), text("c", "it [MASK] qq")]
    taken = replace(model, special={"unk": 1, "mask": model.tokenizer.token_to_id("ship")})
    aligned = Aligned.of(taken, MemoryTexts(texts))
    assert aligned.kept == [0, 2]
    assert aligned.dropped.counts == {"'ship' is a special token to the model, not a word": 1}
    assert aligned.odd.counts == {UNKNOWN: 2 + 2}, "a word of several unknown pieces counts once; [MASK] is text"
    assert aligned.odd.examples == {UNKNOWN: ["a", "c"]}


def test_raw_text_is_cut_as_it_was_written(model: Model) -> None:
    texts = [text("a", "un sink able ship .", False, False, True, False, True), text("b", "unsinkable ship .")]
    raw, parted = Aligned.of(model, MemoryTexts(texts)).pieces
    assert raw.ids.tolist() == parted.ids.tolist()
    assert raw.word.tolist() == [-1, 0, 1, 2, 3, 4, -2]
