"""README and docs say of the quickstart's seconds what its record says, or nothing."""

import json
from pathlib import Path

import pytest

from experiments.bench.quickstart import MARKED, PAGES, RECORD, sentence

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_says_what_the_record_says(page: Path) -> None:
    record = ROOT / RECORD
    said = f"{sentence(json.loads(record.read_text(encoding='utf-8')))}\n" if record.is_file() else ""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [found.group() for found in MARKED.finditer(text)] == [f"<!-- quickstart cost -->\n{said}<!-- end -->"]
