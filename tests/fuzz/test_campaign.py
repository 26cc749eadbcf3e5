from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.fuzz import campaign
from tests.fuzz.campaign import HANG, Campaign


def test_a_slow_reader_is_no_hanging_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The alarm was set anew every thousand executions: a reader with fewer in a minute was a fault."""
    clock, ends = [0.0], []
    monkeypatch.setattr(campaign, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(
        campaign.faulthandler, "dump_traceback_later", lambda after, exit: ends.append(clock[0] + after)
    )

    def fault(given: bytes) -> None:
        clock[0] += HANG / 10
        assert clock[0] < ends[-1], "the process was ended"

    found = Campaign(SimpleNamespace(fault=fault, slowest=0.0), 200, 1e9, tmp_path / "found.json")
    while found.one(b""):
        pass
    assert found.done == 200
    assert len(ends) < 50
