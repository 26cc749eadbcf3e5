"""The page of an atlas: its sentences, tables and chart, from invented runs and answers."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest

from reports.blocks.block import Paragraph
from reports.compare.across import sentences
from reports.compare.atlas import ATLAS_PAGE, grid_table, run_table
from reports.compare.atlas_record import ACROSS, ATLAS, AtlasRecord, AtlasRun
from reports.compare.atlas_shares import label_shares, share_table
from reports.compare.atlas_summary import group_summaries, groups, pooled_rows, summary
from tests.reports.compare.test_across import row

pytestmark = pytest.mark.slow

NAN = float("nan")
OBJECT, FORTH = ("dependency", "obj", "head->dependent"), ("agreement", "all", "verb->subject")
ORDINAL = ("dependency", "nummod", "dependent->head")
NO_BASELINE = ("strongest_accuracy", "lead", "lead_low", "lead_high")
PREVIOUS = ("position", "previous", "other words")


def answer(run: AtlasRun, of: tuple[str, str, str], name: str, accuracy: float, grade: int, **more: Any) -> Any:
    row: dict[str, Any] = {"run": run.name, "model": run.model, "corpus": run.corpus, "seed": run.seed}
    row |= dict(zip(("probe", "label", "variant"), of, strict=True)) | {"name": name, "n": 500}
    row |= {"effective_clusters": 100.0, "accuracy": accuracy, "ci_low": accuracy - 0.02, "ci_high": accuracy + 0.02}
    row |= {"strongest": "permuted weights", "strongest_accuracy": 0.5, "lead": accuracy - 0.5}
    row |= {"lead_low": accuracy - 0.53, "lead_high": accuracy - 0.47, "p_adjusted": 0.001 if grade else 0.9}
    row |= {"grade": grade, "verdict": "yes" if grade else "undecided", "excluded": 0.07}
    row |= {"baseline_accuracy": 0.5, "margin_low": -0.03, "margin_high": 0.04}
    row |= {"lexical_accuracy": 0.3, "lexical_margin_low": -0.2, "lexical_margin_high": -0.1}
    row |= dict.fromkeys(("rule_accuracy", "rule_margin_low", "rule_margin_high"), NAN)
    return row | {"highest": grade, "highest_heads": name if grade else ""} | more


def run_of(model: str, corpus: str, seed: int, grades: tuple[int, ...]) -> AtlasRun:
    folder = f"{'x' if '<' in model else model}-{corpus}-{seed}"
    return AtlasRun(folder, model, corpus, seed, 72, grades, 3, (4, 1, 10), 61.25)


@pytest.fixture(scope="module")
def record(hostile: str) -> AtlasRecord:
    """Two seeds of minilm on ewt, one on gum, a model with a hostile title without specialised heads, a failed run."""
    first, second = (run_of("minilm", "ewt", seed, (66, 3, 2, 1)) for seed in (0, 1))
    gum, other = run_of("minilm", "gum", 0, (70, 2, 0, 0)), run_of(hostile, "ewt", 0, (72, 0, 0, 0))
    failed = AtlasRun("minilm-gum-1", "minilm", "gum", 1, failed=f"no memory {hostile}")
    rows = [
        answer(first, OBJECT, "4-7", 0.8, 2),
        answer(second, OBJECT, "4-7", 0.9, 1),
        answer(gum, OBJECT, "3-2", 0.7, 0, highest=1, highest_heads="4-7", effective_clusters=7.0),
        answer(other, OBJECT, "1-1", 0.4, 0),
        answer(first, FORTH, "4-7", 0.6, 1),
        answer(second, FORTH, "2-2", 0.64, 0),
        answer(other, FORTH, "1-1", 0.5, 0, strongest="", **dict.fromkeys(NO_BASELINE, NAN)),
        answer(gum, ORDINAL, "5-5", 0.95, 0),
        answer(gum, ("dependency", hostile, "head->dependent"), "5-5", 0.3, 0),
        answer(first, PREVIOUS, "1-1", 0.95, 1),
    ]  # fmt: skip
    table = pd.DataFrame(rows)[[*ATLAS.names]]
    runs = (first, second, gum, failed, other)
    pairs = [
        row("ewt>gum", "obj", "4-7", (2, 1, 1), model="minilm"),
        row("gum>ewt", hostile, "5-5", (1, 0, 1), model=hostile),
    ]
    across = ACROSS.validated(pd.DataFrame(pairs), "rows")
    workers = "2 local workers, 1 thread each"
    return AtlasRecord("0.1.0", f"small {hostile}", workers, (hostile,), runs, table, across)


@pytest.fixture(scope="module")
def folder(record: AtlasRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ATLAS_PAGE.write(tmp_path_factory.mktemp("page"), record).parent


# --- labels beyond words and rules


def test_shares_count_labels_in_any_direction_of_the_first_seed_that_have_such_a_baseline() -> None:
    """Of obj, nmod and case two have a head beyond position, one of the two with a table one beyond words."""
    run, later = (run_of("minilm", "ewt", seed, (66, 3, 2, 1)) for seed in (0, 1))
    ahead = {"lexical_margin_low": 0.1, "lexical_margin_high": 0.2}
    beside_a_rule = {"lexical_accuracy": NAN, "rule_accuracy": 0.9, "rule_margin_low": -0.1, "rule_margin_high": -0.01}
    rows = [
        answer(run, OBJECT, "4-7", 0.8, 0, highest=2, highest_heads="4-7, 3-1, +4"),
        answer(run, ("dependency", "obj", "dependent->head"), "4-7", 0.8, 1, **ahead),
        answer(run, ("dependency", "nmod", "dependent->head"), "3-1", 0.8, 1, **beside_a_rule),
        answer(run, ("dependency", "case", "dependent->head"), "2-2", 0.3, 0),
        answer(run, ("dependency", "obj:*", "dependent->head"), "2-2", 0.3, 3),
        answer(run, ("dependency", "amod", "dependent->head"), "2-2", 0.3, 0, verdict=""),
        answer(later, ("dependency", "case", "dependent->head"), "2-2", 0.9, 3),
        answer(run, PREVIOUS, "1-1", 0.95, 1),
    ]
    (found,) = label_shares(AtlasRecord("", "a", "", (), (run, later), pd.DataFrame(rows), pd.DataFrame()))
    assert (found.model, found.corpus) == ("minilm", "ewt")
    counted = {
        grade: (one.labels.value, one.labels.n, one.heads, one.ahead, one.behind)
        for grade, one in found.by_grade.items()
    }
    assert counted == {1: (2 / 3, 3, ("3-1", "4-7"), 0, 0), 2: (1 / 2, 2, ("4-7", "3-1"), 1, 1), 3: (0, 1, (), 0, 1)}
    wilson = binomtest(2, 3).proportion_ci(method="wilson")
    assert (found.by_grade[1].labels.low, found.by_grade[1].labels.high) == pytest.approx(tuple(wilson))
    cells = share_table([found]).rows[0]
    assert [str(cell).split(" [")[0] for cell in cells] == ["minilm", "ewt", "66.7", "50.0", "0.0"]


# --- sentences


def test_the_summary_has_plain_sentences(record: AtlasRecord, hostile: str) -> None:
    assert summary(record)[1].startswith("1 of 5 runs failed: minilm-gum-1.")
    assert (summary(record)[0], *summary(record)[2:]) == (
        "3 of 4 finished runs have a head that is specialised in a linguistic role.",
        f"Models without a specialised head in any run: {hostile}.",
        "The label–direction pair with a stable grade in most runs is “attends from a verb to its object” (dependency: "
        "obj, head->dependent): 3 of 4 runs; selected heads in such runs: minilm on ewt 4-7 in 2 of 2 seeds, minilm on "
        "gum 3-2.",
        *sentences(record.across),
    )


def test_models_and_corpora_stand_on_one_screen(folder: Path, more_than_a_screen: Callable[[Path], list[str]]) -> None:
    assert more_than_a_screen(folder) == []
    text = (folder / "report.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows[1:3] == [
        "| minilm | ewt | 6 of 72 | 4-7 attends from a verb to its object | 85.0 | 50.0 permuted weights |",
        "| minilm | gum | 2 of 72 | – | – | – |",
    ]
    assert rows[3].endswith("| ewt | 0 of 72 | – | – | – |")


def test_neither_a_borderline_head_nor_a_label_that_the_answer_defines_is_named() -> None:
    run = run_of("minilm", "ewt", 0, (71, 1, 0, 0))
    rows = [
        answer(run, OBJECT, "4-7", 0.8, 1),
        answer(run, FORTH, "3-3", 0.9, 1, highest=0, highest_heads=""),
        answer(run, ("antecedent", "nearer is right", "pronoun->candidate"), "2-2", 0.99, 1),
    ]
    (group,) = group_summaries(AtlasRecord("", "a", "", (), (run,), pd.DataFrame(rows), pd.DataFrame()))
    assert group.best is not None
    assert group.best[1].head == "4-7"


# --- tables


def test_pairs_with_a_grade_come_first_then_those_with_the_larger_lead(record: AtlasRecord, hostile: str) -> None:
    rows = pooled_rows(record)
    assert [row.label for row in rows] == ["obj", "all", "nummod", hostile]
    assert [row.graded for row in rows] == [3, 1, 0, 0]
    assert rows[0].lead == pytest.approx((0.3 + 0.4 + 0.2 - 0.1) / 4)
    assert rows[1].lead == pytest.approx((0.1 + 0.14) / 2), "a run without a baseline has no lead"


def test_seeds_are_pooled_by_model_and_corpus(record: AtlasRecord, hostile: str) -> None:
    assert groups(record) == (("minilm", "ewt"), ("minilm", "gum"), (hostile, "ewt"))
    table = grid_table(record, pooled_rows(record), "all")
    assert table.titles == ("label and direction", "graded in", "minilm · ewt", "minilm · gum", f"{hostile} · ewt")
    assert [row[1] for row in table.texts] == ["3 of 4", "1 of 3", "0 of 1", "0 of 1"]
    assert [row[2:] for row in table.texts] == [
        (
            "85.0 4-7: grade 1 in 1 of 2 seeds",
            "⚠ 70.0 3-2: no grade; another head has grade 1",
            "40.0 1-1: no grade",
        ),
        ("62.0 4-7, 2-2: no grade in 1 of 2 seeds", "–", "50.0 1-1: no grade"),
        ("–", "95.0 5-5: no grade", "–"),
        ("–", "30.0 5-5: no grade", "–"),
    ]


def test_a_failed_run_has_its_message_and_no_numbers(record: AtlasRecord, hostile: str) -> None:
    table = run_table(record)
    assert table.titles[4] == "failure"
    assert table.texts[0] == (
        *("minilm-ewt-0", "minilm", "ewt", "0", "", "6", "3 / 2 / 1", "4 / 1 / 10", "3", "72", "61.2"),
    )
    assert table.texts[3] == ("minilm-gum-1", "minilm", "gum", "1", f"no memory {hostile}", *"––––––")
    assert "failure" not in run_table(replace(record, runs=record.finished)).titles


# --- chart, page and record


def test_the_record_comes_back_and_makes_the_same_page(folder: Path, record: AtlasRecord, tmp_path: Path) -> None:
    again = shutil.copytree(folder, tmp_path / "again")
    (again / "index.html").unlink()
    found = ATLAS_PAGE.read(again)
    assert replace(found, answers=record.answers, across=record.across) == record
    pd.testing.assert_frame_equal(found.answers, record.answers, check_dtype=False)
    pd.testing.assert_frame_equal(found.across, record.across)
    ATLAS_PAGE.write_page(again)
    assert (again / "index.html").read_bytes() == (folder / "index.html").read_bytes()
    assert len(pd.read_csv(again / "atlas.csv")) == len(record.answers)


def test_what_is_published_of_one_model_says_what_heads_do_on_other_corpora(record: AtlasRecord) -> None:
    def said(one: AtlasRecord) -> list[str]:
        return [block.text for block in ATLAS_PAGE.page(one, Path()).short if isinstance(block, Paragraph)]

    own = replace(record, runs=record.runs[:4], across=record.across[record.across["model"] == "minilm"])
    (told,) = sentences(own.across)
    assert told in said(own)
    assert not set(sentences(record.across)) & set(said(record))


def test_runs_with_a_page_are_linked(folder: Path, tmp_path: Path) -> None:
    again = shutil.copytree(folder, tmp_path / "again")
    page = again / "runs" / "minilm-gum-0" / "report" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    html = ATLAS_PAGE.write_page(again).read_text(encoding="utf-8")
    assert re.findall(r'href="(runs/[^"]*)"', html) == ["runs/minilm-gum-0/report/index.html"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"grades": [1, 2]}, "grades of run 'minilm-ewt-0' are 2 numbers, not 4"),
        ({"name": "minilm-ewt-1"}, "two runs have the name 'minilm-ewt-1'"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(folder: Path, tmp_path: Path, change: Any, words: str) -> None:
    broken = shutil.copytree(folder, tmp_path / "copy")
    data = json.loads((broken / "atlas.json").read_text(encoding="utf-8"))
    data["runs"][0] |= change
    (broken / "atlas.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(f"{broken / 'atlas.json'}: not the record of an atlas")) as error:
        ATLAS_PAGE.write_page(broken)
    assert words in str(error.value)
