"""A place for interventions to work in."""

from pathlib import Path

import pytest

from experiments.claims.claim import Work
from experiments.record.progress import silent
from experiments.sandbox.parts import Parts


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """Return the work of a claim that begins anew."""
    out = tmp_path / "claims"
    return Work(out, "claim", Parts.open(out / "claim", {}, resume=False), silent, resume=False)
