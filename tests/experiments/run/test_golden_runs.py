"""Runs that need nothing from outside the repository give the numbers of tests/golden/grammar."""

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.hardness.golden import GOLDEN, KEY, MODELS, NUMBERS, here, scores

SUMS, ITEMS = 1e-4, 2
"How far attention may lie apart on another platform, and how many items a head may decide otherwise there."
ROUNDED = 1e-7
"How far float32 sums may lie apart on the same platform: their order is free."


@pytest.mark.parametrize("name", MODELS)
def test_a_run_gives_the_golden_numbers(name: str, tmp_path: Path) -> None:
    found, golden = scores(name, tmp_path), pd.read_csv(GOLDEN / f"{name}.csv")
    assert len(golden) > 100
    pd.testing.assert_frame_equal(found[[*KEY, "n"]], golden[[*KEY, "n"]], check_dtype=False)
    if json.loads((GOLDEN / "platform.json").read_text("utf-8")) == here():
        exact = [name for name in NUMBERS if name != "mass"]
        pd.testing.assert_frame_equal(found[exact], golden[exact], check_dtype=False, check_exact=True)
        assert (found["mass"] - golden["mass"]).abs().max() <= ROUNDED
    assert ((found["accuracy"] - golden["accuracy"]).abs() * golden["n"]).max() <= ITEMS + 1e-9
    assert (found["mass"] - golden["mass"]).abs().max() <= SUMS
