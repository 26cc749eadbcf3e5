"""Heads of two models matched."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from experiments.heads.match import COLUMNS, match_heads_of
from mha import export_encoder, load_encoder
from mha.encoder.encoder import Layer
from reports import Run


@pytest.fixture(scope="module")
def swapped(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tiny model with the heads of its first layer in another order."""
    folder = tmp_path_factory.mktemp("models") / "swapped"
    encoder = load_encoder(tiny)
    layer = encoder.layers[0]
    assert isinstance(layer, Layer)
    with torch.no_grad():
        attention = layer.attention
        for part in (
            attention.W_Q,
            attention.W_K,
            attention.W_V,
            attention.W_O,
            *(attention.bias(i) for i in range(3)),
        ):
            part.copy_(part[[1, 0]].clone())
    export_encoder(encoder, folder)
    (folder / "tokenizer.json").write_bytes((tiny / "tokenizer.json").read_bytes())
    return folder


def test_heads_that_changed_places_are_matched_to_where_they_are(tiny: Path, swapped: Path) -> None:
    for within in (False, True):
        found = match_heads_of(str(tiny), str(swapped), sentences=15, within_layers=within)
        assert tuple(found.table.columns) == COLUMNS
        assert found.table.partner.tolist() == ["1-2", "1-1", "2-1", "2-2"]
        assert (found.drawn, found.sentences) == (15, 8), "the others are too long for the tiny model"
        assert found.distance < 1e-6 < 0.001 < min(found.null, found.chance)
        assert found.same_role != found.same_role, "models have no roles"


@pytest.mark.slow
def test_runs_are_matched_with_the_roles_of_their_heads(
    scored: Callable[..., Run], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(scored().folder)
    monkeypatch.setattr("reports.heads.card_parts.CardSource.main_roles", {"1-1": "det", "2-1": "obj"})
    found = match_heads_of(folder, folder, sentences=8)
    assert found.table.partner.tolist() == found.table.name.tolist()
    assert found.table.role.tolist() == found.table.partner_role.tolist() == ["det", "", "obj", ""]
    assert (found.same_role, found.same_role_chance) == (1, 0.25)
    assert match_heads_of(folder, str(tiny), sentences=8).same_role != found.same_role, "a model has no roles"
