"""Sinks, against attention and values in float64, and by hand."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from mha import Model, align
from mha.encoder.encoder import Encoder
from mha.hooks import record
from probes.corpora.corpus import Corpus, Texts
from probes.maps.sinks import SPREADS, WRITES_LITTLE, SpecialShare, sink_table
from probes.records import Document
from probes.scoring.score import Settings, score_corpus

SHAPE = (2, 3)
"Layers and heads of the model."


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    return Corpus.of(random_documents(9, longest=8)).sentences()


def shares(model: Model, texts: Texts, maps: str) -> np.ndarray:
    seen = SpecialShare(*SHAPE)
    score_corpus(model, texts, [], {}, Settings(maps=maps), observers=[seen])
    return seen.share


def plain(model: Model, texts: Texts) -> Iterator[tuple[int, int, bool, float, float]]:
    """Yield layer, head, whether the key is special, attention and what is written, of every word and piece.

    The row of a word is the mean of those of its pieces; lengths are those of alpha x W_V W_O, without any bias of W_O.
    """
    assert isinstance(model.module, Encoder)
    for text in texts.take(range(len(texts))):
        (cut,) = align(model.tokenizer, [text.words])
        with record(model.module, ["pattern", "value"]) as seen, torch.inference_mode():
            model.run(torch.from_numpy(cut.ids[None].astype(np.int64)), None)
        for layer, (pattern, value) in enumerate(zip(seen["pattern"], seen["value"], strict=True)):
            weights = model.module.layers[layer].attention.W_O.detach().double()
            written = torch.einsum("hkd,hdm->hkm", value[0].double(), weights).norm(dim=-1)
            pieces = [np.flatnonzero(cut.word == word) for word in range(len(text))]
            for head in range(SHAPE[1]):
                for mine in pieces:
                    row = pattern[0, head, mine].double().mean(0)
                    for key, attention in enumerate(row.tolist()):
                        yield layer, head, cut.word[key] < 0, attention, attention * float(written[head, key])


def test_shares_of_special_tokens_are_those_of_plain_loops(model: Model, texts: Texts) -> None:
    sums = np.zeros((2, 2, *SHAPE))
    for layer, head, special, attention, written in plain(model, texts):
        sums[:, 0, layer, head] += attention, written
        sums[:, 1, layer, head] += (attention, written) if special else (0, 0)
    expected = (sums[:, 1] / sums[:, 0]).reshape(2, -1)
    for maps, one in zip(("weights", "norms"), expected, strict=True):
        np.testing.assert_allclose(shares(model, texts, maps), one, rtol=1e-5)
    assert np.abs(expected[0] - expected[1]).max() > 0.01


def test_kinds_by_hand() -> None:
    """Special tokens have 40 % of attention; 90 % and half of what is written; 80 % of both; all of both."""
    table = sink_table(np.array([0.4, 0.9, 0.8, 1.0]), np.array([0.1, 0.5, 0.8, 1.0]), (2, 2)).set_index("name")
    assert table.kind.tolist() == ["", WRITES_LITTLE, SPREADS, SPREADS]
    assert table.per_attention.tolist() == pytest.approx([1 / 6, 1 / 9, 1, math.nan], nan_ok=True)
    assert (table.special["1-2"], table.written["1-2"]) == (0.9, 0.5)


def test_without_words_there_are_no_sinks() -> None:
    nothing = SpecialShare(*SHAPE).share
    assert np.isnan(nothing).all()
    assert set(sink_table(nothing, nothing, SHAPE).kind) == {""}
