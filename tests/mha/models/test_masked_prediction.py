import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hub
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor

from mha import Encoder, MaskedLM, ModelError, export_encoder, load_model
from mha.models.masked_prediction import hidden_piece, mask_piece
from mha.training.vocabulary import save_tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
VOCAB = 40
SIZE = {"vocab_size": VOCAB, "hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2}
SIZE |= {"num_hidden_layers": 2, "max_position_embeddings": 24, "pad_token_id": 0}


def save_words(folder: Path, special: tuple[str, ...] = SPECIAL) -> None:
    pieces = [*special, *(f"w{i}" for i in range(VOCAB - len(special)))]
    tokenizer = Tokenizer(models.WordLevel({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(tokenizer, folder, 512)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')


@pytest.fixture
def saved(tmp_path: Path, randomise: Callable[..., None]) -> Callable[[hub.PreTrainedModel], tuple[Path, Any]]:
    """Return the function that fills a model of transformers with weights and writes it with a tokenizer."""

    def save(model: hub.PreTrainedModel) -> tuple[Path, Any]:
        randomise(model)
        model.eval().save_pretrained(tmp_path / "hub")
        save_words(tmp_path / "hub")
        return tmp_path / "hub", model

    return save


def albert() -> hub.AlbertForMaskedLM:
    return hub.AlbertForMaskedLM(hub.AlbertConfig(**SIZE, embedding_size=8))


def modernbert() -> hub.ModernBertForMaskedLM:
    return hub.ModernBertForMaskedLM(
        hub.ModernBertConfig(**SIZE, cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3)
    )


def expected(model: Any, ids: Tensor, real: Tensor, place: Tensor) -> Tensor:
    """Log-probabilities from logits at every place, one text at a time without padding."""
    rows = []
    for row, mask, at in zip(ids, real, place.tolist(), strict=True):
        with torch.no_grad():
            logits = model(input_ids=row[mask][None]).logits
        rows.append(logits[0, at].log_softmax(-1))
    return torch.stack(rows)


PLACE = torch.tensor([4, 1, 2])


def test_our_encoder_says_what_berts_masked_lm_says(folder: Path, pieces: Tensor, mask: Tensor) -> None:
    save_words(folder)
    lm = MaskedLM.of(load_model(str(folder)))
    found = lm.log_probabilities(pieces, mask, PLACE)
    oracle = expected(hub.BertForMaskedLM.from_pretrained(folder).eval(), pieces, mask, PLACE)
    torch.testing.assert_close(found, oracle, atol=1e-5, rtol=0)
    torch.testing.assert_close(found.exp().sum(1), torch.ones(3))
    assert (lm.mask, lm.unknown) == (4, 1)


@pytest.mark.parametrize("make", [albert, modernbert])
def test_a_model_of_transformers_is_read_at_the_asked_places_alone(
    make: Callable[[], hub.PreTrainedModel],
    saved: Callable[..., tuple[Path, Any]],
    pieces: Tensor,
    mask: Tensor,
) -> None:
    folder, oracle = saved(make())
    lm = MaskedLM.of(load_model(str(folder)))
    decoded = []
    lm.module.get_output_embeddings().register_forward_hook(lambda module, inputs, output: decoded.append(output.shape))
    found = lm.log_probabilities(pieces, mask, PLACE)
    torch.testing.assert_close(found, expected(oracle, pieces, mask, PLACE), atol=1e-5, rtol=0)
    assert decoded == [(1, 3, VOCAB)], "one vector a text went through the decoder"


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "DistilBert", "Electra"])
def test_a_decoder_of_its_own_predicts_as_in_transformers(
    kind: str, saved: Callable[..., tuple[Path, Any]], pieces: Tensor, mask: Tensor
) -> None:
    sizes = {"n_layers": 2, "n_heads": 2, "dim": 16} if kind == "DistilBert" else SIZE
    config = getattr(hub, f"{kind}Config")(**{**sizes, "vocab_size": VOCAB}, tie_word_embeddings=False)
    folder, oracle = saved(getattr(hub, f"{kind}ForMaskedLM")(config))
    model = load_model(str(folder))
    assert isinstance(model.module, Encoder)
    found = MaskedLM.of(model).log_probabilities(pieces, mask, PLACE)
    torch.testing.assert_close(found, expected(oracle, pieces, mask, PLACE), atol=1e-5, rtol=0)
    fresh = MaskedLM.of(load_model(str(folder), "random", 3)).log_probabilities(pieces, mask, PLACE)
    assert fresh.exp().max() < 0.2, "an untrained head is nearly uniform"


def test_fresh_weights_have_a_head_and_the_body_that_they_have_without_one(folder: Path, tmp_path: Path) -> None:
    save_words(folder)
    headed = load_model(str(folder), "random", 3)
    bare = tmp_path / "bare"
    encoder = load_model(str(folder)).module
    encoder.lm_head = None
    export_encoder(encoder, bare)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder / name, bare)
    with torch.no_grad():
        without = dict(load_model(str(bare), "random", 3).module.named_parameters())
        for name, weight in headed.module.named_parameters():
            if not name.startswith("lm_head."):
                assert torch.equal(weight, without[name]) or name.startswith("pooler."), name
    ids = torch.tensor([[2, 9, 4, 3]])
    found = MaskedLM.of(headed).log_probabilities(ids, None, torch.tensor([2]))
    assert found.exp().max() < 0.2, "an untrained head is nearly uniform"


def bare_bert() -> hub.BertModel:
    return hub.BertModel(hub.BertConfig(**SIZE))


@pytest.mark.parametrize(
    ("make", "special", "why"),
    [
        (bare_bert, SPECIAL, r"no masked-LM head \(its weights hold none\): it cannot say which of two"),
        (albert, SPECIAL[:4], r"no piece for a mask, expected \[MASK\] or <mask>"),
        (
            lambda: hub.AlbertModel(hub.AlbertConfig(**SIZE, embedding_size=8)),
            SPECIAL,
            r"'predictions\.\S+' is not among its w",
        ),
        (
            lambda: hub.GPT2LMHeadModel(hub.GPT2Config(vocab_size=VOCAB, n_embd=16, n_head=2)),
            SPECIAL,
            "has none for a gpt2",
        ),
        (
            lambda: hub.BartForConditionalGeneration(hub.BartConfig(vocab_size=VOCAB, d_model=16, encoder_layers=1)),
            SPECIAL,
            "a bart is an encoder with a decoder",
        ),
    ],
)
def test_what_predicts_no_masked_piece_is_refused(
    make: Callable[[], hub.PreTrainedModel], special: tuple[str, ...], why: str, saved: Callable[..., tuple[Path, Any]]
) -> None:
    folder, _ = saved(make())
    save_words(folder, special)
    with pytest.raises(ModelError, match=why):
        MaskedLM.of(load_model(str(folder)))


def test_outside_our_calls_the_model_of_transformers_decodes_every_place(
    saved: Callable[..., tuple[Path, Any]], pieces: Tensor
) -> None:
    folder, oracle = saved(albert())
    lm = MaskedLM.of(load_model(str(folder)))
    with pytest.raises(IndexError):
        lm.log_probabilities(pieces, None, torch.tensor([0, 0, 99]))
    with torch.no_grad():
        torch.testing.assert_close(lm.module(input_ids=pieces).logits, oracle(input_ids=pieces).logits)


def test_the_mask_is_the_piece_that_the_tokenizer_says(folder: Path) -> None:
    save_words(folder)
    model = load_model(str(folder))
    asked = replace(model, special={"mask": 7, "unk": 9})
    assert (mask_piece(asked), hidden_piece(asked), MaskedLM.of(asked).unknown) == (7, 7, 9)
    unnamed = replace(model, special={"unk": 9})
    assert (mask_piece(unnamed), hidden_piece(unnamed)) == (4, 4), "it is known by its usual name"


@pytest.mark.parametrize("source", ["random", "permuted"])
def test_controls_of_a_model_of_transformers_follow_their_seed(
    source: str, saved: Callable[..., tuple[Path, Any]], pieces: Tensor
) -> None:
    folder, _ = saved(albert())
    one, same, other = (
        MaskedLM.of(load_model(str(folder), source, seed)).log_probabilities(pieces, None, PLACE) for seed in (1, 1, 2)
    )
    assert torch.equal(one, same)
    assert not torch.allclose(one, other)
