import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.patching.section import ALL, patched_heads
from reports.studies.patching.tables import PATCHING

LAYERS, HEADS = 2, 3
FACTS = {
    "items": 150,
    "clusters": 61,
    "clean": 4.25,
    "corrupted": -3.5,
    "right_clean": 0.96,
    "right_corrupted": 0.08,
    "estimate": {"rho": 0.83, "low": 0.61, "high": 0.97, "slope": 0.5},
    "direct": None,
    "why_no_direct": "tiny is post-norm: no product says it",
}


def rows(role: str, shares: list[float], *, sure: int = -1) -> pd.DataFrame:
    cell = np.arange(LAYERS * HEADS)
    frame = pd.DataFrame({"layer": cell // HEADS, "head": cell % HEADS, "share": shares})
    names = [f"{layer + 1}-{head + 1}" for layer, head in zip(frame["layer"], frame["head"], strict=True)]
    p = np.where(cell == sure, 0.001, 0.6)
    return frame.assign(
        **{"role": role, "name": names, "n": 150, "clusters": 61, "estimate": frame["share"] / 2, "direct": np.nan},
        **{"ci_low": frame["share"] - 0.1, "ci_high": frame["share"] + 0.1, "p": p, "p_label": p, "p_adjusted": p},
        **{"model": "tiny", "step": pd.array([pd.NA] * len(cell), dtype="Int64"), "corpus": "grammar"},
    )


def table() -> pd.DataFrame:
    shares = [0.01, -0.25, 0.0, 0.02, 0.75, 0.1]
    frames = [rows(ALL, shares, sure=4), rows("subject", [0.005] * 6), rows("verb", [0, 0, 0, 0, 0.7, 0])]
    return pd.concat(frames, ignore_index=True)[list(PATCHING.names)]


def put(folder: Path, frame: pd.DataFrame, facts: object = FACTS) -> Run:
    write_measures({"patching": frame}, folder)
    record = json.loads((folder / "run.json").read_text("utf-8"))
    (folder / "run.json").write_text(json.dumps(record | {"patching": facts}), "utf-8")
    return Run.open(folder)


def test_heads_are_told_by_layer_and_the_strongest_by_role(run_folder: Path) -> None:
    found = patched_heads(put(run_folder, table()))
    assert found is not None
    assert [[cell.name for cell in row] for row in found.cells] == [["1-1", "1-2", "1-3"], ["2-1", "2-2", "2-3"]]
    assert [cell.strength for cell in found.cells[1]] == [3, 100, 13]
    assert [cell.significant for row in found.cells for cell in row] == [False] * 4 + [True, False]
    assert [head.row["name"] for head in found.strongest[:3]] == ["2-2", "1-2", "2-3"]
    assert found.roles == ["subject", "verb"]
    assert found.strongest[0].by_role == [0.005, 0.7]
    assert found.strongest[0].interval == "[+65.0, +85.0]"
    assert not found.with_direct
    assert found.widest == 0.75


def test_sentences_say_what_was_asked_what_was_found_and_why_something_is_not_told(run_folder: Path) -> None:
    found = patched_heads(put(run_folder, table()))
    assert found is not None
    asked, heads, estimate, direct = found.sentences
    assert asked.startswith("150 sentences of the embedded grammar, from 61 documents.")
    assert "preferred in 96.0 % of the clean ones (by 4.25" in asked
    assert "in 8.0 % of the corrupted ones (−3.50)" in asked
    assert heads.startswith("Of 6 heads 1 restore a significant part (2-2), and 0 significantly reduce the answer (–).")
    assert "2-2: +75.0 % of the difference, [+65.0, +85.0]" in heads
    assert "rank correlation of 0.83 [0.61, 0.97]; its shares are 0.50 times as large" in estimate
    assert direct == "No direct logit attribution: tiny is post-norm: no product says it."


@pytest.mark.slow
@pytest.mark.figures("patching")
def test_the_page_and_its_markdown_show_both_tables(run_folder: Path) -> None:
    put(run_folder, table().assign(direct=0.125), FACTS | {"direct": FACTS["estimate"], "why_no_direct": ""})
    page = write_report(run_folder).read_text("utf-8")
    text = (run_folder / "report" / "report.md").read_text("utf-8")
    assert "Activation patching of the answer" in page
    assert 'title="Head 1-2: −25.0 %">−25</td>' in page
    assert "| 2-2 | +75.0 | [+65.0, +85.0] | 0.001 | +37.5 | +12.5 | +0.5 | +70.0 |" in text
    assert "Direct logit attribution puts heads in the order" in text
    assert (run_folder / "report" / "figures" / "patching.png").is_file()


@pytest.mark.slow
def test_where_nothing_is_lost_no_head_is_named(run_folder: Path) -> None:
    gone = table().assign(share=np.nan, ci_low=np.nan, ci_high=np.nan, estimate=np.nan, p_adjusted=1.0, clusters=7)
    nothing = {"rho": None, "low": None, "high": None, "slope": None}
    found = patched_heads(put(run_folder, gone, FACTS | {"estimate": nothing}))
    assert found is not None
    assert found.sentences[0].startswith("⚠ Only 7 documents")
    assert found.sentences[2].startswith("On average nothing is lost by the corruption")
    assert len(found.sentences) == 4
    assert not found.strongest
    page = write_report(run_folder).read_text("utf-8")
    assert "The strongest heads" not in page
    assert (run_folder / "report" / "figures" / "patching.png").is_file()


def test_of_several_steps_the_last_is_told_and_runs_without_patching_say_nothing(run_folder: Path) -> None:
    assert patched_heads(Run.open(run_folder)) is None
    early = table().assign(step=10, share=0.5)
    found = patched_heads(put(run_folder, pd.concat([early, table().assign(step=20)], ignore_index=True)))
    assert found is not None
    assert found.widest == 0.75


def test_what_cannot_be_is_refused(run_folder: Path) -> None:
    with pytest.raises(ValueError, match=r"patching\.parquet: .*`p` lies outside \[0, 1\]"):
        write_measures({"patching": table().assign(p=2.0)}, run_folder)
    with pytest.raises(ValueError, match="`ci_low` lies above `ci_high`"):
        write_measures({"patching": table().assign(ci_low=9.0)}, run_folder)
    with pytest.raises(ValueError, match="`n` is below 1"):
        write_measures({"patching": table().assign(n=0)}, run_folder)
