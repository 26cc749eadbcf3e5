"""Sinks, against attention and values in float64, and by hand."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from mha import Model, align
from mha.encoder.encoder import Encoder
from mha.hooks import record
from probes.corpora.corpus import Corpus, Texts
from probes.maps.sinks import read_sinks, sink_table
from probes.records import Document
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from reports.tables.grades import SPREADS, WRITES_LITTLE


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    """Sentences of up to 8 words, some of several pieces."""
    return Corpus.of(random_documents(9, longest=8)).sentences()


def sinks_of(model: Model, texts: Texts, **settings: object) -> pd.DataFrame:
    return read_sinks(model, Aligned.of(model, texts), Settings(**settings)).set_index("name")  # type: ignore[arg-type]


def plain(model: Model, texts: Texts, reduce: str) -> tuple[np.ndarray, ...]:
    """Return special, written, length and rank [layer * head], text by text in float64, without padding."""
    assert isinstance(model.module, Encoder)
    outputs = torch.stack([layer.attention.W_O.detach().double() for layer in model.module.layers])
    given, written, lengths, special, ranks = [], [], [], [], []
    for text in texts.take(range(len(texts))):
        (cut,) = align(model.tokenizer, [text.words])
        with record(model.module, ["pattern", "value"]) as seen, torch.inference_mode():
            model.run(torch.from_numpy(cut.ids[None].astype(np.int64)), None)
        pattern, value = (torch.cat(seen[site]).double() for site in ("pattern", "value"))
        norms = torch.einsum("lhkd,lhdm->lhkm", value, outputs).norm(dim=-1)
        rows = [np.flatnonzero(cut.word == word)[: 1 if reduce == "first" else None] for word in range(len(text))]
        outputs_of_words = torch.stack([(pattern @ value)[:, :, row].mean(2) for row in rows], 2)
        squares = torch.linalg.svdvals(outputs_of_words) ** 2
        ranks.append(squares.sum(-1) ** 2 / (squares**2).sum(-1))
        attention = sum(pattern[:, :, row].mean(2) for row in rows)
        assert isinstance(attention, Tensor)
        given.append(attention)
        written.append(attention * norms)
        lengths.append(norms)
        special.append(torch.from_numpy(cut.word < 0))
    alpha, alpha_f, f, at = (torch.cat(every, -1) for every in (given, written, lengths, special))
    share, share_written = (every[..., at].sum(-1) / every.sum(-1) for every in (alpha, alpha_f))
    relative = alpha_f[..., at].sum(-1) / alpha[..., at].sum(-1) / f[..., ~at].mean(-1)
    rank = torch.stack(ranks).mean(0)
    return tuple(one.flatten().numpy() for one in (share, share_written, relative, rank))


@pytest.mark.parametrize("settings", [{}, {"reduce": "first", "batch_pieces": 24}])
def test_numbers_are_those_of_plain_sums_in_double_precision(
    model: Model, texts: Texts, settings: dict[str, object]
) -> None:
    found = sinks_of(model, texts, **settings)
    numbers = plain(model, texts, str(settings.get("reduce", "mean")))
    for column, expected in zip(("special", "written", "length", "rank"), numbers, strict=True):
        np.testing.assert_allclose(found[column], expected, rtol=1e-5)
    assert not np.isclose(found["special"], found["written"], atol=0.01).all()


def sums(special: float, length: float) -> np.ndarray:
    """Return the sums of one head over 10 words and 4 special tokens, whose values are so long beside 2 of words."""
    attention, each = np.array([10 * (1 - special), 10 * special]), np.array([2.0, 2 * length])
    return np.stack([attention, attention * each, np.array([10, 4]) * each, [10, 4]])[:, :, None, None]


@pytest.mark.parametrize(
    ("special", "length", "kind"),
    [
        (0.49, 0.1, ""),
        (0.5, 0.5, WRITES_LITTLE),
        (0.5, 0.51, SPREADS),
        (1.0, 0.0, WRITES_LITTLE),
        (1.0, 2.0, SPREADS),
    ],
)
def test_kinds_by_hand(special: float, length: float, kind: str) -> None:
    (row,) = sink_table(sums(special, length), np.array([[[1.0]], [[np.nan]], [[4.0]]])).to_dict("records")
    assert row["kind"] == kind
    assert (row["special"], row["length"]) == pytest.approx((special, length))
    assert row["rank"] == pytest.approx(2.5), "of the texts in which the head gives anything"
    written = special * length / (special * length + 1 - special) if length or special < 1 else np.nan
    assert row["written"] == pytest.approx(written, nan_ok=True)
