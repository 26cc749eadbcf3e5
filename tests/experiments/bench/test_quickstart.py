"""The record of the quickstart's seconds, and the sentence that is made of it."""

from pathlib import Path

import pytest

from experiments.bench.quickstart import blocks, goals, time_runs
from experiments.record.provenance import processor_name
from probes import Corpus
from reports.statements.statement import FAILS, HOLDS, OPEN


def test_the_processor_is_named_where_the_system_names_it(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n\nmodel name\t: other\n")
    assert processor_name(tmp_path / "cpuinfo") == "Some CPU @ 2 GHz"
    assert processor_name(tmp_path / "nothing")


RECORD = {
    **{"processor": "CPU", "cores": 2, "bf16 instructions": True, "install seconds": None},
    **{"run seconds": [28.0, 40.0, 27.0], "first page seconds": [9.0, 8.5, 8.0]},
}


def test_the_ratio_is_that_of_medians_and_is_not_measured_without_plain_passes() -> None:
    found = goals(RECORD | {"plain pass seconds": [2.8, 2.5, 4.0]})
    assert [one.estimate.value for one in found] == [28, 8.5, pytest.approx(10)]
    assert [one.verdict for one in goals(RECORD | {"plain pass seconds": [3.0]})] == [HOLDS, FAILS, HOLDS]
    for without in (RECORD, RECORD | {"plain pass seconds": []}):
        assert goals(without)[2].verdict == OPEN
        last = blocks(without)["quickstart goals"].splitlines()[-1]
        assert (
            last
            == "| the quickstart, over the plain pass over 1,000 sentences of EWT dev | not measured | below 10 |  |"
        )


@pytest.mark.slow
def test_a_run_is_timed_with_its_stages() -> None:
    changes = (
        *("probes.names=['position']", "probes.trained=false", "scoring.replicates=10"),
        *("corpus.select.documents=6", "corpus.report.documents=6", "page.examples=1"),
        "heads={texts=0, relations=0}",
        "controls={random=2, permuted=0, orders=0}",
    )
    corpus = Corpus.generated(3, seed=0).sentences()
    found = time_runs(1, changes, corpus.take(range(len(corpus))))
    assert 0 < found["plain pass seconds"][0] < found["run seconds"][0]
    assert found["threads"] >= 1
    assert "control: random weights" in found["stages of the last"]
    assert sum(found["stages of the last"].values()) < found["run seconds"][0]
    assert found["CPU seconds"][0] > 0
    assert 0 < found["first page seconds"][0] < found["run seconds"][0]
