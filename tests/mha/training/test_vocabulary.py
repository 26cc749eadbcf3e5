import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from mha.models.tokenizer import load_tokenizer
from mha.training.vocabulary import (
    SPECIAL,
    Vocabulary,
    VocabularyError,
    VocabularySettings,
    save_tokenizer,
    tokenizer_fingerprint,
    train_tokenizer,
)

TEXTS = [
    "The mona tanked the riddle.",
    "A riddle of the tank: mona, mona!",
    "Élan makes a monarch rattle the tanks.",
] * 5
KINDS = [VocabularySettings(60), VocabularySettings(300, "bpe")]


@pytest.fixture(params=KINDS, ids=lambda settings: settings.kind)
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    return Vocabulary(train_tokenizer(TEXTS, request.param))


def test_what_is_saved_is_opened_by_transformers_and_by_the_project_alike(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    save_tokenizer(vocabulary.tokenizer, tmp_path, 77)
    theirs = AutoTokenizer.from_pretrained(str(tmp_path))
    ours, *_ = load_tokenizer(tmp_path)
    text = "the mona tanks a riddle"
    assert theirs(text)["input_ids"] == ours.encode(text).ids == vocabulary.tokenizer.encode(text).ids
    assert (theirs.pad_token_id, theirs.mask_token_id, theirs.model_max_length) == (0, 4, 77)
    assert tokenizer_fingerprint(ours) == vocabulary.fingerprint


@pytest.mark.slow
@pytest.mark.parametrize("settings", KINDS, ids=lambda settings: settings.kind)
def test_the_same_texts_give_the_same_ids_in_every_process(settings: VocabularySettings) -> None:
    # the trainer's own numbers follow a hash table that is seeded anew in every process
    code = f"""
from mha.training.vocabulary import *
print(tokenizer_fingerprint(train_tokenizer({TEXTS!r}, {settings!r})))"""
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == tokenizer_fingerprint(train_tokenizer(TEXTS, settings))


def test_case_is_kept_where_it_is_asked_for() -> None:
    for kind, size in (("wordpiece", 60), ("bpe", 300)):
        cased = Vocabulary(train_tokenizer(TEXTS, VocabularySettings(size, kind, lowercase=False)))
        lower = Vocabulary(train_tokenizer(TEXTS, VocabularySettings(size, kind)))
        assert cased.tokenizer.encode("The").ids != cased.tokenizer.encode("the").ids
        assert lower.tokenizer.encode("The").ids == lower.tokenizer.encode("the").ids


def test_rare_characters_make_a_word_unknown() -> None:
    few = train_tokenizer(TEXTS, VocabularySettings(60, characters=4))
    pieces = {piece.removeprefix("##") for piece in few.get_vocab() if piece not in SPECIAL}
    assert len(set("".join(pieces))) == 4
    assert few.encode("riddle:").tokens[1:-1] == ["[UNK]", "[UNK]"]


def test_pieces_that_begin_a_word_are_known(vocabulary: Vocabulary) -> None:
    (pieces,) = vocabulary.encode(["monarch rattle monarch"])
    assert vocabulary.begins[pieces].sum() == 3
    assert vocabulary.begins[:5].all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "unigram"}, "unknown kind of vocabulary 'unigram'; known are wordpiece, bpe"),
        ({"size": 5}, "a wordpiece vocabulary of 5 is too small, expected 6 or more"),
        ({"size": 260, "kind": "bpe"}, "expected 261 or more"),
        ({"characters": 0}, "characters is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        VocabularySettings(**change)  # type: ignore[arg-type]


def test_padding_and_truncation_do_not_change_the_fingerprint(vocabulary: Vocabulary) -> None:
    from tokenizers import Tokenizer

    other = Tokenizer.from_str(json.dumps(json.loads(vocabulary.tokenizer.to_str())))
    other.enable_truncation(5)
    other.enable_padding()
    assert tokenizer_fingerprint(other) == vocabulary.fingerprint
    other.add_tokens(["more"])
    assert tokenizer_fingerprint(other) != vocabulary.fingerprint


def test_text_that_looks_like_a_special_piece_is_text(vocabulary: Vocabulary) -> None:
    (pieces,) = vocabulary.encode(["a [MASK] the [CLS]"])
    assert not set(pieces.tolist()) & {2, 3, 4}
