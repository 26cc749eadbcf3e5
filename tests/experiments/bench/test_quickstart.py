"""The record of the quickstart's seconds, and the sentence that is made of it."""

from pathlib import Path

import pytest

from experiments.bench import quickstart
from experiments.bench.quickstart import median, sentence, time_runs
from experiments.record.provenance import processor_name

RECORD = {
    **{"processor": "AMD EPYC", "cores": 2, "bf16 instructions": False, "install seconds": 61.2},
    **{"run seconds": [44.6, 52.0, 43.1], "first page seconds": [21.0, 22.4, 30.0]},
}
SAID = (
    "On 2 cores of AMD EPYC without bf16 instructions the quickstart takes 45 seconds (median of 3 runs), 22 to the "
    "first page, installing before it in an empty environment 61; `make bench-quickstart` measures it."
)


def test_the_sentence_says_seconds_to_install_and_the_median_of_runs() -> None:
    assert median(RECORD) == 44.6
    assert sentence(RECORD) == SAID
    alone = {**RECORD, "install seconds": None, "run seconds": [52.0]}
    assert "takes 52 seconds (one run), 22 to the first page; `make" in sentence(alone)


def test_the_processor_is_named_where_the_system_names_it(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n\nmodel name\t: other\n")
    assert processor_name(tmp_path / "cpuinfo") == "Some CPU @ 2 GHz"
    assert processor_name(tmp_path / "nothing")


@pytest.mark.parametrize(("arguments", "kept"), [([], True), (["--rounds", "2"], False), (["--no-install"], False)])
def test_less_than_the_record_has_is_not_kept(
    arguments: list[str], kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(quickstart, "end", lambda *what, kept: ended.append(kept))
    monkeypatch.setattr(quickstart, "_timed_install", lambda python: 61.2)
    seconds = {"run seconds": [44.0], "first page seconds": [9.0]}
    monkeypatch.setattr(quickstart, "time_runs", lambda rounds: seconds)
    monkeypatch.setattr("sys.argv", ["bench", *arguments])
    quickstart.main()
    assert ended == [kept]


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
