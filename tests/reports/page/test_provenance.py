"""The page says what run.json says of the run, and nothing of what is not known."""

from dataclasses import replace
from pathlib import Path

import pytest

from reports import Run
from reports.page.page_model import gather
from reports.page.provenance import provenance
from reports.run.record import CorpusFacts, Lost, ReadTexts, RunRecord
from reports.scores.glossary import MAPS

LOST = (Lost("report", "sentence", "too long", 1),)


@pytest.fixture(scope="module")
def run(written_run: Path) -> Run:
    return Run.open(written_run)


def test_what_is_known_of_the_run_is_told_and_what_is_empty_is_not(run: Run):
    record = RunRecord(
        started="2026-11-02T08:09:10Z",
        command="headscope run x.toml",
        corpora={"select": CorpusFacts("a"), "report": CorpusFacts("b", sentences=1234)},
        scored={"report": {"sentence": ReadTexts(3, 2, 4, 0), "window": ReadTexts(4, 2, 4, 0)}},
        dropped=LOST,
        versions={"torch": "2", "numpy": "3.0"},
        wall_seconds=61,
        resumed=("ablation", "random weights (sentences)"),
        workers="2 local workers, 1 thread each",
        seed=0,
        device="",
    )
    told = provenance(replace(run, record=record), "norms")
    assert told.corpora == {"select": "a", "report": "b"}
    assert told.scored == (("report", "sentence", ReadTexts(3, 2, 4, 0)), ("report", "window", ReadTexts(4, 2, 4, 0)))
    assert told.dropped == LOST
    assert told.command == "headscope run x.toml"
    assert told.versions == (("numpy", "3.0"), ("torch", "2"))
    facts = dict(told.facts)
    assert facts["corpus (report)"].startswith("b: 1,234 sentences")
    assert (facts["seed"], facts["maps"]) == ("0", MAPS["norms"])
    assert facts["read by workers"] == "2 local workers, 1 thread each"
    assert facts["resumed"] == "parts taken: 2; times are of the last attempt"
    assert {"device", "git commit", "peak memory"}.isdisjoint(facts)


def test_a_run_that_wrote_little_has_empty_parts(run: Run):
    told = provenance(replace(run, record=RunRecord()), "unheard of")
    assert (told.corpora, told.dropped, told.scored, told.versions, told.command) == ({}, (), (), (), "")
    assert dict(told.facts)["maps"] == "unheard of"
    assert {"resumed", "read by workers"}.isdisjoint(dict(told.facts))


@pytest.mark.slow
def test_a_report_gathers_the_provenance_of_its_run_and_its_maps(run: Run, written_run: Path):
    contents = gather(written_run)
    assert contents.provenance == provenance(run, contents.maps)
    assert contents.about.endswith(f" on {contents.provenance.corpora['report']}")
