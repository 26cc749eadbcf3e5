"""Encoder and decoder: which map is which, beside the numbers of `transformers` itself."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hub

from mha import CLS, SEP, Encoder, ModelError, align, collate, export_encoder, load_model, merge
from mha.pieces import Pieces
from mha.reading.cross_attention import KINDS, cross_maps, decoder_input
from tests.mha.decoders import BART, SIZES, save_model

SOURCE, TARGET = ["the", "unsinkable", "ship"], ["das", "schiff"]


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a tiny encoder-decoder."""
    return save_model(tmp_path_factory.mktemp("bart"), hub.BartConfig(**SIZES, **BART))


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a tiny encoder-decoder with position biases."""
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 4}
    return save_model(tmp_path_factory.mktemp("t5"), hub.T5Config(**SIZES, **sizes, decoder_start_token_id=3))


@pytest.mark.parametrize("kind_of_model", ["bart", "t5"])
def test_the_maps_of_each_kind_are_those_of_transformers(kind_of_model: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind_of_model)
    model = load_model(folder, whole=True)
    source, target = align(model.tokenizer, [SOURCE, TARGET])
    found = cross_maps(model, source, told := decoder_input(model, target))
    alone = hub.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids = (torch.from_numpy(pieces.ids).long()[None] for pieces in (source, told))
    expected = alone(**dict(zip(("input_ids", "decoder_input_ids"), ids, strict=True)), output_attentions=True)
    theirs = (expected.encoder_attentions, expected.decoder_attentions, expected.cross_attentions)
    for kind, patterns, shape in zip(KINDS, theirs, [(4, 7, 7), (2, 4, 4), (2, 4, 7)], strict=True):
        heads = 4 if kind_of_model == "t5" else shape[0]
        assert [tuple(pattern.shape[1:]) for pattern in found[kind]] == [(heads, *shape[1:])] * len(patterns)
        for ours, their in zip(found[kind], patterns, strict=True):
            torch.testing.assert_close(ours, their, rtol=0, atol=1e-6)
    assert bool((torch.stack(found["decoder"]).triu(1) == 0).all())


def test_the_decoder_reads_its_start_and_the_target_without_its_end(bart: str) -> None:
    model = load_model(bart, whole=True)
    told = decoder_input(model, align(model.tokenizer, [TARGET])[0])
    assert told.ids.tolist() == [3, 2, 9, 10]
    assert told.word.tolist() == [-1, -1, 0, 1]
    bare = decoder_input(model, Pieces(np.array([9, 10], np.int32), np.array([0, 1], np.int32), 2))
    assert bare.ids.tolist() == [3, 9, 10], "a tokenizer that writes no end"


def test_a_target_begins_with_its_own_language(tmp_path: Path) -> None:
    vocabulary = {piece: i for i, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", "<mask>", *"▁adhips"])}
    tokenizer = hub.NllbTokenizer(vocab=vocabulary, merges=[], src_lang="eng_Latn", tgt_lang="deu_Latn")
    sizes = {"vocab_size": len(tokenizer), "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    hub.M2M100Model(hub.M2M100Config(**{**BART, **sizes, "decoder_start_token_id": 2})).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = load_model(str(tmp_path), whole=True)
    theirs = tokenizer("a ship", text_target="das")
    source, target = align(model.tokenizer, [["a", "ship"], ["das"]])
    assert source.ids.tolist() == theirs["input_ids"]
    told = decoder_input(model, target)
    assert told.ids.tolist() == [2, *theirs["labels"][:-1]]
    assert tokenizer.convert_ids_to_tokens(told.ids)[:3] == ["</s>", "deu_Latn", "▁"]
    assert told.word.tolist() == [CLS, CLS, 0, 0, 0, 0]
    tokenizer.tgt_lang = None
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"add tgt_lang to tokenizer_config\.json, as src_lang is 'eng_Latn'"):
        decoder_input(load_model(str(tmp_path), whole=True), target)


def test_rows_of_words_that_attend_to_another_text_sum_to_one(bart: str) -> None:
    model = load_model(bart, whole=True)
    source, target = align(model.tokenizer, [SOURCE, TARGET])
    told = decoder_input(model, target)
    raw = cross_maps(model, source, told)["cross"][0]
    merged = merge(raw, collate([told]), collate([source]))
    assert merged.shape == (1, 2, 2, 5)
    torch.testing.assert_close(merged[0, :, :, 1], raw[0, :, 2:, 2:5].sum(-1))
    torch.testing.assert_close(merged[0, :, :, SEP], raw[0, :, 2:, 6])
    torch.testing.assert_close(merged.sum(-1), torch.ones(1, 2, 2))


def test_what_has_no_decoder_or_cannot_be_followed_is_refused(
    bart: str, build: Callable[..., Encoder], tmp_path: Path
) -> None:
    model = load_model(bart, whole=True)
    target = align(model.tokenizer, [TARGET])[0]
    with pytest.raises(ModelError, match="rollout follows one text"):
        cross_maps(model, target, target, maps="rollout")
    model.module.config.decoder_start_token_id = None
    with pytest.raises(ModelError, match="no decoder_start_token_id"):
        decoder_input(model, target)
    export_encoder(build(), tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path(bart) / name, tmp_path)
    with pytest.raises(ModelError, match="is a bert, which has no decoder that could read a target"):
        decoder_input(load_model(str(tmp_path), whole=True), target)


def test_kinds_are_told_apart_where_both_texts_are_as_long(bart: str) -> None:
    model = load_model(bart, whole=True)
    source, target = align(model.tokenizer, [["the", "ship"], [*TARGET, "das"]])
    found = cross_maps(model, source, decoder_input(model, target))
    assert [len(found[kind]) for kind in KINDS] == [2, 3, 3]
    assert float(torch.stack(found["cross"]).triu(1).max()) > 0


def test_norms_are_weights_times_lengths(bart: str) -> None:
    model = load_model(bart, whole=True)
    source, target = align(model.tokenizer, [SOURCE, TARGET])
    told = decoder_input(model, target)
    weights, norms = (cross_maps(model, source, told, maps=maps) for maps in ("weights", "norms"))
    ratio = norms["cross"][1] / weights["cross"][1]
    torch.testing.assert_close(ratio, ratio[:, :, :1].expand_as(ratio), rtol=1e-4, atol=1e-5)
    assert float(ratio.std(-1).min()) > 0.01
