import numpy as np
import pytest

from mha.models.masked_prediction import MaskedLM
from probes.records import frozen_ints
from probes.transfer.donors import Donors, draw_donors
from probes.transfer.margins import VERSIONS, Margins, measure_transfer
from probes.transfer.table import COLUMNS, transfer_table
from tests.probes.transfer.sentences import EFFORT, READ, asked, planted


def test_the_planted_head_that_is_read_transfers_and_no_other_does() -> None:
    behaviour = asked(planted())
    donors, _ = draw_donors(behaviour, 0)
    table = transfer_table(behaviour, donors, measure_transfer(behaviour, donors), EFFORT)
    assert tuple(table) == COLUMNS
    table = table.set_index(["layer", "head"])
    carrier = table.loc[READ]
    assert carrier["intact"] > 2
    assert carrier["same"] == pytest.approx(carrier["intact"], rel=0.05)
    assert carrier["other"] == pytest.approx(-carrier["intact"], rel=0.05)
    assert abs(carrier["mean"]) < 0.3
    assert carrier["transfer"] == pytest.approx(2 * carrier["intact"], rel=0.05)
    assert carrier["transfer_low"] > 0.9 * carrier["transfer"]
    assert carrier[["accuracy", "accuracy_same", "accuracy_other", "points"]].tolist() == [1, 1, 0, 1]
    others = table.drop(index=[READ])
    assert others["transfer"].abs().max() < 0.1, "by LayerNorm's scale alone"
    assert (others["points"] == 0).all()


def test_the_table_of_a_case_worked_out_by_hand(lm: MaskedLM) -> None:
    """Two heads, four recipients: the first head transfers 4 nats, the second the half of what the mean does too."""
    behaviour = asked(lm)
    donors = Donors(*(frozen_ints([0, 6, 12, 18]) for _ in range(3)), np.array([True, True, True, False]))
    same = [[3.0, 2, 1, 2], [1, -1, 1, 0]]
    other = [[-1.0, -2, -3, -2], [0, 0, 0, -2]]
    mean = [[1.0, 0, -1, 0], [2, 0, 2, 0]]
    margins = Margins(np.array([3.0, 3, 1, -1]), np.array([same, other, mean]), (1, 2))
    table = transfer_table(behaviour, donors, margins, EFFORT, alpha=0.2)
    first, second = table.to_dict("records")
    assert (first["name"], second["name"], first["n"], first["clusters"], first["matched"]) == (
        "1-1",
        "1-2",
        4,
        4,
        0.75,
    )
    assert (first["intact"], first["same"], first["other"], first["mean"]) == (1.5, 2, -2, 0)
    assert (first["transfer"], first["transfer_low"], first["transfer_high"]) == (4, 4, 4)
    assert (first["over_mean"], second["over_mean"]) == (2, -0.75)
    assert (second["transfer"], second["same"], second["other"]) == (0.75, 0.25, -0.5)
    assert second["transfer_low"] < 0.75 < second["transfer_high"]
    accuracies = [f"accuracy_{version}" for version in VERSIONS]
    assert [first[name] for name in ("accuracy", *accuracies, "points")] == [0.75, 1, 0, 0.5, 1]
    assert [second[name] for name in (*accuracies, "points")] == [0.625, 0.375, 0.75, 0.25]
    assert first["p"] == 2 / 16, "of the 16 choices of signs, both ways"
    assert [first["transfers"], second["transfers"]] == [True, False]
    assert not transfer_table(behaviour, donors, margins, EFFORT, alpha=0.05)["transfers"].any()
