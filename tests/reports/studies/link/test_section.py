from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_report, write_studies
from reports.studies.link.figure import save_link
from reports.studies.link.section import ATTENDS, BOTH, EFFECT, linked_heads

VERDICTS = ["attends, no effect", "attends, with effect", "effect without attention", "neither", "not known"]
ROLE = {"behaviour": "pairs", "probe": "agreement", "label": "all", "variant": "verb->subject"}
RUN = {"model": "m", "step": pd.NA, "corpus": "sea"}


def rows(verdicts: list[str] = VERDICTS) -> pd.DataFrame:
    """One head a verdict; the later, the costlier."""
    count = len(verdicts)
    frame = pd.DataFrame({"layer": np.arange(count) // 2, "head": np.arange(count) % 2, "verdict": verdicts})
    names = (frame["layer"] + 1).astype(str) + "-" + (frame["head"] + 1).astype(str)
    cost = np.arange(count) / 10 - 0.1
    told = {"n": 50, "accuracy": 0.5, "mass": 0.2, "margin": 0.1, "write_norm": 1.5, "importance": np.nan}
    told |= {"transfer": np.nan, "transfer_low": np.nan, "transfer_high": np.nan, "transfer_significant": False}
    frame = frame.assign(name=names, **ROLE, **RUN, **told, patching=-0.005, cost=cost, p_adjusted=0.2)
    attends, effect = frame.verdict.str.startswith("attends"), frame.verdict.isin(VERDICTS[1:3])
    return frame.assign(cost_low=cost - 0.1, cost_high=cost + 0.1, attends=attends, has_effect=effect)


def test_what_a_head_transfers_is_shown_with_its_interval(run_folder: Path) -> None:
    whole = {"transfer": 0.5, "transfer_low": 0.25, "transfer_high": 1.0, "transfer_significant": True}
    write_studies({"link": rows().assign(**whole)}, run_folder)
    found = linked_heads(Run.open(run_folder))
    assert found is not None
    (role,) = found.roles
    shown = [str(cell) for cell in role.shown.rows[0]]
    assert role.heads[0]["transfer"] == 0.5
    assert any("[0.250, 1.00]" in cell for cell in shown)


def correlations() -> pd.DataFrame:
    pairs = {"one": ["accuracy", "mass", "accuracy"], "other": ["cost", "write_norm", "importance"]}
    return pd.DataFrame(
        {**pairs, "rho": [0.4, 0.1, -0.2], "low": [0.1, -0.3, np.nan], "high": [0.6, 0.4, np.nan]}
    ).assign(heads=5, **ROLE, **RUN)


def test_heads_that_look_stand_before_those_that_matter_and_these_before_the_rest(run_folder: Path) -> None:
    write_studies({"link": rows(), "link_correlations": correlations()}, run_folder)
    found = linked_heads(Run.open(run_folder))
    assert found is not None
    (role,) = found.roles
    assert [head["name"] for head in role.heads] == ["1-2", "1-1", "2-1", "3-1", "2-2"]
    assert [role.named(verdict) for verdict in (BOTH, ATTENDS, EFFECT)] == ["1-2", "1-1", "2-1"]
    assert role.rest == "1, and 1 not known"
    assert found.summary == (
        "Over 1 role (a label and direction with its behaviour; a head counts once for each) heads attend in 2 "
        "head–role pairs; in 1 of these ablating the head has a significant effect. In 1 pair it has one although the "
        "head does not attend."
    )


def test_correlations_with_cost_are_named_and_those_of_attention_alone_are_not(run_folder: Path) -> None:
    write_studies({"link": rows(), "link_correlations": correlations()}, run_folder)
    found = linked_heads(Run.open(run_folder))
    assert found is not None
    assert found.compared == [
        "accuracy in the role and cost of ablation",
        "accuracy in the role and gradient importance",
    ]
    told = found.roles[0].correlations
    assert [one.interval for one in told.values()] == ["[0.10, 0.60]", ""]


@pytest.mark.slow
def test_both_pages_tell_the_roles_beside_a_figure(run_folder: Path) -> None:
    write_studies({"link": rows(), "link_correlations": correlations()}, run_folder)
    write_report(run_folder)
    report = run_folder / "report"
    for page in ("index.html", "report.md"):
        text = (report / page).read_text("utf-8")
        assert "Attention and causal effect" in text
        assert "agreement, all (verb-" in text
        assert "attends, no effect" in text
        assert "−0.5" in text, "patching of -0.005, in percent"
    assert (report / "figures" / "link.png").is_file()


@pytest.mark.figures
def test_a_figure_is_drawn(run_folder: Path) -> None:
    write_studies({"link": rows()}, run_folder)
    found = linked_heads(Run.open(run_folder))
    assert found is not None
    assert save_link(found, "made", run_folder) == ["link"]
    assert (run_folder / "link.png").stat().st_size > 5000


def test_without_roles_there_is_no_section_and_without_correlations_no_table_of_them(run_folder: Path) -> None:
    assert linked_heads(Run.open(run_folder)) is None
    write_studies({"link": rows().iloc[:0]}, run_folder)
    assert linked_heads(Run.open(run_folder)) is None
    write_studies({"link": rows()}, run_folder)
    found = linked_heads(Run.open(run_folder))
    assert found is not None
    assert found.compared == []


def test_what_cannot_be_is_refused(run_folder: Path) -> None:
    with pytest.raises(ValueError, match=r"link.parquet: `verdict` is not one of attends, with effect"):
        write_studies({"link": rows(["looks"])}, run_folder)
    with pytest.raises(ValueError, match=r"link.parquet: `accuracy` lies outside \[0, 1\]"):
        write_studies({"link": rows().assign(accuracy=1.5)}, run_folder)
    with pytest.raises(ValueError, match=r"link_correlations.parquet: `rho` lies outside \[-1, 1\]"):
        write_studies({"link_correlations": correlations().assign(rho=2.0)}, run_folder)


def test_only_the_last_step_is_told(run_folder: Path) -> None:
    both = [rows().assign(step=step) for step in (100, 200)]
    of_both = [correlations().assign(step=step, rho=rho) for step, rho in ((100, 0.9), (200, 0.3))]
    write_studies({"link": pd.concat(both), "link_correlations": pd.concat(of_both)}, run_folder)
    found = linked_heads(Run.open(run_folder))
    assert found is not None
    (role,) = found.roles
    assert len(role.heads) == len(VERDICTS)
    assert {one.rho for one in role.correlations.values()} == {0.3}
