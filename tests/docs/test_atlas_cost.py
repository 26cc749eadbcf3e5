"""docs/atlas.md says of the seconds of an atlas what its record says, or nothing."""

import json
from pathlib import Path

from experiments.bench.workers import MARKED, PAGE, RECORD, gain, sentence

ROOT = Path(__file__).parents[2]


def test_the_page_says_what_the_record_says() -> None:
    record = ROOT / RECORD
    said = f"{sentence(json.loads(record.read_text(encoding='utf-8')))}\n" if record.is_file() else ""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert [found.group() for found in MARKED.finditer(text)] == [f"<!-- atlas cost -->\n{said}<!-- end -->"]


def test_the_throughput_is_the_ratio_of_the_seconds() -> None:
    record = {"cores": 2, "processor": "X", "runs": 4, "seconds by workers": {"1": 190.0, "2": 100.0}}
    record["quickstart by workers"] = {"0": 90.0, "2": 80.0}
    assert gain(record) == 1.9
    assert "take 190 seconds with one worker and 100 with two (1.90 times the throughput; goal 1.7). The" in sentence(
        record
    )
    assert "takes 90 seconds in one process with a thread a core, and 80 where two workers" in sentence(record)
