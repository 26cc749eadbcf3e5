"""What a page says of coreference chains, from a table whose numbers are invented."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.chains.section import chains
from reports.studies.chains.tables import SCORES

NAN = float("nan")

F1 = {"1-1": 0.9, "3-5": 0.75, "sieve": 0.8, "nearest": 0.4}
"CoNLL average on the report split; that of MUC is a tenth lower."

HEADS = {"1-1": (0, 0), "3-5": (2, 4)}


def linked(split: str = "report", lead: tuple[float, float] = (-0.08, -0.02), step: object = pd.NA) -> pd.DataFrame:
    """Heads 1-1, better here but not selected, and 3-5, and two rivals."""
    rows = []
    for name, f1 in F1.items():
        layer, head = HEADS.get(name, (pd.NA, pd.NA))
        mine = name in HEADS
        for measure in SCORES:
            score = f1 - 0.1 * (measure == "MUC")
            both = (NAN, NAN) if measure == "CoNLL" else (score + 0.05, score - 0.05)
            leads = (score - 0.8, *lead) if mine else (NAN,) * 3
            rows.append((name, layer, head, mine, measure, *both, score, "sieve" if mine else "", *leads))
    numbers = ("precision", "recall", "f1", "baseline", "lead", "lead_low", "lead_high")
    frame = pd.DataFrame(rows, columns=["name", "layer", "head", "mine", "measure", *numbers])
    known: dict[str, Any] = {
        "model": "m",
        "step": step,
        "corpus": "sea",
        "split": split,
        "n": 7648,
        "chains": 5035,
        "clusters": 30,
    }
    selected = frame["name"] == "3-5"
    method = np.where(frame["mine"], "head", "baseline")
    ends = {"low": frame["f1"] - 0.02, "high": frame["f1"] + 0.02}
    return frame.drop(columns="mine").assign(**known, **ends, selected=selected, method=method, least=0.1)


def written(frame: pd.DataFrame, folder: Path) -> Run:
    write_measures({"chains": frame}, folder)
    return Run.open(folder)


def test_the_selected_head_stands_before_its_rivals_and_those_stand_by_their_average(run_folder: Path) -> None:
    found = chains(written(pd.concat([linked("select"), linked()]), run_folder))
    assert found is not None
    f1, both = found.tables
    assert f1.titles == ("linked by", *SCORES[:-1], "CoNLL", "interval", "lead", "interval")
    assert [row[0] for row in f1] == [row[0] for row in both] == ["head 3-5", "sieve", "nearest"]
    assert f1.texts[0] == ("head 3-5", "65.0", *["75.0"] * 4, "[73.0, 77.0]", "−5.0", "[−8.0, −2.0]")
    assert f1.texts[1][-2:] == ("–", "")
    assert both.texts[0][:2] == ("head 3-5", "70.0 / 60.0")


def test_a_rule_that_made_no_link_is_named_and_has_no_row(run_folder: Path) -> None:
    """It scores as single mentions do; "nearest" has another average."""
    table = linked()
    idle, single = (
        table[table["name"] == "nearest"].assign(name=name) for name in ("nearest subject", "single mentions")
    )
    other = table.assign(precision=table["precision"].where(table["name"] != "nearest", 0.3))
    found = chains(written(pd.concat([other, idle, single]), run_folder))
    assert found is not None
    assert found.summary.endswith(" Rules that made no link are not shown: “nearest subject”.")
    assert [row[0] for row in found.tables[0]] == ["head 3-5", "sieve", "nearest", "single mentions"]


@pytest.mark.parametrize(
    ("lead", "said"),
    [
        ((-0.08, -0.02), "[−8.0, −2.0] points is significantly below 0."),
        ((-0.08, 0.02), "[−8.0, +2.0] points is not significant."),
        ((0.01, 0.02), "[+1.0, +2.0] points is significant."),
        ((NAN, NAN), "The lead of −5.0 points is not significant."),
    ],
)
def test_a_lead_is_significant_where_its_interval_is_above_0(
    run_folder: Path, lead: tuple[float, float], said: str
) -> None:
    found = chains(written(linked(lead=lead), run_folder))
    assert found is not None
    assert found.summary.startswith(
        "7,648 mentions in 5,035 gold chains of 30 documents. Head 3-5, the best on the selection split, reaches a "
        "CoNLL average of 75.0, the strongest baseline, “sieve”, 80.0. The lead of "
    )
    assert found.summary.endswith(said)


def test_of_several_steps_the_last_one_is_told(run_folder: Path) -> None:
    first = linked(step=10).assign(n=1)
    found = chains(written(pd.concat([first, linked(step=20)]), run_folder))
    assert found is not None
    assert found.summary.startswith("7,648 mentions")
    assert len(found.tables[0]) == 3


def test_a_run_that_did_not_link_has_no_section(written_run: Path) -> None:
    assert chains(Run.open(written_run)) is None


def test_two_rows_of_one_score_and_a_score_of_another_name_are_refused(run_folder: Path) -> None:
    with pytest.raises(ValueError, match="two rows have the same model, step, split, name, measure"):
        written(pd.concat([linked(), linked()]), run_folder)
    with pytest.raises(ValueError, match="`measure` is not one of MUC, B3"):
        written(linked().replace({"measure": {"B3": "BLANC"}}), run_folder)
    with pytest.raises(ValueError, match=r"`lead` lies outside \[-1, 1\]"):
        written(linked().assign(lead=5.0), run_folder)


@pytest.mark.slow
def test_the_page_shows_both_tables_and_every_term(run_folder: Path) -> None:
    page = write_report(written(linked(), run_folder).folder).read_text("utf-8")
    markdown = (run_folder / "report/report.md").read_text("utf-8")
    for text in (page, markdown):
        assert "Coreference chains" in text
        assert "head 3-5" in text
        assert "Luo 2005" in text
    assert "| linked by | MUC | B3 | CEAF-m | CEAF-e | CoNLL | interval |\n" in markdown
    assert "| linked by | lead | interval |\n" in markdown
