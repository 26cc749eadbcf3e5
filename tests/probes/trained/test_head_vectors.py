from collections.abc import Callable

import numpy as np
import torch

from mha import Model, collate, record
from probes import Document, Settings
from probes.corpora.corpus import MemoryTexts
from probes.scoring.aligned import Aligned
from probes.trained.head_vectors import HeadVectors, embedding_of

Make = Callable[..., list[Document]]


def sides(model: Model, random_documents: Make) -> tuple[Aligned, np.ndarray]:
    aligned = Aligned.of(model, MemoryTexts(random_documents(12)))
    random = np.random.default_rng(0)
    numbers = random.integers(len(aligned.kept), size=30)
    return aligned, np.array([(number, random.integers(aligned.pieces[number].words)) for number in numbers])


def test_outputs_are_the_means_over_pieces_of_each_text_read_alone(model: Model, random_documents: Make) -> None:
    aligned, cells = sides(model, random_documents)
    found = HeadVectors.of(model, aligned, cells, Settings(batch_pieces=64))
    rows = found.rows(cells)
    assert found.outputs.shape[1:] == (6, 8)
    for row, (number, word) in zip(rows, cells, strict=True):
        pieces = aligned.pieces[number]
        batch = collate([pieces])
        with torch.inference_mode(), record(model.module, ["head_output"]) as seen:
            model.run(batch.ids, batch.mask)
        places = np.flatnonzero(pieces.word == word)
        alone = torch.cat(seen["head_output"], 1)[0][:, places].mean(1)
        np.testing.assert_allclose(found.outputs[row], alone, atol=1e-5)
        embedded = embedding_of(model)[pieces.ids[places]].mean(0)
        np.testing.assert_allclose(found.embeddings[row], embedded, atol=1e-6)


def test_cells_that_repeat_are_read_once_and_workers_change_nothing(model: Model, random_documents: Make) -> None:
    aligned, cells = sides(model, random_documents)
    one = HeadVectors.of(model, aligned, cells, Settings(64, workers=1))
    two = HeadVectors.of(model, aligned, np.concatenate([cells[::-1], cells]), Settings(64, workers=3))
    assert len(one.cells) == len(np.unique(cells, axis=0))
    np.testing.assert_array_equal(one.outputs, two.outputs)
    np.testing.assert_array_equal(one.cells[one.rows(cells)], cells)
    pairs = cells.reshape(-1, 2, 2)
    np.testing.assert_array_equal(one.rows(pairs), one.rows(cells).reshape(-1, 2))
