"""Heads of two models matched."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from experiments.heads.match import COLUMNS, match_heads_of
from mha import export_encoder, load_encoder
from mha.encoder.encoder import Layer
from reports import Run


def test_the_card_of_a_head_is_printed(
    headscope: Callable[..., tuple[int, str, str]], scored: Callable[..., Run]
) -> None:
    code, out, _ = headscope("head", scored().folder, "2-1")
    assert code == 0
    assert "Head 2-1 of quick: layer 2, head 1, counted from 1" in out
    assert "tests, each of a label and direction; selected as the best head in" in " ".join(out.split())


def test_the_profile_of_runs_is_written_where_it_is_asked_for(
    scored: Callable[..., Run], headscope: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "heads.md"
    code, said, _ = headscope("profile", scored().folder, "--out", out)
    assert (code, said.strip()) == (0, f"page: {out}")
    assert "heads-heads.csv" in out.read_text("utf-8")
    every = pd.read_csv(out.with_name("heads-heads.csv"))
    assert {*every["head"]} == {*scored().scores["name"]}
    assert "class of most maps" in every
    assert sorted(path.name for path in out.parent.iterdir()) == ["heads-heads.csv", "heads.md"]


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
