from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.confusion.section import confusions
from reports.studies.relatedness.section import SHOWN, relations
from reports.tables.marks import few_clusters

NAN = float("nan")


def bits(label: str, split: str = "report", *, chosen: bool = True, n: int = 50) -> pd.DataFrame:
    """Two layers of two heads and their mean; the second layer and head 2-1 are chosen, though not the best here."""
    layer, head = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, -1, 0, 1, -1])
    frame = pd.DataFrame({"layer": layer, "head": head, "confusion": [0.2, 1.5, 0.7, 0.4, 1.2, 0.6]})
    told = {"model": "m", "step": pd.NA, "corpus": "sea", "split": split, "label": label, "n": n, "clusters": n}
    selected = ((layer == 1) & (head != 1)) if chosen else np.zeros(6, bool)
    return frame.assign(
        **told, ci_low=frame.confusion - 0.1, ci_high=frame.confusion + 0.1, chance=1.0, selected=selected
    )


def related(ratings: str = "men", heads: int = 12) -> pd.DataFrame:
    rows = {"model": "m", "step": pd.NA, "corpus": "sea", "split": "report", "ratings": ratings, "layer": 0}
    correlation = np.linspace(-0.6, 0.5, heads)
    frame = pd.DataFrame(
        {"head": range(heads), "correlation": correlation, "p_adjusted": np.where(correlation < -0.5, 0.01, 0.2)}
    )
    return frame.assign(
        **rows, n=1234, pairs=70, clusters=30, ci_low=correlation - 0.1, ci_high=correlation + 0.1, p=0.01
    )


def write_confusion(frame: pd.DataFrame, folder: Path) -> None:
    write_measures({"confusion": frame}, folder)


def write_relatedness(frame: pd.DataFrame, folder: Path) -> None:
    write_measures({"relatedness": frame}, folder)


def test_a_correlation_beyond_1_negative_bits_and_a_missing_column_are_refused(run_folder: Path) -> None:
    with pytest.raises(ValueError, match=r"relatedness.parquet: `correlation` lies outside \[-1, 1\]"):
        write_relatedness(related().assign(correlation=1.2), run_folder)
    with pytest.raises(ValueError, match=r"relatedness.parquet: `p_adjusted` lies outside \[0, 1\]"):
        write_relatedness(related().assign(p_adjusted=5.0), run_folder)
    with pytest.raises(ValueError, match=r"confusion.parquet: `confusion` is negative"):
        write_confusion(bits("all").assign(confusion=-0.5), run_folder)
    with pytest.raises(ValueError, match=r"confusion.parquet: column\(s\) chance missing"):
        write_confusion(bits("all").drop(columns="chance"), run_folder)


def test_layers_and_the_chosen_head_are_told_of_the_report_split(run_folder: Path) -> None:
    frames = [bits("verb"), bits("all"), bits("verb", "select"), bits("2 distractors", chosen=False, n=7)]
    write_confusion(pd.concat(frames), run_folder)
    found = confusions(Run.open(run_folder))
    assert found is not None
    told = found.rows
    assert [one.label for one in told] == ["all", "2 distractors", "verb"]
    assert told[0].layers == (0.7, 0.6)
    assert told[0].layer is not None
    assert told[0].head is not None
    assert (told[0].layer.text, told[0].head.text) == ("layer 2 0.60 [0.50, 0.70]", "2-1 0.40 [0.30, 0.50]")
    assert (told[1].layer, told[1].head, [mark.sign for mark in few_clusters(told[1].clusters)]) == (None, None, ["⚠"])


def test_the_strongest_correlations_are_told_whatever_their_sign(run_folder: Path) -> None:
    write_relatedness(related(), run_folder)
    found = relations(Run.open(run_folder))
    assert found is not None
    (told,) = found.rated
    assert [head.name for head in told.heads[:3]] == ["1-1", "1-2", "1-12"]
    assert len(told.heads) == SHOWN
    assert told.strongest.texts[0][2] == "[−0.70, −0.50]"
    assert told.summary == (
        "1,234 co-occurrences of rated word pairs within a sentence, 70 different pairs, in 30 documents. "
        "Heads with a significant correlation (corrected p below 0.05): 1 of 12."
    )


@pytest.mark.slow
def test_a_head_is_told_with_its_correlations_on_the_other_ratings(run_folder: Path) -> None:
    other = related("simlex").assign(correlation=np.linspace(0.3, -0.8, 12))[1:]
    write_relatedness(pd.concat([related(), other]), run_folder)
    found = relations(Run.open(run_folder))
    assert found is not None
    men, simlex = found.rated
    assert (men.ratings, men.others, simlex.others) == ("men", ("simlex",), ("men",))
    assert np.isnan(men.heads[0].others[0]), "head 1-1 has no rating there"
    assert simlex.heads[0].name == "1-12"
    assert simlex.heads[0].others == (0.5,)
    assert "rough" not in men.summary
    assert "in 3 documents. So few documents make the intervals rough. Heads" in replace(men, clusters=3).summary
    write_report(run_folder)
    markdown = (run_folder / "report/report.md").read_text("utf-8")
    assert "| corrected p | on simlex |\n|---|--:|---|--:|--:|\n| 1-1 | −0.60 | " in markdown
    assert "| 0.010 | – |\n| 1-2 |" in markdown


def test_a_run_without_them_has_no_section(written_run: Path) -> None:
    assert confusions(Run.open(written_run)) is None
    assert relations(Run.open(written_run)) is None


@pytest.mark.slow
def test_the_page_shows_them(run_folder: Path) -> None:
    write_confusion(bits('<b>"all"'), run_folder)
    write_relatedness(related().assign(correlation=NAN, p=NAN, p_adjusted=NAN, ci_low=NAN, ci_high=NAN), run_folder)
    page = write_report(run_folder).read_text("utf-8")
    assert "&lt;b&gt;" in page
    assert '<b>"all"' not in page
    markdown = (run_folder / "report/report.md").read_text("utf-8")
    assert "| least confused head |" in markdown
    assert "## Related words" in markdown
    assert "| 1-1 | – |" in markdown
