"""Tiny models of many architectures of `transformers`, and folders of them as people have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import transformers as hub
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tests.mha.tiny.vocabularies import make
from tests.small_words import randomise_weights

PLAIN: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
SIZES = PLAIN | SPECIAL
DISTIL = {"vocab_size": 40, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64}
GROUPED = SIZES | {"num_key_value_heads": 2}
"Two heads share their keys and values."
GEMMA = GROUPED | {"head_dim": 8, "sliding_window": 4}
LOCAL = SIZES | {"local_attention": 4, "global_attn_every_n_layers": 3, "cls_token_id": 2, "sep_token_id": 3}
"One layer of three has global attention, the others attend to two pieces on either side."
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}
"Places enter the scores alone, as in the DeBERTa that is published."
XLM = {"vocab_size": 40, "emb_dim": 32, "n_layers": 3, "n_heads": 4, "max_position_embeddings": 64}
T5 = {"vocab_size": 40, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 3, "num_heads": 4}
GPT2 = {"vocab_size": 40, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}
BART = {
    **{"vocab_size": 40, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "max_position_embeddings": 64},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48},
    **{"decoder_start_token_id": 3, "forced_eos_token_id": 3, **SPECIAL},
}

ARCHITECTURES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "ernie", "roc_bert"), SIZES),
    **dict.fromkeys(("data2vec-text", "roberta-prelayernorm", "bert-generation", "splinter", "layoutlm"), SIZES),
    **dict.fromkeys(("electra", "albert"), SIZES | {"embedding_size": 16}),
    "distilbert": DISTIL,
    "mobilebert": SIZES | {"embedding_size": 16, "true_hidden_size": 16, "intra_bottleneck_size": 16},
    "xmod": SIZES | {"languages": ["en_XX"], "default_language": "en_XX"},
    "esm": SIZES | {"mask_token_id": 4, "token_dropout": False},
    "modernbert": LOCAL,
    **dict.fromkeys(("eurobert", "nomic_bert", "jina_embeddings_v3"), SIZES),
    **dict.fromkeys(("megatron-bert", "roformer", "ibert", "mpnet", "canine", "rembert", "tapas", "big_bird"), SIZES),
    "deberta": SIZES | RELATIVE,
    "deberta-v2": SIZES | RELATIVE | {"position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True},
    "lilt": SIZES | {"hidden_size": 48, "channel_shrink_ratio": 2},
    "squeezebert": SIZES | {"embedding_size": 32},
    "convbert": SIZES | {"embedding_size": 32},
    "nystromformer": SIZES | {"segment_means_seq_len": 8, "num_landmarks": 8},
    "longformer": SIZES | {"attention_window": 4},
    "luke": SIZES | {"entity_vocab_size": 10, "entity_emb_size": 16},
    "fnet": SIZES,
    "xlnet": {"vocab_size": 40, "d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48},
    **dict.fromkeys(("xlm", "flaubert"), XLM),
    **dict.fromkeys(("bart", "mbart", "pegasus", "marian", "blenderbot", "blenderbot-small", "m2m_100"), BART),
    **dict.fromkeys(("t5", "mt5", "umt5"), T5),
    **dict.fromkeys(("gpt2", "openai-gpt"), GPT2 | SPECIAL),
    "gptj": GPT2 | {"rotary_dim": 4},
    **dict.fromkeys(("gpt_neox", "phi", "phi3", "olmo", "olmo2", "biogpt", "granite", "falcon"), SIZES),
    **dict.fromkeys(
        ("llama", "qwen2", "starcoder2", "smollm3", "stablelm", "cohere", "nemotron", "glm", "ministral3"), GROUPED
    ),
    **dict.fromkeys(("qwen3", "gemma"), GROUPED | {"head_dim": 8}),
    "mistral": GROUPED | {"sliding_window": 4},
    **dict.fromkeys(("gemma2", "gemma3_text"), GEMMA),
    "modernbert-decoder": LOCAL,
    "opt": SIZES | {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "bloom": {"vocab_size": 40, "hidden_size": 32, "n_layer": 3, "n_head": 4},
    "gpt_oss": GEMMA | {"num_local_experts": 2, "num_experts_per_tok": 1},
}
"`model_type` -> what its config is made with."


def config(kind: str, **changes: Any) -> hub.PreTrainedConfig:
    """Return the config of a tiny model of 4 heads of 8 dimensions (MobileBERT 4, LiLT 12); ConvBERT makes 2 of 4."""
    made = CONFIG_MAPPING[kind](**ARCHITECTURES[kind] | changes)
    assert isinstance(made, hub.PreTrainedConfig)
    return made


def built(kind: str, **changes: Any) -> Any:
    """Return a tiny randomised model."""
    model = hub.AutoModel.from_config(config(kind, **changes)).eval()
    randomise_weights(model)
    return model


def save(kind: str, folder: Path, **changes: Any) -> Path:
    """Save a randomised tiny model with a tokenizer of the kind that its architecture has; return the folder."""
    tokenizer = make(kind)
    names = ("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "mask_token_id")
    special = {name: found for name in names if (found := getattr(tokenizer, name)) is not None}
    built(kind, vocab_size=len(tokenizer), **special, **changes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
