"""The benchmark of scoring: its contestants do the same work, and goals that are missed are told."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.bench import others, passes, scaling
from experiments.bench import scoring as bench_scoring
from mha import Model
from probes import Corpus, Document, Settings, get_probe, score_corpus
from probes.corpora.corpus import MemoryTexts
from probes.scoring.tally import Question, Sums, Tally

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def texts() -> Sequence[Document]:
    corpus = Corpus.generated(20, seed=0).sentences()
    return corpus.take(range(len(corpus)))


def pooled(tally: Tally) -> dict[Question, Sums]:
    """Return the sums of every question, its label as it is."""
    return dict(tally.pooled(lambda question: (question[2],)))


@pytest.mark.parametrize(
    ("tool", "package"),
    [
        (others.output_attentions, "transformers"),
        (others.transformer_lens, "transformer_lens"),
        (others.nnsight, "nnsight"),
    ],
)
def test_other_tools_get_the_same_scores(
    tool: Callable[[], others.ReadMaps], package: str, minilm: Model, texts: Sequence[Document]
) -> None:
    pytest.importorskip(package, reason=f"the package {package} is not installed")
    names = [*passes.PROBES]
    theirs = pooled(others.score_with(tool(), minilm, MemoryTexts(texts), names))
    probes = [get_probe(name) for name in names]
    ours = pooled(score_corpus(minilm, MemoryTexts(texts), probes, {}, Settings()).heads)
    assert theirs.keys() == ours.keys()
    for question, sums in ours.items():
        assert abs(theirs[question].hits.sum() - sums.hits.sum()) <= 0.002 * sums.n.sum() * 72, "but for near-ties"
        assert theirs[question].n.sum() == sums.n.sum()
        assert theirs[question].mass.sum() == pytest.approx(sums.mass.sum(), rel=1e-4)


@pytest.mark.slow
def test_the_restated_scripts_have_the_same_hits_head_by_head(minilm: Model, texts: Sequence[Document]) -> None:
    theirs = others.score_as_published(minilm, texts)
    ours = pooled(score_corpus(minilm, MemoryTexts(texts), [get_probe("dependency")], {}, Settings()).heads)
    assert {(variant, label) for _, variant, label in theirs} == {question[1:] for question in ours}
    apart = [
        abs(hits - ours["dependency", variant, label].hits.sum(0)[head]) / ours["dependency", variant, label].n.sum()
        for (head, variant, label), hits in theirs.items()
    ]
    assert len(apart) == 72 * len(ours)
    assert np.median(apart) == 0
    assert np.quantile(apart, 0.95) < 0.02, "small weights are 0 in half precision, and tie"


def test_a_treebank_is_repeated_with_ids_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [f"# newdoc id = d{n}\n# sent_id = s{n}\n1\tship\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n" for n in range(3)]
    (tmp_path / "small.conllu").write_text("".join(blocks), encoding="utf-8")
    monkeypatch.setattr(scaling, "corpus_path", lambda name: tmp_path / "small.conllu")
    texts = scaling._repeated(4_001, tmp_path / "repeated.conllu").sentences()
    ids = [text.id for text in texts.take(range(len(texts)))]
    assert len(ids) == len(set(ids)) == 9, "three times as many, as 4,001 are more than twice 2,000"


@pytest.mark.slow
def test_time_and_memory_of_sentences_are_those_of_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "COUNTS", (60,))
    found = scaling.measure_memory()
    assert [*found] == ["0", "60"]
    assert found["0"]["seconds"] == 0 < found["60"]["seconds"]
    assert 100 < found["0"]["peak MB"] < found["60"]["peak MB"]


@pytest.mark.slow
def test_a_whole_run_is_timed_beside_plain_passes_over_both_of_its_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    small = """
        name = "bench"
        model.name = "{model}"
        {corpus}
        probes.names = [{probes}]
        controls = {{ random = 2, permuted = 0, orders = 0 }}
    """
    read: list[int] = []
    monkeypatch.setattr(bench_scoring, "RUN", small)
    monkeypatch.setattr(bench_scoring, "sentences", lambda count: ("another corpus", ()))
    whole = bench_scoring.SPLITS[""]
    monkeypatch.setitem(bench_scoring.SPLITS, "", whole.replace("seed", "documents = 5, seed"))
    monkeypatch.setattr(bench_scoring, "plain_pass", lambda model: lambda texts: read.append(len(texts)))
    found = bench_scoring.time_run(passes.MINILM, 1)
    assert found["run"] > found["plain pass"]
    assert found["run"] > sum(found["stages"].values()) > found["stages"]["control: random weights"] > 0
    assert found["peak MB"] > 300
    splits = [len(Corpus.generated(5, seed=seed).sentences()) for seed in (1, 2)]
    assert read[1:] == splits, "after warming up"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[object, Path]]:
    """Return what runs the benchmark with the committed numbers in the place of measured ones: exit code and page."""
    page, numbers = tmp_path / "page.md", json.loads((ROOT / bench_scoring.RECORD).read_text("utf-8"))
    page.write_text("before\n<!-- scoring cost -->\n<!-- end -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(bench_scoring, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(bench_scoring, "PAGES", [page])
    monkeypatch.setattr(bench_scoring, "find_spec", lambda name: name)
    monkeypatch.setattr(bench_scoring, "version", lambda name: "1.0")

    def run(corpus: str, *arguments: str, **changed: Any) -> tuple[object, Path]:
        parts = {name: lambda texts, rounds, name=name: (numbers | changed).get(name) for name in bench_scoring.PARTS}
        monkeypatch.setattr(bench_scoring, "PARTS", parts)
        monkeypatch.setattr(bench_scoring, "sentences", lambda count: (corpus, [None] * count))
        monkeypatch.setattr(sys, "argv", ["bench", *arguments])
        threads = torch.get_num_threads()
        with pytest.raises(SystemExit) as ended:
            bench_scoring.main()
        torch.set_num_threads(threads)
        return int(ended.value.code or 0), page

    return run


@pytest.mark.parametrize(
    ("corpus", "arguments"),
    [(passes.EWT, ["--sentences", "9"]), (passes.EWT, ["--rounds", "2"]), ("the grammar", [])],
)
def test_less_than_the_record_has_is_not_kept(
    corpus: str, arguments: list[str], measured: Callable[..., tuple[object, Path]]
) -> None:
    _, page = measured(corpus, *arguments)
    assert "three probes" not in page.read_text(encoding="utf-8")
    assert not (page.parent / "record.json").exists()


def test_one_part_is_measured_anew_and_the_others_stay_unless_versions_differ(
    measured: Callable[..., tuple[object, Path]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measured(passes.EWT, "--only", "memory")[0] == 2, "no record whose other parts could stay"
    stages = {"control: permuted weights": 15.0, "control: random weights": 25.0, "load model": 0.1}
    measured(passes.EWT, **{"run of minilm": {"run": 60.0, "plain pass": 2.0, "peak MB": 900, "stages": stages}})
    memory = {count: {"seconds": 2.0, "peak MB": 300} for count in ("0", "1000", "2000", "10000")}
    memory["100000"] = {"seconds": 200.0, "peak MB": None}
    code, page = measured(passes.EWT, "--only", "memory", memory=memory)
    kept = json.loads((page.parent / "record.json").read_text(encoding="utf-8"))
    assert kept["memory"] == memory
    assert kept["commits of parts"] == {"memory": kept["commit"]}
    assert code == 1, "what was not measured reaches no goal"
    written = page.read_text(encoding="utf-8")
    assert "| 100,000 | 2.0 | not measured |" in written
    assert all(part in written for part in ("| controls | 20.0 |", "everything else, the page among it | 10.0 |"))
    assert "Measured in a later run: memory." in written
    monkeypatch.setattr(bench_scoring, "version", lambda name: "2.0")
    assert measured(passes.EWT, "--only", "memory")[0] == 2
    assert "differs in versions" in capsys.readouterr().err.splitlines()[-1]
    assert page.read_text(encoding="utf-8") == written
