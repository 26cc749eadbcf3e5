"""Numbers in README and docs: each is that of a published record, and none is left out of the list."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from experiments.bench.records import BLOCK

ROOT = Path(__file__).parents[2]
LISTED: list[dict[str, Any]] = tomllib.loads((ROOT / "docs" / "numbers.toml").read_text(encoding="utf-8"))["number"]

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TIMED = "cost.md"
"What benchmarks printed; it stands there as they printed it."

NUMBER = re.compile(r"(?<![\w.-])[+−-]?\d[\d,]*(?:\.\d+)?(?!\w)")
UNITS = r"\s?(?:%|points?\b|times\b|seconds?\b|minutes?\b|nats\b|bits\b)"
MEASURED = re.compile(rf"(?<![\w.])[+−-]?\d[\d,]*(?:\.\d+)?(?={UNITS})|(?<![\w.])[+−-]?\d+\.\d+(?![\w.]|-\w)")
"A number with a unit, or with digits behind the point."

STATED = re.compile(r"95 % (?:interval|bound)s?|Python 3\.11|Apache-2\.0")
"What is no measurement, wherever it stands."

CODE = re.compile(r"```.*?```|^    [^\n]*$|`[^`]*`", re.DOTALL | re.MULTILINE)


def flat(text: str) -> str:
    """Return a text without line breaks."""
    return " ".join(text.split())


def numbers(text: str) -> list[str]:
    """Return the numbers of a text, with a plain minus and without commas."""
    return [one.replace("−", "-").replace(",", "").lstrip("+") for one in NUMBER.findall(text)]


def rounds_to(number: str, shown: str) -> bool:
    """Return whether a number of a record is what is shown, sign aside, at the digits that are shown."""
    digits = len(shown.partition(".")[2])
    return abs(abs(float(number)) - abs(float(shown))) <= 0.5 * 10**-digits + 1e-9


@pytest.mark.parametrize("one", LISTED, ids=lambda one: f"{one['page']}: {one['says'][:40]}")
def test_a_number_is_that_of_its_record(one: dict[str, Any]) -> None:
    assert one["says"] in flat((ROOT / one["page"]).read_text(encoding="utf-8"))
    if "why" in one:
        return
    record = flat((ROOT / one["record"]).read_text(encoding="utf-8"))
    assert [part for part in one["where"] if flat(part) not in record] == []
    found = [number for part in one["where"] for number in numbers(part)]
    missing = [shown for shown in numbers(one["says"]) if not any(rounds_to(number, shown) for number in found)]
    assert not missing, f"{missing} not in {one['where']} of {one['record']}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != TIMED], ids=lambda page: page.name)
def test_no_measured_number_is_without_a_source(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    written = BLOCK.sub("", written)  # from records, see test_records
    text = STATED.sub("", flat(CODE.sub("``", written)))
    for one in LISTED:
        if ROOT / one["page"] == page:
            text = text.replace(CODE.sub("``", one["says"]), "")
    assert MEASURED.findall(text) == []
