"""What small models share: a tokenizer of word pieces as BERT has it, and weights that leave no map uniform."""

from collections.abc import Iterable

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn


def word_pieces(pieces: Iterable[str]) -> Tokenizer:
    """Return a tokenizer that cuts words, in small letters, into these pieces, between [CLS] and [SEP]."""
    numbers = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(name, numbers[name]) for name in ("[CLS]", "[SEP]")]
    pair = "[CLS] $A [SEP] $B:1 [SEP]:1"
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair=pair, special_tokens=ends)
    return tokenizer


def randomise_weights(model: nn.Module, seed: int = 0, std: float = 0.2, *, norms: bool = True) -> None:
    """Fill a model with weights of this standard deviation, those of LayerNorms around 1 unless `norms` is false."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(0, std, generator=generator)
            if norms and parameter.ndim == 1 and name.endswith("weight"):
                parameter += 1
