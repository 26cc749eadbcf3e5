"""What is published: a screen a page, and small files."""

import re
import tomllib
from pathlib import Path

import pytest

PUBLISHED = Path(__file__).parents[2] / "reports" / "published"

EARLIER = {*re.findall(r"\]\((\S+)/report\.md\)", (PUBLISHED / "README.md").read_text("utf-8"))}
"Pages of earlier controls; they are to be made anew, and none is to be added."

LONG = EARLIER - {"findings", "targets"}
"Pages that were made before pages were short."

MEGABYTES = 15
"Of all that is published; 12 when no page is long."

PAGES = sorted(path.parent.name for path in PUBLISHED.glob("*/report.md"))


@pytest.mark.parametrize("page", [page for page in PAGES if page not in LONG])
def test_a_published_page_is_one_screen(page: str) -> None:
    text = (PUBLISHED / page / "report.md").read_text("utf-8")
    rows = re.findall(r"^\|(?!-|:)", text, re.MULTILINE)
    assert len(text.split()) <= 600
    assert len(re.findall(r"^\|[ :]*-", text, re.MULTILINE)) == 1, "one table"
    assert len(rows) - 1 <= 12
    assert 1 <= text.count("![") <= 2 or not (PUBLISHED / page / "figures").exists()
    assert all((PUBLISHED / page / name).is_file() for name in re.findall(r"[\w-]+\.csv\b", text)), "most are Parquet"


def test_no_page_is_long_but_those_that_were() -> None:
    assert {*PAGES} >= LONG
    assert all(len((PUBLISHED / page / "report.md").read_text("utf-8").split()) > 600 for page in LONG)


def test_a_page_is_named_as_of_earlier_controls_where_its_config_has_these() -> None:
    configs = {path.parent.name: tomllib.loads(path.read_text("utf-8")) for path in PUBLISHED.glob("*/config.toml")}
    today = {name: "sample_words" in one["controls"] for name, one in configs.items() if "controls" in one}
    assert {name for name, known in today.items() if not known} <= EARLIER <= {*PAGES}
    assert not EARLIER & {name for name, known in today.items() if known}


def test_all_that_is_published_is_small() -> None:
    files = [path for path in PUBLISHED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MEGABYTES * 1_000_000
    assert [path.name for path in PUBLISHED.glob("*/index.html") if path.stat().st_size > 1_000_000] == []
