"""Numbers that pages quote from a committed record are those of the record."""

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("label", "quoted"), [("obj", r"([\d.]+) % of objects"), ("nsubj:pass", r"([\d.]+) % of passive")]
)
def test_the_accuracy_of_the_nearest_verb_is_that_of_the_golden_record(label: str, quoted: str) -> None:
    golden = pd.read_csv(ROOT / "tests" / "golden" / "tag_rule_ewt_dev.csv", index_col="label")["accuracy"]
    section = (ROOT / "docs" / "concepts.md").read_text("utf-8").partition("### A rule of grammar may do as well")[2]
    found = re.search(quoted, section.partition("###")[0])
    assert found is not None
    assert float(found[1]) == pytest.approx(100 * golden[label])
