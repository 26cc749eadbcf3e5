"""Published pages of runs hold no sentence of a corpus from elsewhere, and name no unfinished folder."""

import tomllib
from pathlib import Path

import pytest

from probes.corpora.named import NAMED

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.parent for path in (ROOT / "reports" / "published").glob("*/config.toml"))


def corpora(config: dict[str, dict[str, dict[str, str]]]) -> set[str]:
    """Return the names of the corpora of a run, or of all runs of a grid."""
    parts = [config["corpus"]] if "corpus" in config else [*config["corpora"].values()]
    return {split["name"] for part in parts for split in part.values() if isinstance(split, dict) and "name" in split}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_come_from_our_own_sentences(page: Path) -> None:
    config = tomllib.loads((page / "config.toml").read_text(encoding="utf-8"))
    foreign = corpora(config) & {*NAMED}
    examples = (page / "report.md").read_text(encoding="utf-8").count("\n### Examples of ")
    if foreign:
        assert config["page"]["examples"] == 0
        assert examples == 0
    elif "page" in config:
        assert bool(examples) == bool(config["page"]["examples"])
