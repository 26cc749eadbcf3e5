"""All measures of mixing on generated sentences: means over texts, what is left out, and what the tables hold."""

import numpy as np
import pytest
import torch

from mha import Model
from mha.reading.attention_blocks import attention_blocks
from probes import Corpus
from probes.evidence.question import Effort
from probes.mixing.measure import IDENTIFIED, Mixing, mixing_texts
from probes.mixing.texts import BLOCK, PASSES, RATIOS, mixing_ratios

EFFORT = Effort(replicates=200, flips=10)


@pytest.fixture(scope="module")
def texts(model: Model):
    """Return sentences of the grammar that the small model can read."""
    return mixing_texts(model, [Corpus.generated(4, 3).sentences()], 12)


def test_the_table_has_means_over_texts_with_intervals_over_documents(model: Model, texts) -> None:
    by_depth, by_head, by_text = Mixing.learned(model, texts).tables(texts, EFFORT)
    assert set(by_depth.measure) == {*RATIOS, *PASSES, IDENTIFIED}
    found = by_depth[(by_depth.measure == BLOCK) & (by_depth.depth == 2)].iloc[0]
    each = [
        float(mixing_ratios(attention_blocks(model, torch.from_numpy(text.ids).long())[1])[BLOCK].mean())
        for text in texts.pieces
    ]
    assert found.value == pytest.approx(np.mean(each), rel=1e-5)
    assert found.low < found.value < found.high
    assert found.n == len(each)
    assert by_depth[(by_depth.measure == IDENTIFIED) & (by_depth.depth == 0)].value.tolist() == pytest.approx([1.0])
    assert len(by_head) == 6 * by_head.sizes.nunique()
    assert by_head.groupby("name").n.sum().unique().tolist() == [len(each)]
    assert len(by_text) == 6 * len(each)
    names = by_text.groupby("text").document.first().map(dict(enumerate(sorted({*texts.names}))))
    assert names.tolist() == texts.names
    columns = ["pearson", "removed", "sep_effective"]
    means = by_text.groupby(["sizes", "name"])[columns].mean()
    np.testing.assert_allclose(means, by_head.set_index(["sizes", "name"]).loc[means.index, columns])
