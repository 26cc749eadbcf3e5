"""Tokenizers of folders as people have them, against what `transformers` itself makes of the plain text."""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer

from mha import ModelError, align
from mha.models import tokenizer as of_folders
from mha.models.tokenizer import load_tokenizer
from tests.small_words import word_pieces

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "mona", "Mona", "caf", "##e", "##é", "sep", "[", "]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of a BERT whose tokenizer.json lowercases, without tokenizer_config.json, and an empty cache."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    made = word_pieces(PIECES)
    made.add_special_tokens(PIECES[:5])
    made.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    return tmp_path


def configured(folder: Path, **settings: Any) -> Path:
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", **settings}))
    return folder


@pytest.mark.parametrize(
    "settings", [{}, {"do_lower_case": False}, {"do_lower_case": True, "strip_accents": False}, {"do_lower_case": True}]
)
def test_texts_are_cut_as_the_call_of_transformers_cuts_them(folder: Path, settings: dict[str, Any]) -> None:
    words = ["the", "Mona", "café", "[SEP]"]
    theirs = AutoTokenizer.from_pretrained(str(configured(folder, **settings)))
    ours, special, _ = load_tokenizer(folder)
    assert align(ours, [words])[0].ids.tolist() == theirs(" ".join(words), split_special_tokens=True)["input_ids"]
    assert special == {"pad": 0, "unk": 1, "cls": 2, "sep": 3, "mask": 4}
    assert 3 not in align(ours, [words])[0].ids[1:-1], "a word is no special token"


def test_a_folder_is_opened_and_checked_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_tokenizer(configured(folder))
    monkeypatch.setattr(of_folders, "_opened", lambda folder: pytest.fail("opened again"))
    again = load_tokenizer(folder)
    assert (again[0].to_str(), again[1]) == (before[0].to_str(), before[1])
    assert again[0].encode_special_tokens
    with pytest.raises(pytest.fail.Exception):  # another setting is another tokenizer
        load_tokenizer(configured(folder, do_lower_case=False))


def test_a_tokenizer_json_that_transformers_would_not_follow_is_refused(folder: Path) -> None:
    load_tokenizer(folder)  # lowercases as the class that is guessed of the kind of model
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.save(str(folder / "tokenizer.json"))
    with pytest.raises(ModelError, match=r"no tokenizer_config.json, and transformers cuts .* tokenizer_config.json"):
        load_tokenizer(folder)
    load_tokenizer(configured(folder, tokenizer_class="PreTrainedTokenizerFast"))


def test_a_tokenizer_that_gives_a_single_text_the_second_type_is_refused(folder: Path) -> None:
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.post_processor = TemplateProcessing("[CLS]:1 $A:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    made.save(str(folder / "tokenizer.json"))
    with pytest.raises(ModelError, match="pieces of a single text types other than 0"):
        load_tokenizer(
            configured(
                folder, tokenizer_class="PreTrainedTokenizerFast", model_input_names=["input_ids", "token_type_ids"]
            )
        )


def test_a_tokenizer_that_does_not_tell_characters_is_refused_by_name(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "config.json").write_text('{"model_type": "roberta"}')
    configured(folder, tokenizer_class="BertweetTokenizer")
    (folder / "vocab.txt").write_text("the 5\nkeys 4\n")
    (folder / "bpe.codes").write_text("t h 5\n")
    with pytest.raises(ModelError, match=r"BertweetTokenizer, cannot say which piece belongs to which word"):
        load_tokenizer(folder)


@pytest.mark.parametrize(
    "made",
    [
        models.WordPiece({"the": 0, "?": 1}, unk_token="?"),
        models.Unigram([("the", -1.0), ("?", -2.0)], unk_id=1),
        models.BPE({"the": 0, "?": 1}, [], unk_token="?"),
    ],
)
def test_the_unknown_piece_is_the_one_that_is_used_whatever_settings_name(folder: Path, made: Any) -> None:
    tokenizer = Tokenizer(made)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    opened, special, _ = load_tokenizer(configured(folder, tokenizer_class="PreTrainedTokenizerFast"))
    assert special == {"unk": 1}
    assert 1 in opened.encode("жук").ids
