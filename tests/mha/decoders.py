"""Tiny models of `transformers` that read from left to right, or a text and a target, saved with a tokenizer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import transformers as hub
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from tests.small_words import randomise_weights

PIECES = ["<pad>", "<unk>", "<s>", "</s>", "the", "ship", "un", "##sink", "##able", "das", "schiff"]
SIZES: Mapping[str, Any] = {"vocab_size": len(PIECES), "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
BART: Mapping[str, Any] = {
    **{"d_model": 32, "encoder_layers": 2, "decoder_layers": 3, "max_position_embeddings": 24},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 2, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48},
    **{"decoder_start_token_id": 3, "forced_eos_token_id": 3},
}
"A BART of 2 layers x 4 heads that reads and 3 layers x 2 heads that is told."


def save_model(folder: Path, config: hub.PreTrainedConfig, *, ends: bool = True) -> str:
    """Save a model of `config` with random weights, and a tokenizer that writes <s> and </s> around a text or not."""
    model = hub.AutoModel.from_config(config)
    randomise_weights(model)
    model.save_pretrained(folder)
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if ends:
        special = [("<s>", 2), ("</s>", 3)]
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=special)
    hub.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>").save_pretrained(folder)
    return str(folder)
