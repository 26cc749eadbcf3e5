"""Numbers that pages quote from a committed record are those of the record."""

import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from experiments.inputs.corpora import open_corpora
from experiments.run.config import load_config
from probes.syntax.agreement import FORTH, NOUNS, SubjectVerbAgreement

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
