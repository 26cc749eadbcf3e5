import numpy as np
import pytest
import torch

from experiments.config.train_config import TrainSection
from experiments.interventions.syntax_measures import (
    attention_on_arcs,
    best_head_attachment,
    held_out_arcs,
)
from mha import Encoder, record
from probes.scoring.tally import Sums

TRAIN = TrainSection.model_validate(
    {
        "data": {"name": "grammar", "documents": 60, "seed": 3},
        "tokenizer": {"size": 300},
        "encoder": {"layers": 2, "heads": 2, "model": 16},
        "length": 48,
        "rows": 2,
        "steps": 1,
        "held_out_share": 0.1,
    }
)


def sums(n: list[int], hits: list[list[int]]) -> Sums:
    return Sums.of_hits((0, 1)[: len(n)], np.array(n, float), np.array(hits, float))


def test_heads_are_selected_on_one_corpus_and_counted_on_the_other() -> None:
    det, obj = ("dependency", "dependent->head", "det"), ("dependency", "dependent->head", "obj")
    select = {det: sums([5, 5], [[5, 0], [4, 1]]), obj: sums([10], [[2, 3]])}
    report = {
        det: sums([20], [[12, 20]]),  # the other head would be better here
        obj: sums([4, 6], [[0, 2], [0, 3]]),
        ("dependency", "dependent->head", "all"): sums([30], [[0, 0]]),
        ("dependency", "dependent->head", "det:*"): sums([30], [[0, 0]]),
        ("dependency", "head->dependent", "det"): sums([30], [[30, 30]]),
        ("dependency", "dependent->head", "nsubj"): sums([30], [[30, 30]]),  # not in the selection
    }
    assert best_head_attachment(select, report) == (12 + 5) / 30
    assert np.isnan(best_head_attachment({}, report))


def test_arcs_of_held_out_batches_lie_in_the_texts_of_their_batch() -> None:
    found = held_out_arcs(TRAIN, 2)
    assert len(found) == 2
    for batch, arcs in found:
        rows, length = batch.pieces.shape
        row, query, key = np.unravel_index(arcs.cells.numpy(), (rows, length, length))
        blocks = batch.blocks.numpy()
        assert (blocks[row, query] == blocks[row, key]).all()
        assert (blocks[row, query] >= 0).all()
        assert (query != key).all()


def test_attention_on_arcs_is_the_mean_over_words_heads_layers_and_batches() -> None:
    from experiments.training.texts import open_material, open_vocabulary
    from experiments.training.train import encoder_config

    torch.manual_seed(0)
    encoder = Encoder(encoder_config(TRAIN, open_vocabulary(TRAIN, open_material(TRAIN))), lm_head=True)
    found, batches = [], held_out_arcs(TRAIN, 2)
    for batch, arcs in batches:
        with torch.no_grad(), record(encoder.eval()) as maps:
            encoder(batch.pieces, places=batch.places, blocks=batch.blocks)
        cells = torch.zeros(batch.pieces.numel() * batch.pieces.shape[1], dtype=torch.float64)
        cells.index_put_((arcs.cells,), arcs.share.double(), accumulate=True)
        mean = torch.stack(maps["pattern"]).double().mean((0, 2))  # of layers and heads: [batch, query, key]
        found.append(float(mean.flatten() @ cells))
    assert attention_on_arcs(encoder, batches) == pytest.approx(np.mean(found), rel=1e-5)
    assert 0 < np.mean(found) < 1
