"""Numbers of a plain evaluator on minilm and real text, which every later version has to meet."""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from mha import Model
from probes import get_probe
from probes.corpora.corpus import Corpus, corpus_path
from probes.evidence.results import Pooled, pooled_sums
from probes.scoring.baseline_texts import Shown
from probes.scoring.baselines import BASELINES, LEXICAL
from probes.scoring.score import CHUNK, Settings, learn_baselines, score_corpus
from probes.scoring.scorer import score_rows
from probes.targets import gather

GOLDEN = Path(__file__).parents[1] / "golden"
"See its README.md for how they were made."

pytestmark = pytest.mark.usefixtures("data_folder")


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["ewt", "gum"])
def test_every_golden_relation_is_met(corpus: str, minilm: Model) -> None:
    """The best head of each relation and variant on the whole dev file: equal n, accuracy within 0.002."""
    probes = [get_probe("dependency")]
    texts = Corpus.read(corpus_path(f"{corpus}-dev")).sentences()
    heads, _ = pooled_sums(score_corpus(minilm, texts, probes, {}, Settings()), probes)
    golden = pd.read_csv(GOLDEN / f"minilm_{corpus}_dev.csv")
    assert len(golden) > 100
    wrong = []
    for row in golden.itertuples():
        sums = heads["dependency", row.variant, row.label]
        ours = sums.hits.sum(0)[row.layer * minilm.heads + row.head] / sums.n.sum()
        if sums.n.sum() != row.n or abs(ours - row.accuracy) > 0.002:
            wrong.append((row.label, row.variant, row.best, row.n, row.accuracy, float(sums.n.sum()), float(ours)))
    assert wrong == []


@pytest.fixture(scope="module")
def antecedents(minilm: Model) -> dict[str, Pooled]:
    """Sums of the heads and of the baselines on GUM dev in windows of 100 words, candidates preceding mention heads."""
    probes = [get_probe("coreference")]
    texts = Corpus.read(corpus_path("gum-dev")).windows(100)
    baselines = {name: BASELINES[name]() for name in ("nearest mention", "same head word")}
    heads, others = pooled_sums(score_corpus(minilm, texts, probes, baselines, Settings()), probes)
    return {"heads": heads, **others}


def percent(sums: Pooled, label: str, head: int = 0) -> float:
    chosen = sums["coreference", "preceding mention heads", label]
    return 100 * float(chosen.hits.sum(0)[head] / chosen.n.sum())


@pytest.mark.slow
def test_head_3_5_finds_antecedents(antecedents: dict[str, Pooled], minilm: Model) -> None:
    head, heads = 2 * minilm.heads + 4, antecedents["heads"]
    assert heads["coreference", "preceding mention heads", "all"].n.sum() == 2638
    assert percent(heads, "all", head) == pytest.approx(66, abs=1)
    assert percent(heads, "pronoun", head) == pytest.approx(74, abs=1)
    best = max(range(minilm.layers * minilm.heads), key=lambda other: percent(heads, "all", other))
    assert best == head


@pytest.mark.slow
def test_what_mentions_alone_achieve(antecedents: dict[str, Pooled]) -> None:
    assert percent(antecedents["nearest mention"], "all") == pytest.approx(25.0, abs=1)
    expected = {"all": 64.9, "pronoun": 62.6, "proper": 73.8, "nominal": 66.8}
    found = {label: percent(antecedents["same head word"], label) for label in expected}
    assert found == pytest.approx(expected, abs=1)


@pytest.mark.slow
def test_what_word_forms_and_offsets_achieve() -> None:
    """Percent of EWT dev that the lexical table of 4,000 sentences of EWT train finds, dependent->head, by label."""
    probe, variant = get_probe("dependency"), "dependent->head"
    train = Corpus.read(corpus_path("ewt-train"), first=4000).sentences()
    table = learn_baselines(train, [probe], [])[LEXICAL]
    hits: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for documents in Corpus.read(corpus_path("ewt-dev")).sentences().chunks(CHUNK):
        shown = Shown(documents)
        items = gather(probe.name, variant, [probe.targets(one)[variant] for one in documents]).pooled(probe.pool)
        found = score_rows(table.rows(items, shown), items, shown.words)[:, 0, 0]
        for label, hit in zip(items.label.tolist(), found.tolist(), strict=True):
            hits[items.labels[label]] += hit
            asked[items.labels[label]] += 1
    expected = {
        "obj": 84.7,
        "det": 77.9,
        "case": 69.7,
        "nsubj": 67.1,
        "aux": 84.9,
        "cop": 67.9,
        "xcomp": 91.6,
        "amod": 82.4,
    }
    assert {label: 100 * hits[label] / asked[label] for label in expected} == pytest.approx(expected, abs=0.1)
