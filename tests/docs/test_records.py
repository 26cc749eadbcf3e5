"""What pages say of a benchmark is made of its record."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.bench import ablate, quickstart, scoring, train
from experiments.bench.records import blocks_of

ROOT = Path(__file__).parents[2]
Blocks = Callable[[Any], dict[str, str]]
BENCHES = [(made.RECORD, made.PAGES, made.blocks) for made in (ablate, quickstart, scoring, train)]


@pytest.mark.parametrize(("record", "pages", "blocks"), BENCHES, ids=[record.stem for record, *_ in BENCHES])
def test_a_page_says_what_the_record_says(record: Path, pages: tuple[Path, ...], blocks: Blocks) -> None:
    said = blocks(json.loads((ROOT / record).read_text(encoding="utf-8")))
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert {name: block for name, block in blocks_of(text).items() if name in said} == said


def test_every_block_of_a_page_is_that_of_a_record() -> None:
    found = {
        name
        for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
        for name in blocks_of(page.read_text("utf-8"))
    }
    made = [blocks(json.loads((ROOT / record).read_text(encoding="utf-8"))) for record, _, blocks in BENCHES]
    assert found == {name for one in made for name in one}
