"""Nothing is left on the CPU by mistake: `on_second_device.py`, in a process where torch knows a second device."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from torch.utils import backend_registration

CASES = Path(__file__).with_name("on_second_device.py")


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"),
    reason="this torch takes no device that is written in Python",
)
def test_runs_on_a_second_device_have_the_numbers_of_the_cpu() -> None:
    told = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)]
    done = subprocess.run(told, env=os.environ | {"HEADSCOPE_SECOND_DEVICE": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
