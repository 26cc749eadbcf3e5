import hashlib
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.inputs.corpora import open_corpora
from experiments.run.config import load_config
from experiments.run.context import SCOPES
from experiments.run.run import RunError, run
from probes.evidence.results import Split, score_table
from probes.words.rare import LIST
from reports import Run
from reports.run.record import ListFacts

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


def test_a_run_records_what_it_read_and_each_control_and_has_a_row_a_head_question_and_split(
    whole: Path, tiny: Path
) -> None:
    record = json.loads((whole / "run.json").read_text(encoding="utf-8"))
    assert (record["model"]["name"], len(record["model"]["sha256"])) == (str(tiny), 64)
    for split in ("select", "report"):
        corpus, scored = record["corpora"][split], record["scored"][split]
        assert corpus["words"] >= scored["sentence"]["words"] > 0
        assert all(part["pieces"] > part["words"] > part["windows"] > 0 for part in scored.values())
    controls = {"random weights", "permuted weights", "shuffled word order"}
    assert {name for name in record["stages"] if name.startswith("control")} == {f"control: {one}" for one in controls}
    assert all(any(note.startswith(f"{scope}s: controls read") for note in record["notes"]) for scope in SCOPES)
    scores = Run.open(whole).scores
    assert set(scores.probe) == {"position", "dependency", "agreement", "coreference", "classifier"}
    assert (scores.groupby(["probe", "label", "variant", "split"]).size() == 4).all()
    assert dict(zip(scores.split, scores.corpus, strict=True)) == {"select": "grammar-1", "report": "grammar-2"}
    report = scores[scores.split == "report"]
    assert controls & set(report.baseline)
    position = set(report[report.probe == "position"].baseline)
    assert not position & {"shuffled word order", "previous word", "offset", "likeliest distance"}
    assert report.loc[report.p_adjusted.notna(), "holds"].between(0, 1).all()


@pytest.mark.slow
def test_the_written_config_gives_the_same_scores_again(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    again = run(load_config(whole / "config.toml"), tmp_path / "again", page=False)
    assert (again / "config.toml").read_text() == (whole / "config.toml").read_text()
    same_scores(Run.open(again).scores, Run.open(whole).scores)
    pd.testing.assert_frame_equal(Run.open(again).examples, Run.open(whole).examples, check_exact=True)


# --- the same numbers


@pytest.mark.slow
def test_the_order_of_the_sentences_changes_no_score(
    scored: Callable[..., Run], write_corpus: Callable[..., Path], sentences: Sequence[str], tmp_path: Path
) -> None:
    shuffled = random.Random(3).sample(sentences, len(sentences))
    found = []
    for number, blocks in enumerate((sentences, shuffled)):
        path = write_corpus(tmp_path / str(number) / "sixty.conllu", blocks)
        changes = (ALL_PROBES, "probes.trained=true", "probes.trained_pairs=20", "controls.random=2")
        found.append(scored(*changes, "corpus.report.documents=3", by_path(path)))
    same_scores(*(one.scores for one in found))


# --- what each option does


KEYS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "scoring.reduce='first'": ("", "mass", ("n",)),
    "scoring.replicates=300": ("", "stability", ("accuracy", "ci_low", "mass", "margin", "margin_low")),
    "seed=1": ("", "stability", ("accuracy", "margin")),
    "seed=2": ("model.source='random'", "mass", ("n",)),
    "model.source='permuted'": ("", "mass", ("n",)),
    "scoring.maps='norms'": ("", "mass", ("n",)),
    "scoring.maps='rollout'": ("", "mass", ("n",)),
}
"Change of a key -> what else is set, a column that it changes, and columns that it does not."


@pytest.mark.slow
@pytest.mark.parametrize("change", KEYS)
def test_each_key_changes_its_column_and_no_other(change: str, scored: Callable[..., Run]) -> None:
    also, column, same = KEYS[change]
    before, after = (scored(POSITION, *filter(None, (also, one))) for one in ("", change))
    assert not numbers(before, column).equals(numbers(after, column))
    same_scores(numbers(before, *same), numbers(after, *same))
    assert before.record.model.sha256 == after.record.model.sha256
    if change.startswith("scoring.maps"):  # shapes are those of attention, whatever is scored
        pd.testing.assert_frame_equal(before.tables["shapes"], after.tables["shapes"])
        assert after.scores[["precision", "lift"]].isna().all(axis=None)


@pytest.mark.slow
def test_heads_are_compared_with_the_baselines_that_the_config_names(scored: Callable[..., Run]) -> None:
    """Where the offset is the strongest baseline anyway nothing changes; elsewhere the baseline is weaker."""
    runs = [scored('probes.names=["dependency"]', *change) for change in ((), ('probes.baselines=["offset"]',))]
    every, alone = (one.scores[one.scores.n > 0] for one in runs)
    assert {*alone.baseline} == {"offset"} < {*every.baseline}
    weaker = every.baseline_accuracy - alone.baseline_accuracy
    assert weaker.min() == 0 < weaker.max()
    assert weaker[every.baseline == "offset"].max() == 0
    assert alone[["accuracy", "rule_accuracy"]].equals(every[["accuracy", "rule_accuracy"]])


@pytest.mark.slow
def test_the_batch_size_moves_no_mass_and_flips_near_ties_only(scored: Callable[..., Run]) -> None:
    one, other = scored(), scored("scoring.batch_pieces=150")
    assert (numbers(one, "mass") - numbers(other, "mass")).abs().max().item() <= 1e-6
    rows = one.scores.set_index(KEY)
    flipped = (rows.accuracy - other.scores.set_index(KEY).accuracy).abs() * rows.n
    assert (flipped.fillna(0) <= rows.near_ties + 1e-9).all()


@pytest.mark.slow
def test_every_control_is_asked_what_it_may_be_asked_on_the_same_items(
    scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Split] = []

    def table(*splits: Split, **options: object) -> pd.DataFrame:
        seen.extend(splits)
        return score_table(*splits, **options)

    monkeypatch.setattr("experiments.run.scope.score_table", table)
    scored("controls={random=2, permuted=2, orders=2}", "seed=3")
    kinds = {"random weights", "permuted weights", "shuffled word order"}
    select, report = seen
    assert (select.controls, set(report.controls)) == ({}, kinds)
    asked = {question for question in report.heads if question[2] != "broad"}
    for name in kinds:
        of_kind = {question for question in asked if name != "shuffled word order" or question[0] != "position"}
        assert set(report.controls[name]) == of_kind
        for question, sums in report.controls[name].items():
            assert sums.hits.shape == (len(report.heads[question].n), 2), (
                "two models, and the whole report split is read"
            )
            assert sums.n.tolist() == report.heads[question].n.tolist()
            assert sums.clusters == report.heads[question].clusters


def test_controls_read_no_more_than_the_sample(scored: Callable[..., Run]) -> None:
    found = scored("controls.random=2", "controls.sample_words=40")
    (note,) = [note for note in found.record.notes if note.startswith("sentences: controls read")]
    read, every = re.findall(r"[\d,]+", note)[:2]
    assert 0 < int(read) < int(every)


@pytest.mark.parametrize(("keys", "sentences_of"), [("", 60), (", first=7", 7)])
def test_files_and_named_corpora_are_read_as_far_as_asked(
    keys: str, sentences_of: int, base: Path, corpus_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "ud_english_ewt" / "en_ewt-ud-dev.conllu"
    named.parent.mkdir()
    named.write_bytes(corpus_file.read_bytes())
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    for place, name in ((f"path='{corpus_file}'", "sixty"), ("name='ewt-dev'", "ewt-dev")):
        corpus, _ = open_corpora(load_config(base, [f"corpus.select={{{place}{keys}}}"]))
        assert (corpus.name, corpus.size()["sentences"]) == (name, sentences_of)


@pytest.mark.slow
def test_as_many_heads_and_texts_are_shown_as_asked(scored: Callable[..., Run], whole: Path) -> None:
    for found, count in ((scored(), 0), (Run.open(whole), 3), (scored("page.examples=1", "page.sentences=1"), 1)):
        heads = found.examples.groupby("example")[["probe", "label", "variant", "name"]].first()
        assert (len(heads.drop_duplicates()), set(heads.index)) == (count, set(range(len(heads))))
    assert scored().attention is None, "with page.examples = 0 no text of the corpora is kept"
    run, kept = Run.open(whole), found.attention
    assert len(kept.sentences) == 1
    assert "is kept on 1 of the texts that examples are drawn from; 1 more" in "".join(found.record.notes)
    assert set(run.attention.sentences["source"]) == set(run.examples["source"])
    assert len(run.attention.attention) == len(run.attention.sentences) * run.scores["name"].nunique()
    assert set(run.attention.gold["probe"]) == set(run.examples["probe"])


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


# --- nothing in silence


def test_what_was_dropped_is_counted_in_the_record_and_on_the_page(whole: Path) -> None:
    dropped = json.loads((whole / "run.json").read_text(encoding="utf-8"))["dropped"]
    reasons = {part["reason"] for part in dropped}
    across = ("mention across a border", "mention with all antecedents outside its window")
    borders = {f"{what} of 20 words" for what in (*across, "pronoun without two candidates in its window")}
    assert {"longer than the model (48 pieces)", *borders} <= reasons
    page, text = ((whole / "report" / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
    assert "-unfinished" not in page + text
    for part in dropped:
        assert len(part["examples"]) <= 3
        assert part["reason"] in page


def test_a_word_that_the_tokenizer_turns_into_nothing_is_counted(
    scored: Callable[..., Run], sentences: Sequence[str], write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    short = min(sentences, key=len)
    blocks = [re.sub(r"^1\t[^\t]+", "1\t\u200b", block, flags=re.M) if block is short else block for block in sentences]
    found = scored(by_path(write_corpus(tmp_path / "gone.conllu", blocks)))
    gone = [part for part in found.record.dropped if "into nothing" in part.reason]
    assert [(part.split, part.examples) for part in gone] == [("select", (short.split()[3],))]
    assert gone[0].count > 0


def test_without_parts_of_speech_no_rule_of_grammar_is_beaten(
    scored: Callable[..., Run], sentences: Sequence[str], write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    blocks = [re.sub(r"^((?:[^\t]*\t){3})[A-Z]+", r"\1NN", block, flags=re.M) for block in sentences]
    found = scored(by_path(write_corpus(tmp_path / "foreign.conllu", blocks)), 'probes.names=["dependency"]')
    assert (found.scores.rule == "").all()
    assert found.scores.rule_accuracy.isna().all()
    assert found.scores.grade.max() < 3
    assert any("without a rule no head has grade 3: dependency" in note for note in found.record.notes)


def test_what_a_probe_does_not_ask_about_is_noted(scored: Callable[..., Run], corpus_file: Path) -> None:
    found = scored('probes.names=["position", "coreference", "agreement"]', *both_from(corpus_file))
    assert "coreference: the corpora have no items for it, it needs mentions" in found.record.notes
    said = {note.partition(": ")[0]: note for note in found.record.notes if "verb shows no number (" in note}
    assert {*said} == {"agreement (select)", "agreement (report)"}


@pytest.mark.slow
def test_a_probe_that_lacks_its_list_is_noted_and_with_it_the_list_has_results(
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


# --- nothing written half


@pytest.fixture
def quick(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return the function that runs `base` without a page into the same folder again and again."""
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)

    def quick(*changes: str, overwrite: bool = False) -> Path:
        return run(load_config(base, [POSITION, *changes]), tmp_path / "out", overwrite=overwrite)

    return quick


def contents(folder: Path) -> Iterable[tuple[str, bytes]]:
    return {(path.name, path.read_bytes()) for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("place", ["scope.score_table", "run.write_report"])
def test_a_failure_leaves_the_older_run_as_it_was_and_nothing_but_whole_parts(
    place: str, quick: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = quick()
    before = contents(folder)
    monkeypatch.setattr(f"experiments.run.{place}", lambda *anything, **more: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        quick("seed=1", overwrite=True)
    assert contents(folder) == before
    assert {path.name for path in folder.parent.iterdir()} <= {"quick", ".quick-kept"}


def test_a_run_of_the_same_numbers_is_replaced_and_one_of_another_config_is_not(quick: Callable[..., Path]) -> None:
    folder = quick("page.examples=1")
    (folder / "left over").touch()
    assert quick() == folder
    assert not (folder / "left over").exists()
    assert len(Run.open(folder).examples) == 0
    before, config = contents(folder), folder / "config.toml"
    changes = ["verdict.alpha=0.01", "scoring.maps=norms", "seed=1", "verdict.margin=0.2", "scoring.replicates=99"]
    with pytest.raises(ConfigError, match=r"another config \(seed: 0 there, 1 here; .*and 1 more\); .*--overwrite"):
        quick(*changes, "page.examples=1")
    assert contents(folder) == before
    config.write_text("[", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"another config \(its config.toml cannot be read\)"):
        quick()
    quick("seed=1", overwrite=True)
    assert Run.open(folder).record.seed == 1
    assert [path.name for path in folder.parent.iterdir()] == ["quick"]


@pytest.mark.parametrize("mine", ["", "thesis.tex", "config.toml"])
def test_what_is_no_run_folder_is_never_replaced(mine: str, quick: Callable[..., Path], tmp_path: Path) -> None:
    path = tmp_path / "out" / "quick" / mine
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    if mine == "thesis.tex":  # beside a training, which may stay
        (path.parent / "seed-0").mkdir()
    for overwrite in (False, True):
        with pytest.raises(ConfigError, match="exists and is not a run folder"):
            quick(overwrite=overwrite)
    assert path.read_text() == "mine"


@pytest.mark.slow
def test_maps_that_are_not_kept_are_read_again_to_the_same_numbers(scored: Callable[..., Run]) -> None:
    kept, again = scored("probes.trained=true"), scored("probes.trained=true", "scoring.kept_mb=0")
    same_scores(kept.scores, again.scores)
