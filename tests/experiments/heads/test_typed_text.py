"""A text and a name that a person typed mean the same, and are refused with the same words, wherever they are typed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.heads.explain import explain_head
from experiments.heads.flow import write_flow
from experiments.heads.typed_text import TypedError, cut, find_word
from experiments.heads.view import write_text_view
from headscope import ablate, attention
from mha import Model

READERS: dict[str, Callable[[Model, str, Path], Any]] = {
    "attention": lambda model, text, _: attention(model, text),
    "ablate": lambda model, text, _: ablate(model, "1-1", text),
    "view": lambda model, text, path: write_text_view(path, [text], models=[model.name]),
    "explain": lambda model, text, path: explain_head(text, model.name, "1-1", path),
    "flow": lambda model, text, path: write_flow(model.name, path, text=text),
}
"Whatever reads a text that a person typed."

HEADS: dict[str, Callable[[Model, str, Path], Any]] = {
    "attention": lambda model, name, _: attention(model, "a dog").head(name),
    "strongest": lambda model, name, _: attention(model, "a dog").strongest(name),
    "plot": lambda model, name, _: attention(model, "a dog").plot(name),
    "ablate": lambda model, name, _: ablate(model, [name], "a dog"),
    "explain": lambda model, name, path: explain_head("a dog", model.name, name, path),
}
"Whatever takes the name of a head of a model."


def refusal(read: Callable[[Model, str, Path], Any], model: Model, typed: str, folder: Path) -> str:
    with pytest.raises(TypedError) as refused:
        read(model, typed, folder / "written")
    assert list(folder.iterdir()) == []
    return str(refused.value)


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_of_a_text_refuses_it_in_the_same_words(reader: str, model: Model, tmp_path: Path) -> None:
    read = READERS[reader]
    assert refusal(read, model, "a \u200b dog", tmp_path) == (
        f"the tokenizer of {model.name} turns '\\u200b' into nothing; leave it out"
    )
    assert refusal(read, model, "d\udcf6g", tmp_path) == (
        "the text has characters that are none (NUL, or bytes that are not UTF-8): got 'd\\udcf6g'"
    )
    assert refusal(read, model, "x " * 47, tmp_path) == (
        f"the text has 49 pieces, more than {model.name} reads (48): give a shorter one"
    )
    if reader != "flow":  # which then asks for a sentence or a corpus
        assert refusal(read, model, " \n", tmp_path) == ("the text has no words: expected some, got ' \\n'")


@pytest.mark.parametrize("taker", HEADS)
def test_every_taker_of_a_head_refuses_one_that_is_not_there_in_the_same_words(
    taker: str, model: Model, tmp_path: Path
) -> None:
    there = "heads are named layer-head from 1: 1-1 to 2-2"
    for name, hint in (("2.1", "did you mean '2-1'? "), ("0-0", ""), ("layer 2", "")):
        assert refusal(HEADS[taker], model, name, tmp_path).endswith(f"tiny has no head {name!r}; {hint}{there}")


def test_a_word_is_its_number_or_itself() -> None:
    words = ["the", "dog", "and", "the", "2"]
    assert [find_word(words, word) for word in ("2", "dog", "1", "5")] == [1, 1, 0, 4]
    for word, message in (
        ("6", "there is no word 6: the text has words 1 to 5"),
        ("the", "'the' stands at 1, 4: give the number of the word"),
    ):
        with pytest.raises(TypedError, match=message):
            find_word(words, word)


def test_a_word_that_the_model_takes_for_a_special_token_is_refused(model: Model) -> None:
    words, pieces = cut(model, "a dog")
    special = replace(model, special={"mask": int(pieces.ids[pieces.word == 1][0])})
    with pytest.raises(TypedError, match=f"'{words[1]}' is a special token to .*; leave it out"):
        cut(special, "a dog")
