"""The record of the quickstart's seconds, and the sentence that is made of it."""

from pathlib import Path

import pytest

from experiments.bench.quickstart import time_runs
from experiments.record.provenance import processor_name


def test_the_processor_is_named_where_the_system_names_it(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n\nmodel name\t: other\n")
    assert processor_name(tmp_path / "cpuinfo") == "Some CPU @ 2 GHz"
    assert processor_name(tmp_path / "nothing")


@pytest.mark.slow
def test_a_run_is_timed_with_its_stages() -> None:
    changes = (
        *("probes.names=['position']", "probes.trained=false", "scoring.metrics=false", "scoring.replicates=10"),
        *("corpus.select.documents=6", "corpus.report.documents=6", "page.examples=1"),
        "heads={texts=0, relations=0}",
        "controls={random=1, permuted=0, words=false, arcs=false}",
    )
    found = time_runs(1, changes)
    assert found["threads"] >= 1
    assert "control: random weights" in found["stages of the last"]
    assert sum(found["stages of the last"].values()) < found["run seconds"][0]
    assert found["CPU seconds"][0] > 0
    assert 0 < found["first page seconds"][0] < found["run seconds"][0]
