import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_twenty_five_kills_lose_no_checkpoint_and_change_no_loss(tmp_path: Path) -> None:
    command = [sys.executable, "tests/kill_training.py", str(tmp_path), "25"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == 25
    assert len(set(found["steps reached"])) > 5, "the kills did not hit different moments"
    assert found["losses"] > 40 + 8
    assert found["lost"] == found["left over"] == []
    assert found["same losses"]
    assert found["same weights"]
    assert found["same checkpoints"]
