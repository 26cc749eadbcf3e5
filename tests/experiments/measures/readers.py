"""Masked language models of random weights that have whole words for what they are asked."""

from collections.abc import Iterable
from pathlib import Path

from mha import Encoder, EncoderConfig, export_encoder
from tests.experiments.conftest import save_vocabulary
from tests.small_words import randomise_weights

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def whole_words(folder: Path, words: Iterable[str]) -> Path:
    """Write a model of 2 layers x 2 heads whose vocabulary is `words`, and return its folder."""
    vocabulary = {piece: i for i, piece in enumerate((*PIECES, *sorted({*words})))}
    shape = EncoderConfig(vocab=len(vocabulary), layers=2, heads=2, model=16, feed_forward=16, positions=48)
    encoder = Encoder(shape, lm_head=True).eval()
    randomise_weights(encoder, std=0.4, norms=False)
    export_encoder(encoder, folder)
    save_vocabulary(vocabulary, folder)
    return folder
