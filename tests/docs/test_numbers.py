"""Numbers in README and docs: each is that of a record, and none is left out of the list of docs/numbers.toml."""

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments.bench import ablate, gpu, quickstart, scoring, train
from experiments.bench.records import BLOCK, blocks_of
from experiments.compare import specialisation
from experiments.inputs.corpora import open_corpora
from experiments.run.config import load_config
from probes.corpora.named import NAMED
from probes.syntax.agreement import FORTH, NOUNS, SubjectVerbAgreement
from reports.compare.atlas import ATLAS_PAGE
from reports.scores.best_heads import best_head
from reports.scores.thresholds import RunThresholds
from reports.tables.grades import REDRAWS, STABLE
from reports.tables.marks import fewest_documents

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
    record, where, rows = ROOT / one["record"], one.get("where", ()), one.get("rows", ())
    text = flat((record / "report.md" if record.is_dir() else record).read_text(encoding="utf-8"))
    assert [part for part in where if flat(part) not in text] == []
    found = [number for part in where for number in numbers(part)]
    found += [number for row in rows for number in measured(record, **row)]
    missing = [shown for shown in numbers(one["says"]) if not any(rounds_to(number, shown) for number in found)]
    assert not missing, f"{missing} not in {where or rows} of {one['record']}, which has {found}"


def measured(folder: Path, table: str, columns: list[str], count: str = "", **of: Any) -> list[str]:
    """Return what a table of a published run has in these columns of the row of so and so, also in percent.

    With `count` it is how many values that column has in all such rows. What a lead is shown to be below is rounded up,
    as on the pages.
    """
    frame = pd.read_parquet(folder / f"{table}.parquet")
    for column, value in of.items():
        frame = frame[frame[column] == value]
    if count:
        return [str(frame[count].nunique())]
    assert len(frame) == 1, f"{len(frame)} rows of {folder.name}/{table}.parquet have {of}"
    found = [(column, float(frame[column].iloc[0])) for column in columns]
    excluded = [math.ceil(1000 * value) / 10 for column, value in found if column == "excluded"]
    return [*map(str, excluded), *(str(factor * value) for _, value in found for factor in (1, 100))]


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != TIMED], ids=lambda page: page.name)
def test_no_measured_number_is_without_a_source(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    written = BLOCK.sub("", written)
    text = STATED.sub("", flat(CODE.sub("``", written)))
    for one in LISTED:
        if ROOT / one["page"] == page:
            text = text.replace(CODE.sub("``", one["says"]), "")
    assert MEASURED.findall(text) == []


Blocks = Callable[[Any], dict[str, str]]
ATLAS = ATLAS_PAGE.read(ROOT / specialisation.RECORD)
BENCHES = [(made.RECORD, made.PAGES, made.blocks) for made in (ablate, gpu, quickstart, scoring, train)]


@pytest.mark.parametrize(("record", "pages", "blocks"), BENCHES, ids=[record.stem for record, *_ in BENCHES])
def test_a_page_says_what_the_record_says(record: Path, pages: tuple[Path, ...], blocks: Blocks) -> None:
    said = blocks(json.loads((ROOT / record).read_text(encoding="utf-8")))
    shown = dict[str, str]()
    for page in pages:
        found = blocks_of((ROOT / page).read_text(encoding="utf-8"))
        of_record = {name: block for name, block in found.items() if name in said}
        assert of_record
        assert of_record.items() <= said.items()
        shown |= of_record
    assert shown == said


def test_every_block_of_a_page_is_that_of_a_record() -> None:
    found = {
        name
        for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
        for name in blocks_of(page.read_text("utf-8"))
    }
    made = [blocks(json.loads((ROOT / record).read_text(encoding="utf-8"))) for record, _, blocks in BENCHES]
    assert found == {name for one in [*made, specialisation.blocks(ATLAS)] for name in one}


def test_how_many_documents_it_takes_is_what_a_run_says() -> None:
    page = flat((ROOT / "docs" / "models-and-texts.md").read_text("utf-8"))
    baselines, least = (
        numbers(page.partition(row)[2].partition("| |")[0].partition("none")[0])
        for row in ("baseline or control, % |", "or pairs, at the least |")
    )
    assert page.count("For 72 heads and one label these are:") == 1
    assert baselines == ["0", "50", "80", "90", "95"]
    for baseline, documents in zip(baselines, [*map(int, least), math.inf], strict=True):
        row = best_head({"label": "x", "p_adjusted": 1.0, "baseline_accuracy": int(baseline) / 100})
        for there in (documents - 1, documents) if documents < math.inf else (10**6,):
            row.clusters = row.effective_clusters = there
            assert (RunThresholds(correction=72).out_of_reach(row) != "") == (there != documents)
    assert f"takes {fewest_documents(2 * 72, 0.05)} rows at the least" in page


def test_the_rule_of_stable_grades_is_that_of_the_code() -> None:
    text = flat((ROOT / "docs" / "concepts.md").read_text("utf-8"))
    assert f"share of {REDRAWS} redraws of their models" in text
    assert f"**stable** where that is at least {100 * STABLE:g} %" in text


def test_the_paper_says_what_the_atlas_says() -> None:
    assert blocks_of((ROOT / specialisation.PAGE).read_text("utf-8")) == specialisation.blocks(ATLAS)


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_the_counts_of_attractors_are_those_of_the_config() -> None:
    probe, counts = SubjectVerbAgreement(), Counter[str]()
    config = load_config(ROOT / "experiments" / "configs" / "minilm-agreement.toml")
    for document in (document for corpus in open_corpora(config) for document in corpus.stream()):
        asked = probe.targets(document)[FORTH]
        nouns = [i for i, tag in enumerate(document.upos) if tag in NOUNS]
        before = [noun for noun in nouns if noun < asked.query[0]]
        marked = "attractor=any" in probe.pool(asked.label[0])
        counts.update(sentences=1, attractors=marked)
        counts.update(first=marked and nouns[0] in asked.gold[0])
        counts.update(nearest=marked and max(before or nouns) in asked.gold[0])
    text = " ".join((ROOT / "docs" / "measures.md").read_text("utf-8").split())
    assert f"({counts['attractors']:,} of {counts['sentences']:,} sentences in this config" in text
    assert (
        f"the first noun is correct in {counts['first'] / counts['attractors']:.0%} of them".replace("%", " %") in text
    )
    assert f"the nearest before the verb in {counts['nearest'] / counts['attractors']:.0%})".replace("%", " %") in text


PUBLISHED = sorted(path.parent for path in (ROOT / "reports" / "published").glob("*/config.toml"))


def corpora(config: dict[str, dict[str, dict[str, str]]]) -> set[str]:
    """Return the names of the corpora of a run, or of all runs of a grid."""
    parts = [config["corpus"]] if "corpus" in config else [*config["corpora"].values()]
    return {split["name"] for part in parts for split in part.values() if isinstance(split, dict) and "name" in split}


@pytest.mark.parametrize("page", PUBLISHED, ids=lambda page: page.name)
def test_no_sentences_of_named_corpora_are_published(page: Path) -> None:
    config = tomllib.loads((page / "config.toml").read_text(encoding="utf-8"))
    texts = [path for name in ("examples", "sentences", "attention") for path in page.glob(f"{name}.*")]
    assert not (corpora(config) & {*NAMED} and texts)
