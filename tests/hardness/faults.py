"""Do the tests of what may happen from outside, fault by fault: `make faults`."""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.hardness.record import RECORD, here, write

FAULTS = Path(__file__).with_name("faults.toml")
ROOT = Path(__file__).parents[2]
PART = "faults"


class Outcomes:
    """Counts how tests end."""

    def __init__(self) -> None:
        self.counts = {"passed": 0, "skipped": 0, "failed": 0}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test when it was called, or when it did not come so far."""
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1


def faults() -> list[dict[str, Any]]:
    """Return name, what is kept and the tests of every fault."""
    return list(tomllib.loads(FAULTS.read_text("utf-8"))["fault"])


def tried(fault: dict[str, Any]) -> dict[str, Any]:
    """Do the tests of a fault; return what is kept and how the tests ended."""
    outcomes = Outcomes()
    tests = [str(ROOT / test) for test in fault["tests"]]
    code = pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[outcomes])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"{fault['name']}: the tests do not run, exit code {code}")
    return {"kept": fault["kept"], **outcomes.counts}


def main() -> None:
    """Try every fault, and put what came of it into the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--record", type=Path, default=RECORD, help="where it is written down")
    options = parser.parse_args()
    found = {fault["name"]: tried(fault) for fault in faults()}
    write(PART, {"command": "make faults", "made_on": here(), "faults": found}, options.record)
    sys.exit(any(one["failed"] for one in found.values()))


if __name__ == "__main__":
    main()
