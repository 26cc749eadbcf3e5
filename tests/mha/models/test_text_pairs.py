"""A pair of texts reaches the model as the call of its tokenizer makes it: special tokens, types, and maps."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hub
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from headscope import load
from mha import CLS, SEP, Ablate, MaskedLM, Model, align, collate, intervene
from mha.causal.sweep import TextBatch, sweeping
from mha.encoder.encoder import Encoder
from mha.models.maps import stream_maps
from mha.models.states import layer_states
from mha.reading.attention_blocks import states_without
from probes.corpora.corpus import MemoryTexts
from probes.scoring.aligned import Aligned
from tests.probes.text_pairs import text_pair

FIRST, SECOND = ["the", "unsinkable", "ship", "sank"], ["a", "ship", "is", "unsinkable", "then"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "ship", "un", "##sink", "##able", "sank", "a", "is"]
SIZE: dict[str, Any] = {"vocab_size": 300, "max_position_embeddings": 40, "initializer_range": 0.3}
BERT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
DISTIL = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 32}
XLNET = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 32}


def word_pieces(kind: str) -> Any:
    """Return the tokenizer of BERT, or of DistilBERT, over PIECES."""
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    return getattr(hub, kind)(vocab=vocabulary)


def bytes_of_roberta() -> Any:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: i for i, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters])}
    return hub.RobertaTokenizerFast(vocab=vocabulary, merges=[])


MODELS = {
    "bert": lambda: (hub.BertModel(hub.BertConfig(**SIZE, **BERT)), word_pieces("BertTokenizerFast")),
    "electra": lambda: (hub.ElectraModel(hub.ElectraConfig(**SIZE, **BERT)), word_pieces("BertTokenizerFast")),
    "albert": lambda: (hub.AlbertModel(hub.AlbertConfig(**SIZE, **BERT)), word_pieces("BertTokenizerFast")),
    "distilbert": lambda: (
        hub.DistilBertModel(hub.DistilBertConfig(**SIZE, **DISTIL)),
        word_pieces("DistilBertTokenizerFast"),
    ),
    "roberta": lambda: (
        hub.RobertaModel(hub.RobertaConfig(**{**SIZE, "max_position_embeddings": 80, "type_vocab_size": 1}, **BERT)),
        bytes_of_roberta(),
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def made(request: pytest.FixtureRequest) -> tuple[Model, Any, Any]:
    """Return a model as it is opened here, and that of transformers with its tokenizer."""
    torch.manual_seed(0)
    module, tokenizer = MODELS[request.param]()
    return load(module, tokenizer), module.eval(), tokenizer


def cut(model: Model) -> Any:
    return align(model.tokenizer, [[*FIRST, *SECOND], FIRST], None, [len(FIRST), 0])


@torch.no_grad()
def test_ablation_and_states_give_the_second_text_its_type(made: tuple[Model, Any, Any]) -> None:
    model, module, tokenizer = made
    theirs = module(**tokenizer(" ".join(FIRST), " ".join(SECOND), return_tensors="pt"), output_hidden_states=True)
    batch, head = collate(cut(model)[:1], padding=model.padding), Ablate(0, 1)
    states = layer_states(model, batch)
    for layer, theirs_of_pieces in enumerate(theirs.hidden_states):
        expected = batch.from_words[0] @ theirs_of_pieces[0]
        torch.testing.assert_close(states[layer, 0], expected, atol=1e-5, rtol=1e-5)
    texts = TextBatch(batch.ids, batch.mask)
    with intervene(model.module, head):
        ablated = model.run(batch.ids, batch.mask)
    with sweeping(model) as sweep:
        trace = sweep.trace(texts)
        found = torch.cat([out for _, out in sweep.run(texts, [(), (head,)], trace, pieces=1)])
    torch.testing.assert_close(found[0], theirs.last_hidden_state, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1], ablated, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(found[0], found[1], atol=1e-3)
    if isinstance(model.module, Encoder):
        passed = states_without(model, batch.ids[0], skips=True, feed_forward=True)[-1]
        torch.testing.assert_close(passed, theirs.last_hidden_state[0], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_pieces_types_and_every_map_are_those_of_transformers(made: tuple[Model, Any, Any]) -> None:
    model, module, tokenizer = made
    pair, single = cut(model)
    theirs = tokenizer(" ".join(FIRST), " ".join(SECOND), return_tensors="pt")
    assert pair.ids.tolist() == theirs["input_ids"][0].tolist()
    assert single.ids.tolist() == tokenizer(" ".join(FIRST))["input_ids"]
    types = model.types(torch.from_numpy(pair.ids)[None], None)
    expected = theirs.get("token_type_ids", torch.zeros_like(theirs["input_ids"]))
    assert torch.equal(torch.zeros_like(expected) if types is None else types, expected)
    assert ("token_type_ids" in theirs) == bool(expected.any()), "the second text of BERT has another type"
    assert model.types(torch.from_numpy(single.ids)[None], None) is None
    module.set_attn_implementation("eager")
    patterns = module(**theirs, output_attentions=True).attentions
    layers: dict[int, torch.Tensor] = {}
    batch = collate([single, pair], padding=model.padding)
    stream_maps(model, batch, lambda layer, maps: None, [lambda layer, _, seen: layers.update({layer: seen})])
    for layer, pattern in enumerate(patterns):
        torch.testing.assert_close(layers[layer][1:], pattern, atol=1e-5, rtol=0)
    torch.testing.assert_close(model.run(batch.ids, batch.mask)[1], module(**theirs)[0][0], atol=1e-4, rtol=0)


def test_words_of_both_texts_have_their_pieces_and_tokens_between_are_separators(made: tuple[Model, Any, Any]) -> None:
    model, _, tokenizer = made
    pair = cut(model)[0]
    text = [*FIRST, *SECOND]
    written = [tokenizer.decode(pair.ids[pair.word == word]).strip() for word in range(len(text))]
    known = {"then": "[UNK]"} if "[UNK]" in tokenizer.get_vocab() else {}
    assert written == [known.get(word, word) for word in text]
    special = [token for token in pair.word.tolist() if token < 0]
    assert special == [CLS] + [SEP] * (3 if tokenizer.sep_token == "</s>" else 2)


def test_moved_words_stay_in_their_text_and_separators_between_them(made: tuple[Model, Any, Any]) -> None:
    model, _, _ = made
    pair = cut(model)[0]
    places = np.array([3, 2, 1, 0, 4, 8, 7, 6, 5])
    moved = pair.moved(places)
    words = [[*FIRST, *SECOND][word] for word in np.argsort(places)]
    if "##sink" in model.tokenizer.get_vocab():  # elsewhere the first word of a text has no blank before it
        assert moved.ids.tolist() == align(model.tokenizer, [words], None, [4])[0].ids.tolist()
    assert np.flatnonzero(moved.word == SEP).tolist()[-1] == len(pair) - 1
    assert [word for word in dict.fromkeys(moved.word.tolist()) if word >= 0] == [*range(9)]
    between = np.flatnonzero(moved.word == SEP)[0]
    assert (moved.word[1:between] < 4).all()


def test_a_pair_whose_types_are_not_known_is_refused_and_one_that_is_too_long_left_out() -> None:
    vocabulary = {word: number for number, word in enumerate(["<pad>", "<unk>", "<sep>", "<cls>", "a"])}
    fast = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
    fast.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("<sep>", 2), ("<cls>", 3)]
    pair = "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2"
    fast.post_processor = processors.TemplateProcessing(single="$A:0 <sep>:0 <cls>:0", pair=pair, special_tokens=ends)
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "sep_token": "<sep>", "cls_token": "<cls>"}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    theirs = hub.PreTrainedTokenizerFast(tokenizer_object=fast, model_input_names=inputs, **names)
    model = load(hub.XLNetModel(hub.XLNetConfig(vocab_size=5, pad_token_id=0, **XLNET)), theirs)
    reason = "the types that its tokenizer gives to the pieces of a pair are not known"
    texts = [text_pair("aa", "a"), text_pair("aa", "")]
    aligned = Aligned.of(model, MemoryTexts(texts))
    assert (aligned.dropped.counts, aligned.kept) == ({reason: 1}, [1])
    model = load(*MODELS["bert"]())
    texts = [text_pair(["ship"] * first, ["ship"] * second) for first, second in ((17, 20), (18, 20), (37, 1))]
    aligned = Aligned.of(model, MemoryTexts(texts))
    assert (aligned.dropped.counts, aligned.kept) == ({"longer than the model (40 pieces)": 2}, [0])


def test_a_masked_lm_reads_the_types_of_a_pair_too() -> None:
    torch.manual_seed(0)
    module, tokenizer = hub.BertForMaskedLM(hub.BertConfig(**SIZE, **BERT)).eval(), word_pieces("BertTokenizerFast")
    lm = MaskedLM.of(load(module, tokenizer))
    theirs = tokenizer(" ".join(FIRST), " ".join(SECOND), return_tensors="pt")
    ids = theirs["input_ids"]
    with torch.no_grad():
        expected = module(**theirs).logits[0]
        torch.testing.assert_close(lm.read(ids, None, torch.arange(ids.numel())), expected, atol=1e-4, rtol=0)
