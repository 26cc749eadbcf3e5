import hashlib
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.inputs.corpora import open_corpora
from experiments.run.config import load_config
from experiments.run.run import RunError, run
from probes import Corpus, CorpusError
from probes.evidence.results import Split, score_table
from probes.words.rare import LIST
from reports import Run
from reports.run.lock import LockedError, locked
from reports.run.record import ListFacts
from reports.tables.scores import SCORES

ALL_PROBES = 'probes.names=["position", "dependency", "agreement", "coreference"]'
POSITION = 'probes.names=["position"]'
KEY = ["probe", "label", "variant", "name", "split"]


def same_scores(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one, other, check_exact=True)


def numbers(found: Run, *columns: str) -> pd.DataFrame:
    """Return columns of a run's scores by row key."""
    return found.scores.set_index(KEY)[list(columns)]


@pytest.fixture
def corpus_file(write_corpus: Callable[..., Path], sentences: Sequence[str], tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "sixty.conllu", sentences)


def by_path(path: Path, split: str = "select", **keys: object) -> str:
    """Return the change that takes a split from a file."""
    return f"corpus.{split}={{path='{path}'{''.join(f', {key}={value}' for key, value in keys.items())}}}"


def both_from(path: Path) -> tuple[str, str]:
    """Return the changes that take both splits from copies of a file."""
    copy = path.with_name(f"report-{path.name}")
    copy.write_bytes(path.read_bytes())
    return by_path(path), by_path(copy, "report")


# --- the folder


def test_a_finished_run_folder_is_complete(whole: Path) -> None:
    files = {path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file()}
    assert files == {
        *("config.toml", "run.json", "scores.parquet", "scores.csv", "examples.parquet", "log.jsonl"),
        *("report/index.html", "report/report.md", "shapes.parquet", "shapes.csv", "counts.parquet"),
        *("attention.parquet", "gold.parquet", "sentences.parquet", "heads.parquet", "heads.csv"),
        *("sinks.parquet", "sinks.csv"),
    }
    assert list(whole.parent.iterdir()) == [whole], "nothing temporary is left beside it"


def test_the_record_says_what_was_run_and_how(whole: Path, tiny: Path) -> None:
    record = json.loads((whole / "run.json").read_text(encoding="utf-8"))
    assert {"name", "headscope", "started", "wall_seconds", "peak_memory_mb", "versions", "python", "platform"} <= set(
        record
    )
    assert {
        "git_commit",
        "seed",
        "device",
        "threads",
        "model",
        "corpora",
        "scored",
        "dropped",
        "stages",
        "notes",
    } <= set(record)
    assert record["name"] == "whole"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["started"])
    model = record["model"]
    assert (model["name"], model["source"], model["architecture"]) == (str(tiny), "pretrained", "bert")
    assert (model["layers"], model["heads"], model["max_pieces"], len(model["sha256"])) == (2, 2, 48, 64)
    assert model["masked_lm"] is False
    for split in ("select", "report"):
        corpus, scored = record["corpora"][split], record["scored"][split]
        assert corpus["documents"] == 9
        assert corpus["sentences"] > 30
        assert corpus["words"] >= scored["sentence"]["words"] > 0
        assert len(corpus["fingerprint"]) == 64
        assert set(scored) == {"sentence", "window"}
        assert all(part["pieces"] > part["words"] > part["windows"] > 0 for part in scored.values())
    assert record["corpora"]["select"]["fingerprint"] != record["corpora"]["report"]["fingerprint"]
    assert {"load model", "score select", "trained probes"} <= set(record["stages"])
    assert [name for name in record["stages"] if name.startswith("control: ")] == [
        "control: permuted weights",
        "control: random weights",
        "control: random weights 2",
        "control: permuted weights 2",
        "control: permuted weights 3",
        "control: shuffled word order",
    ]


def test_the_log_has_a_json_object_a_line(whole: Path) -> None:
    lines = [json.loads(line) for line in (whole / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["what"] for line in lines][:2] == ["open corpora", "load model"]
    assert all({"time", "what"} < set(line) for line in lines)
    (chosen,) = (line["seeds"] for line in lines if line["what"] == "permutations selected")
    assert len(set(chosen)) == 3
    assert set(chosen) <= set(range(20))
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)


def test_scores_have_one_row_a_head_question_and_split(whole: Path) -> None:
    scores = Run.open(whole).scores
    assert list(scores.columns) == list(SCORES.names)
    assert set(scores.probe) == {"position", "dependency", "agreement", "coreference", "classifier"}
    assert (scores.groupby(["probe", "label", "variant", "split"]).size() == 4).all()
    assert (scores.maps == "weights").all()
    assert scores.step.isna().all()
    assert dict(zip(scores.split, scores.corpus, strict=True)) == {"select": "grammar-1", "report": "grammar-2"}


def test_one_head_a_question_is_selected_and_it_is_the_best_of_the_selection_split(whole: Path) -> None:
    scores = Run.open(whole).scores
    asked = scores[(scores.split == "select") & (scores.n > 0)]
    for _, rows in asked.groupby(["probe", "label", "variant"]):
        assert rows.selected.sum() == 1
        assert rows.accuracy[rows.selected].item() == rows.accuracy.max()
    flags = scores.pivot(index=KEY[:-1], columns="split", values="selected")
    pd.testing.assert_series_equal(flags["select"], flags["report"], check_names=False)


@pytest.mark.slow
def test_the_written_config_gives_the_same_scores_again(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    monkeypatch.chdir(tmp_path)
    again = run(load_config(whole / "config.toml"), tmp_path / "again")
    assert (again / "config.toml").read_text() == (whole / "config.toml").read_text()
    same_scores(Run.open(again).scores, Run.open(whole).scores)
    pd.testing.assert_frame_equal(Run.open(again).examples, Run.open(whole).examples, check_exact=True)


@pytest.mark.slow
def test_progress_of_every_part_ends_where_it_said(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    steps: dict[str, list[tuple[int, int]]] = {}
    changes = ["probes.trained=true", "probes.trained_pairs=20", "controls.random=true", "scoring.batch_pieces=200"]
    config = load_config(base, changes)
    run(config, tmp_path, progress=lambda what, done, of: steps.setdefault(what, []).append((done, of)))
    assert {"select (sentences)", "report, random weights (sentences)", "trained probes (sentences)"} <= set(steps)
    for seen in steps.values():
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert seen[-1][0] == seen[-1][1], "also where texts were dropped"


# --- the same numbers


@pytest.mark.slow
def test_the_order_of_the_sentences_changes_no_score(
    scored: Callable[..., Run], write_corpus: Callable[..., Path], sentences: Sequence[str], tmp_path: Path
) -> None:
    shuffled = random.Random(3).sample(sentences, len(sentences))
    found = []
    for number, blocks in enumerate((sentences, shuffled)):
        path = write_corpus(tmp_path / str(number) / "sixty.conllu", blocks)
        changes = (ALL_PROBES, "probes.trained=true", "probes.trained_pairs=20", "controls.random=true")
        found.append(scored(*changes, "corpus.report.documents=3", by_path(path)))
    same_scores(*(one.scores for one in found))


@pytest.mark.slow
def test_the_batch_size_moves_no_mass_and_flips_near_ties_only(
    scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    from probes.scoring import aligned

    budgets: list[int] = []
    plan = aligned.plan
    monkeypatch.setattr(
        aligned, "plan", lambda pieces, keys, budget, **how: budgets.append(budget) or plan(pieces, keys, budget, **how)
    )
    one, other = scored(), scored("scoring.batch_pieces=150")
    assert budgets[-1] == 150
    assert (numbers(one, "mass") - numbers(other, "mass")).abs().max().item() <= 1e-6
    rows = one.scores.set_index(KEY)
    flipped = (rows.accuracy - other.scores.set_index(KEY).accuracy).abs() * rows.n
    assert (flipped.fillna(0) <= rows.near_ties + 1e-9).all()


# --- what each option does


@pytest.mark.slow
def test_the_first_piece_can_stand_for_the_word(scored: Callable[..., Run]) -> None:
    mean, first = scored(), scored("scoring.reduce='first'")
    same_scores(numbers(mean, "n"), numbers(first, "n"))
    assert (numbers(mean, "mass") - numbers(first, "mass")).abs().max().item() > 1e-3


@pytest.mark.slow
def test_window_words_cuts_documents_and_counts_what_the_borders_take(scored: Callable[..., Run]) -> None:
    coreference = ('probes.names=["coreference"]', "corpus.select.documents=9", "corpus.report.documents=9")
    short, long = (scored(*coreference, f"scoring.window_words={words}") for words in (6, 12))
    windows = [found.record.scored["select"]["window"].windows for found in (short, long)]
    assert windows[0] > windows[1]
    for reason in (
        "mention across a border of",
        "mention with all antecedents outside its window of",
        "pronoun without two candidates in its window of",
    ):
        lost = [
            sum(part.count for part in found.record.dropped if part.reason.startswith(reason))
            for found in (short, long)
        ]
        assert lost[0] > lost[1] > 0


@pytest.mark.slow
def test_replicates_change_stabilities_only(scored: Callable[..., Run]) -> None:
    few, many = scored(), scored("scoring.replicates=300")
    same = ("accuracy", "ci_low", "mass", "margin", "margin_low")
    same_scores(numbers(few, *same), numbers(many, *same))
    assert not numbers(few, "stability").equals(numbers(many, "stability"))


@pytest.mark.slow
def test_the_seed_decides_stabilities_and_fresh_weights_and_nothing_else(scored: Callable[..., Run]) -> None:
    zero, one = scored(), scored("seed=1")
    same_scores(numbers(zero, "accuracy", "margin"), numbers(one, "accuracy", "margin"))
    assert not numbers(zero, "stability").equals(numbers(one, "stability"))
    assert one.record.seed == 1
    fresh = [scored(POSITION, 'model.source="random"', f"seed={seed}") for seed in (0, 1)]
    assert not numbers(fresh[0], "mass").equals(numbers(fresh[1], "mass"))


@pytest.mark.slow
@pytest.mark.parametrize("source", ["random", "permuted"])
def test_a_control_can_be_the_model_of_a_run(scored: Callable[..., Run], source: str, tiny: Path) -> None:
    loaded, control = scored(POSITION), scored(POSITION, f"model.source='{source}'")
    assert set(control.scores.model) == {f"{tiny} ({source})"}
    assert control.record.model.source == source
    assert control.record.model.sha256 == loaded.record.model.sha256
    assert not numbers(loaded, "mass").equals(numbers(control, "mass"))


@pytest.mark.parametrize("source", ["random", pytest.param("permuted", marks=pytest.mark.slow)])
def test_control_weights_take_part_as_a_baseline(scored: Callable[..., Run], source: str) -> None:
    without, beside = scored(), scored(f"controls.{source}=true")
    same_scores(numbers(without, "accuracy", "mass"), numbers(beside, "accuracy", "mass"))
    used = beside.scores.baseline == f"{source} weights"
    assert used.any()
    assert not (without.scores.baseline == f"{source} weights").any()
    before, after = (
        numbers(found, "baseline_accuracy").xs("select", level="split").dropna() for found in (without, beside)
    )
    gain = after.baseline_accuracy - before.baseline_accuracy.reindex(after.index, fill_value=0)
    assert (gain >= 0).all(), "the strongest on the selection split is told"
    assert (gain > 0).any()


OFF = "controls={random=0, permuted=0, words=false, arcs=false}"
CONTROLS = {
    "controls.random=2": {"random weights", "random weights 2"},
    "controls.permuted=2": {"permuted weights", "permuted weights 2"},
    "controls.words=true": {"shuffled word order"},
    "controls.arcs=true": {"control arcs"},
    OFF: set(),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CONTROLS)
def test_each_control_can_be_switched_on_alone(
    change: str, scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Split] = []

    def table(*splits: Split, **options: object) -> pd.DataFrame:
        seen.extend(splits)
        return score_table(*splits, **options)

    monkeypatch.setattr("experiments.run.scope.score_table", table)
    found = scored(change, "seed=3")
    names = {f"control: {name}" for name in CONTROLS[change] if name != "control arcs"}  # scored in the same pass
    assert {name for name in found.record.stages if name.startswith("control: ")} == names
    assert len(seen) == 2
    for split in seen:
        always = {"offset", "previous word", "uniform", "lexical table", "nearest word of a tag set"}
        assert set(split.baselines) - always == CONTROLS[change]
        for name in CONTROLS[change]:
            asked = {question for question in split.heads if question[2] != "broad"}
            if name in ("shuffled word order", "control arcs"):
                asked = {question for question in asked if question[0] != "position"}
            assert set(split.baselines[name]) == asked
            for question, sums in split.baselines[name].items():
                assert sums.hits.shape == (len(split.heads[question].n), 1)
                assert sums.n.tolist() == split.heads[question].n.tolist()
                assert sums.clusters == split.heads[question].clusters


@pytest.mark.slow
def test_controls_may_read_a_few_documents_of_the_selection_split(scored: Callable[..., Run]) -> None:
    controls = "controls.random=2", "controls.words=true"
    whole, few = scored(*controls), scored(*controls, "controls.select_documents=2")
    same_scores(numbers(whole, "accuracy", "mass"), numbers(few, "accuracy", "mass"))
    assert not set(few.scores[few.scores.split == "select"].baseline) & {"random weights", "shuffled word order"}
    report = [found.scores[found.scores.split == "report"].set_index(KEY) for found in (whole, few)]
    assert (report[1].margin <= report[0].margin + 1e-12).sum() == report[0].margin.notna().sum(), "no lead is larger"
    assert (report[1].margin < report[0].margin - 1e-12).any()
    (note,) = [note for note in few.record.notes if "documents of the selection split" in note]
    assert note.startswith(
        "sentences: models of controls read all of the report split and 2 documents of the selection"
    )
    assert not any("controls" in note for note in whole.record.notes)
    notes = scored("controls.select_documents=2").record.notes
    assert not any("controls" in note for note in notes), "there is no control to note anything of"


def test_controls_are_on_by_default_and_may_be_the_strongest_baseline(whole: Path) -> None:
    scores = Run.open(whole).scores
    assert {"control arcs", "shuffled word order"} & set(scores.baseline)
    assert {name for name in scores.baseline if name.endswith(("weights", "weights 2"))}
    position = scores[scores.probe == "position"]
    assert not set(position.baseline) & {"control arcs", "shuffled word order", "previous word", "offset"}


def test_broad_heads_have_no_margin(whole: Path) -> None:
    broad = Run.open(whole).scores.query("label == 'broad' and n > 0")
    assert len(broad) > 0
    assert set(broad.baseline) == {""}
    assert broad[["baseline_accuracy", "margin", "margin_low", "margin_high"]].isna().all(axis=None)
    assert broad.accuracy.notna().all()


def test_the_corpora_of_the_grammar_follow_documents_and_seed(base: Path) -> None:
    same, larger, other = (
        open_corpora(load_config(base, [f"corpus.select={{name='grammar', {keys}}}", "corpus.report.seed=9"]))[0]
        for keys in ("documents=6, seed=2", "documents=7, seed=2", "documents=6, seed=3")
    )
    assert same.fingerprint == open_corpora(load_config(base))[1].fingerprint
    assert (same.size()["documents"], larger.size()["documents"]) == (6, 7)
    assert len({same.fingerprint, larger.fingerprint, other.fingerprint}) == 3


def test_first_takes_that_many_sentences_of_a_file(base: Path, corpus_file: Path) -> None:
    for keys, count in (({}, 60), ({"first": 7}, 7)):
        corpus, _ = open_corpora(load_config(base, [by_path(corpus_file, **keys)]))
        assert (corpus.name, corpus.size()["sentences"]) == ("sixty", count)


def test_a_named_corpus_is_read_from_the_data_folder(
    base: Path,
    sentences: Sequence[str],
    write_corpus: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_corpus(tmp_path / "ud_english_ewt" / "en_ewt-ud-dev.conllu", sentences)
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    corpus, _ = open_corpora(load_config(base, ["corpus.select={name='ewt-dev', first=5}"]))
    assert (corpus.name, corpus.size()["sentences"]) == ("ewt-dev", 5)


def names(corpus: Corpus) -> set[str]:
    return {document.id for document in corpus.stream()}


def test_without_a_report_corpus_documents_are_divided_by_a_hash_of_their_ids(
    base: Path, sentences: Sequence[str], write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    path = tmp_path / "halves.toml"
    path.write_text(re.sub(r"corpus.report.*", "", base.read_text()))
    halves = []
    for number, blocks in enumerate((sentences, sentences[::-1], sentences[10:])):
        file = write_corpus(tmp_path / f"{number}.conllu", blocks)
        halves.append([names(half) for half in open_corpora(load_config(path, [by_path(file)]))])
    (select, report), backwards, fewer = halves
    assert not select & report
    assert len(select | report) == 60
    assert 20 <= len(select) <= 40
    assert backwards == [select, report]
    assert fewer[0] < select, "where a document goes does not depend on the others"


def test_the_examples_option_is_the_number_of_heads_that_are_shown(scored: Callable[..., Run], whole: Path) -> None:
    assert scored().examples.empty
    for examples, count in ((Run.open(whole).examples, 3), (scored("page.examples=1").examples, 1)):
        heads = examples.groupby("example")[["probe", "label", "variant", "name"]].first()
        assert len(heads.drop_duplicates()) == count
        assert set(heads.index) == set(range(len(heads)))


@pytest.mark.slow
def test_every_head_is_kept_on_the_texts_of_the_examples(scored: Callable[..., Run], whole: Path) -> None:
    assert scored().attention is None, "with page.examples = 0 no text of the corpora is kept"
    assert scored("page.examples=1", "page.sentences=0").attention is None
    run = Run.open(whole)
    found = run.attention
    assert found is not None
    assert set(found.sentences["source"]) == set(run.examples["source"])
    assert set(found.attention["name"]) == set(run.scores["name"])
    assert len(found.attention) == len(found.sentences) * run.scores["name"].nunique()
    assert set(found.gold["probe"]) == set(run.examples["probe"])
    kept = scored("page.examples=1", "page.sentences=1")
    assert kept.attention is not None
    assert len(kept.attention.sentences) == 1
    (note,) = [note for note in kept.record.notes if "every head" in note]
    assert note.startswith("the attention of every head is kept on 1 of the texts that examples are drawn from; 1 more")


@pytest.mark.slow
def test_trained_probes_have_rows_of_their_own_beside_a_control_task(scored: Callable[..., Run]) -> None:
    few, more = (scored("probes.trained=true", f"probes.trained_pairs={pairs}") for pairs in (20, 30))
    rows = few.scores[few.scores.probe == "classifier"]
    assert set(rows.baseline) == {"control task"}
    assert set(rows.variant) == {"dependency/dependent->head"}
    assert rows.mass.isna().all()
    assert rows.n.max() == 40, "a right and a wrong pair a query"
    assert more.scores[more.scores.probe == "classifier"].n.max() == 60
    untrained = few.scores[few.scores.probe != "classifier"].reset_index(drop=True)
    same_scores(untrained, scored().scores)


@pytest.mark.slow
def test_metrics_are_compared_where_they_are_asked_for(scored: Callable[..., Run]) -> None:
    without, found = scored("probes.trained=true"), scored("probes.trained=true", "scoring.metrics=true")
    assert without.metrics is None
    assert without.agreement is None
    same_scores(found.scores, without.scores)
    assert "agreement of metrics" in found.record.stages
    metrics, agreement = found.metrics, found.agreement
    assert metrics is not None
    assert agreement is not None
    key = ["probe", "label", "variant", "name"]
    reported = found.scores[(found.scores.split == "report") & found.scores.probe.isin(["position", "dependency"])]
    both = metrics.merge(reported, on=key, suffixes=("", "_scored"))
    assert len(both) == len(metrics)
    gone = reported[(reported.n > 0) & ~reported.label.isin(metrics.label)]
    assert all(label == "broad" or label.endswith(":*") for label in gone.label), "no gold, or nothing to pool"
    assert (both.n == both.n_scored).all()
    assert (both.accuracy - both.accuracy_scored).abs().max() <= 1e-6
    assert (both.mass - both.mass_scored).abs().max() <= 1e-6
    assert set(agreement.one) | set(agreement.other) == {"accuracy", "mass", "reciprocal_rank", "auc", "classifier"}
    assert agreement.n.min() >= 50


@pytest.mark.slow
def test_maps_that_are_not_kept_are_read_again_to_the_same_numbers(scored: Callable[..., Run]) -> None:
    changes = ("probes.trained=true", "scoring.metrics=true")
    kept, again = scored(*changes), scored(*changes, "scoring.kept_mb=0")
    same_scores(kept.scores, again.scores)
    assert kept.metrics is not None
    pd.testing.assert_frame_equal(kept.metrics, again.metrics, rtol=0, atol=1e-6)


def test_a_probe_without_questions_has_no_metrics_to_compare(scored: Callable[..., Run], corpus_file: Path) -> None:
    changes = ('probes.names=["position", "coreference"]', "scoring.metrics=true")
    found = scored(*changes, *both_from(corpus_file))
    assert found.metrics is not None
    assert set(found.metrics.probe) == {"position"}


@pytest.mark.slow
def test_the_page_of_a_run_compares_its_metrics(base: Path, tmp_path: Path) -> None:
    changes = [ALL_PROBES, "scoring.metrics=true", "scoring.window_words=20"]
    report = run(load_config(base, changes), tmp_path) / "report"
    assert "<h2>Agreement of metrics</h2>" in (report / "index.html").read_text(encoding="utf-8")
    assert "## Agreement of metrics" in (report / "report.md").read_text(encoding="utf-8")


# --- nothing in silence


def test_what_was_dropped_is_counted_in_the_record_and_on_the_page(whole: Path) -> None:
    dropped = json.loads((whole / "run.json").read_text(encoding="utf-8"))["dropped"]
    reasons = {part["reason"] for part in dropped}
    assert {"longer than the model (48 pieces)", "mention across a border of 20 words"} <= reasons
    page, text = ((whole / "report" / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
    assert "-unfinished" not in page + text
    for part in dropped:
        assert len(part["examples"]) <= 3
        assert part["reason"] in page
        assert re.search(rf"{re.escape(part['reason'])} \| {part['count']} \|", text)


def test_a_word_that_the_tokenizer_turns_into_nothing_is_counted(
    scored: Callable[..., Run], sentences: Sequence[str], write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    short = min(sentences, key=len)
    blocks = [re.sub(r"^1\t[^\t]+", "1\t\u200b", block, flags=re.M) if block is short else block for block in sentences]
    found = scored(by_path(write_corpus(tmp_path / "gone.conllu", blocks)))
    gone = [part for part in found.record.dropped if "into nothing" in part.reason]
    assert [(part.split, part.examples) for part in gone] == [("select", (short.split()[3],))]
    assert gone[0].count > 0


def test_a_probe_that_finds_no_question_is_noted(
    scored: Callable[..., Run], corpus_file: Path, write_corpus: Callable[..., Path]
) -> None:
    probes = 'probes.names=["position", "coreference"]'
    found = scored(probes, *both_from(corpus_file))
    assert "coreference: the corpora have no items for it, it needs mentions" in found.record.notes


def test_subjects_that_agreement_does_not_ask_about_are_noted(scored: Callable[..., Run], corpus_file: Path) -> None:
    found = scored('probes.names=["agreement"]', *both_from(corpus_file))
    said = {note.partition(": ")[0]: note for note in found.record.notes if "verb shows no number (" in note}
    assert {*said} == {"agreement (select)", "agreement (report)"}


@pytest.mark.slow
def test_a_probe_that_lacks_its_list_is_noted_and_with_it_the_list_is_told(
    scored: Callable[..., Run], corpus_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = ('probes.names=["position", "rare"]', *both_from(corpus_file))
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path / "data"))
    without = scored(*changes)
    (note,) = (note for note in without.record.notes if note.startswith("rare"))
    assert "the corpora have no items for it, it needs a list of word frequencies, wordfreq/" in note
    assert without.record.frequencies is None
    path = tmp_path / "data" / LIST
    path.parent.mkdir(parents=True)
    path.write_text("the 90\nship 7\n", encoding="utf-8")
    given = scored(*changes, 'name="listed"')
    assert given.record.frequencies == ListFacts(LIST, hashlib.sha256(path.read_bytes()).hexdigest())
    assert set(given.scores.label[given.scores.probe == "rare"]) == {"rarest", "two rarest"}


def test_a_run_without_any_number_says_why_and_leaves_nothing(base: Path, corpus_file: Path, tmp_path: Path) -> None:
    changes = ['probes.names=["coreference"]', *both_from(corpus_file)]
    out = tmp_path / "out"
    with pytest.raises(RunError, match=r"nothing to score on the select split, sixty: coreference: .* needs mentions"):
        run(load_config(base, changes), out)
    with pytest.raises(RunError, match=r"longer than the model \(48 pieces\)"):
        run(load_config(base, ['probes.names=["coreference"]', "scoring.window_words=100"]), out)
    assert not out.exists()


def test_halves_of_a_single_document_are_refused(base: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(re.sub(r"corpus.report.*", "", base.read_text()))
    with pytest.raises(CorpusError, match=r"grammar-1: one document, and a split needs two"):
        run(load_config(path, ["corpus.select.documents=1"]), tmp_path / "out")


# --- nothing written half


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        "run.run.open_model",
        "run.scope.score_table",
        "run.run.write_examples",
        "run.run.machine_record",
        "run.run.write_report",
    ],
)
def test_a_failure_leaves_no_folder_and_nothing_but_whole_parts(
    place: str, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*anything: Any, **more: Any) -> None:
        raise RuntimeError("in the middle")

    monkeypatch.setattr(f"experiments.{place}", fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        run(load_config(base, [POSITION]), tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").glob("*")} <= {".quick-kept"}


@pytest.fixture
def quick(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return the function that runs `base` without a page into the same folder again and again."""
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)

    def quick(*changes: str, overwrite: bool = False) -> Path:
        return run(load_config(base, [POSITION, *changes]), tmp_path / "out", overwrite=overwrite)

    return quick


def contents(folder: Path) -> Iterable[tuple[str, bytes]]:
    return {(path.name, path.read_bytes()) for path in folder.iterdir() if path.is_file()}


def test_a_run_of_the_same_config_is_replaced_and_one_of_another_is_not(quick: Callable[..., Path]) -> None:
    folder = quick()
    (folder / "left over").touch()
    assert quick() == folder
    assert not (folder / "left over").exists()
    before = contents(folder)
    with pytest.raises(ConfigError, match=r"another config \(seed: 0 there, 1 here\); .*--overwrite"):
        quick("seed=1")
    assert contents(folder) == before
    quick("seed=1", overwrite=True)
    assert Run.open(folder).record.seed == 1
    assert [path.name for path in folder.parent.iterdir()] == ["quick"]


def test_two_runs_into_one_folder_do_not_replace_each_other(quick: Callable[..., Path]) -> None:
    folder = quick()
    before = contents(folder)
    with locked(folder), pytest.raises(LockedError, match="quick is being written by process "):
        quick("seed=1", overwrite=True)
    assert contents(folder) == before


def test_an_interrupt_between_two_renames_loses_no_run(
    quick: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = quick()
    real = Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        moved = real(path, target)
        if path == folder:
            raise KeyboardInterrupt
        return moved

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quick()
    assert Run.open(folder).record.seed == 0
    assert {path.name for path in folder.parent.iterdir()} == {"quick", ".quick-kept"}


@pytest.mark.slow
def test_a_run_that_shows_other_examples_replaces_the_one_before(quick: Callable[..., Path]) -> None:
    folder = quick("page.examples=3")
    scores, shown = Run.open(folder).scores, len(Run.open(folder).examples)
    assert quick("page.examples=0") == folder
    pd.testing.assert_frame_equal(Run.open(folder).scores, scores)
    assert len(Run.open(folder).examples) == 0 < shown


def test_keys_in_which_configs_differ_are_named(quick: Callable[..., Path]) -> None:
    config = quick() / "config.toml"
    text = config.read_text(encoding="utf-8").replace("[verdict]", "[old]\nlist = [1, 2]\n\n[verdict]")
    config.write_text(text, encoding="utf-8")
    changes = ["verdict.alpha=0.01", "scoring.maps=norms", "seed=1", "verdict.margin=0.2", "page.examples=1"]
    with pytest.raises(ConfigError) as error:
        quick(*changes)
    assert "(seed: 0 there, 1 here; " in str(error.value)
    assert "scoring.maps: 'weights' there, 'norms' here; " in str(error.value)
    assert "; and 1 more)" in str(error.value)
    assert "page" not in str(error.value)
    config.write_text("[", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"another config \(its config.toml cannot be read\)"):
        quick()


def test_a_failure_leaves_the_older_run_as_it_was(quick: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = quick()
    before = contents(folder)
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        quick("seed=1", overwrite=True)
    assert "with --resume continues the run" in caught.value.__notes__[0], "else the numbers would be measured again"
    assert contents(folder) == before
    assert {path.name for path in folder.parent.iterdir()} == {"quick", ".quick-kept"}


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("what", ["folder", "project", "file", "other training"])
def test_what_is_no_run_folder_is_never_replaced(
    what: str, overwrite: bool, quick: Callable[..., Path], tmp_path: Path
) -> None:
    place = tmp_path / "out" / "quick"
    place.parent.mkdir()
    if what == "file":
        place.write_text("mine")
    else:
        place.mkdir()
        (place / ("config.toml" if what == "project" else "thesis.tex")).write_text("mine")
        if what == "other training":
            (place / "seed-0").mkdir()
    with pytest.raises(ConfigError, match="exists and is not a run folder"):
        quick(overwrite=overwrite)
    assert [path.read_text() for path in place.parent.rglob("*") if path.is_file()] == ["mine"]
