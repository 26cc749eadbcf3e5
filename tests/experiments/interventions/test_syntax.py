from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.config.train_config import TrainSection
from experiments.interventions import syntax
from experiments.interventions.syntax import (
    ACROSS,
    AGREEMENT,
    ATTACHMENT,
    ATTENTION,
    EARLY,
    LATE,
    LOSS,
    NONE,
    PUNISHED,
    REWARDED,
    SyntaxSection,
    attention_on_arcs,
    best_head_attachment,
    held_out_arcs,
)
from experiments.statements.claim import Work
from mha import Encoder, record
from probes.scoring.tally import Sums

GIVEN: dict[str, Any] = {
    "claim": "syntax",
    "train": {"data": {"name": "grammar"}, "steps": 20, "seeds": (0, 1, 2)},
    "early": 5,
    "late": 11,
    "select": {"name": "grammar", "documents": 6},
    "report": {"name": "grammar", "documents": 6, "seed": 1},
}
SECTION = SyntaxSection.model_validate(GIVEN)


def planted(agreement: Mapping[str, float], loss: Mapping[str, float], across: float) -> dict[str, Any]:
    """Return courses of three seeds whose ends are those of `agreement` and `loss`, and hardly differ by seed."""
    return {
        cell: {
            seed: {
                "steps": [0, 20],
                AGREEMENT: [0.5, agreement.get(cell, 0.8) + 0.001 * seed * (cell != NONE)],
                LOSS: [7.0, loss.get(cell, 2.0) + 0.001 * seed * (cell != NONE)],
                ACROSS: [0.5, (across if cell == PUNISHED else 0.9) + 0.001 * seed],
                ATTENTION: [0.1, {PUNISHED: 0.01, REWARDED: 0.6}.get(cell, 0.2) + 0.001 * seed * (cell != NONE)],
                ATTACHMENT: [0.2, 0.3],
            }
            for seed in range(3)
        }
        for cell in SECTION.cells
    }


def verdicts(found: Mapping[str, Any], work: Work, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    def train(section: SyntaxSection, work: Work, label: str, *, train: Mapping[str, Any]) -> dict[int, Path]:
        cell = label.replace("-", " ")
        assert train["arcs"] == section.cells[cell]
        return {seed: Path(cell) / str(seed) for seed in section.train.seeds}

    monkeypatch.setattr("experiments.statements.trained.trainings", train)
    monkeypatch.setattr(syntax, "held_out_arcs", lambda *_: [])
    monkeypatch.setattr(syntax, "follow", lambda _, folder: found[folder.parent.name][int(folder.name)])
    result = syntax.measure(SECTION, work)
    assert {row.condition for row in result.measures[0].rows} == set(SECTION.cells)
    assert [len(measure.rows) for measure in result.measures] == [36] * 5
    return [one.verdict for one in result.statements]


def test_all_hold_where_syntax_is_needed_and_a_short_lack_of_it_helps(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    agreement = {PUNISHED: 0.6, EARLY: 0.9, LATE: 0.7, REWARDED: 0.75}
    found = planted(agreement, {PUNISHED: 2.5, EARLY: 1.9, REWARDED: 2.2}, across=0.5)
    assert verdicts(found, work, monkeypatch) == ["holds"] * 10


def test_none_holds_where_it_is_the_other_way_round(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    agreement = {PUNISHED: 0.9, EARLY: 0.7, LATE: 0.85, REWARDED: 0.9}
    found = planted(agreement, {PUNISHED: 1.5, EARLY: 2.1, REWARDED: 1.8}, across=0.9)
    assert verdicts(found, work, monkeypatch) == ["holds", *["does not hold"] * 9]


@pytest.mark.slow
def test_small_trainings_are_followed_and_taken_up(work: Work) -> None:
    small = {
        "data": {"name": "grammar", "documents": 60, "seed": 3},
        "tokenizer": {"size": 300},
        "encoder": {"layers": 1, "heads": 2, "model": 16, "dropout": 0.0, "attention_dropout": 0.0},
        "length": 48, "rows": 8, "steps": 20, "warmup": 2, "held_out_share": 0.1, "seeds": (0, 1),
        "learning_rate": 0.01, "checkpoints": {"per_doubling": 0, "every": 10, "safety": 0},
    }  # fmt: skip
    section = SyntaxSection.model_validate({**GIVEN, "train": small, "pairs": 30, "batches": 1, "weight": 20.0})
    result = syntax.measure(section, work)
    ends = {
        measure.name: {(row.condition, row.repeat): row.value for row in measure.rows if row.at == 20}
        for measure in result.measures
    }
    on_arcs = ends["attention on arcs"]
    assert all(on_arcs[PUNISHED, seed] < on_arcs[NONE, seed] < on_arcs[REWARDED, seed] for seed in (0, 1))
    assert all(0 <= value <= 1 for name in ends if name != "evaluation loss" for value in ends[name].values())
    again = syntax.measure(section, replace(work, resume=True))
    assert again.recorded() == result.recorded()


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


def test_arcs_are_those_of_the_texts_of_a_batch_however_many_batches_are_added_up() -> None:
    ((batch, whole),) = held_out_arcs(TRAIN, 1)
    (half, first), (_, second) = held_out_arcs(TRAIN.model_copy(update={"accumulation": 2}), 2)
    assert len(batch.pieces) == 2 * len(half.pieces)
    both = torch.cat([first.cells, second.cells + half.pieces.numel() * half.pieces.shape[1]])
    assert torch.equal(both.sort().values, whole.cells.sort().values)
