"""Every column has a meaning, and what is declared of a column is wherever its table is."""

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from reports import Run, write_report
from reports.atlas.tables import ATLAS_TABLES
from reports.compare.tables import COMPARE_TABLES
from reports.page import columns
from reports.page.columns import meaning, run_tables, tables_of
from reports.page.dataset_card import dataset_card
from reports.scores.glossary import MEANING
from reports.statements.claim_tables import CLAIM_TABLES
from reports.statements.finding_record import FINDING_TABLES
from reports.statements.sandbox_tables import SANDBOX_TABLES
from reports.tables.scores import SCORES
from reports.tables.shared_columns import fraction
from reports.tables.table import Table
from reports.targets.tables import TARGET_TABLES
from reports.templates.environment import FILES

EVERY: Mapping[str, Table] = {
    **run_tables(),
    **COMPARE_TABLES,
    **TARGET_TABLES,
    **ATLAS_TABLES,
    **FINDING_TABLES,
    **CLAIM_TABLES,
    **SANDBOX_TABLES,
}


@pytest.mark.parametrize("name", EVERY)
def test_every_column_has_a_meaning_in_a_sentence(name: str) -> None:
    table = EVERY[name]
    assert table.about.endswith(".")
    for column in table.columns:
        assert column.meaning.endswith("."), column.name
        assert not re.search(r"\bnan\b|\bnone\b", column.meaning, re.IGNORECASE), column.name  # pages show a dash
        assert len(column.meaning.split()) > 2, column.name
        assert column.meaning.strip(".").lower() not in (column.name, column.heading)
    assert len({column.meaning for column in table.columns}) == len(table.columns)


@pytest.mark.parametrize("name", EVERY)
def test_keys_and_intervals_are_of_declared_columns(name: str) -> None:
    table = EVERY[name]
    named = [*table.key, *(end for column in table.columns for end in column.interval or ())]
    assert table.key
    assert {*named} <= {*table.names}
    assert len({*table.names}) == len(table.columns)


def test_terms_that_are_columns_begin_with_what_the_column_means() -> None:
    terms = dict(MEANING)
    for column in ("accuracy", "mass", "coverage", "share", "margin", "stability", "near_ties"):
        assert terms[column.replace("_", " ")].startswith(SCORES.meaning(column) + " ")


def test_a_column_or_table_that_is_not_declared_has_no_meaning() -> None:
    assert (meaning("scores", "own"), meaning("own", "n")) == ("", "")


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> Table:
    """Declare one more column of scores.parquet."""
    brightness = fraction("brightness", "Share of the light that is left.")
    table = replace(SCORES, columns=(*SCORES.columns, brightness))
    tables = {**run_tables(), "scores": table}
    monkeypatch.setattr(columns, "run_tables", lambda: tables)
    return table


def test_a_declared_column_is_checked_written_and_shown_everywhere(
    more: Table, scores: pd.DataFrame, written_run: Path, tmp_path: Path
) -> None:
    frame = scores.head(3).assign(brightness=[0.0451, 0.25, np.nan])
    with pytest.raises(ValueError, match=r"column\(s\) brightness missing"):
        more.validated(scores, "scores.parquet")
    with pytest.raises(ValueError, match=r"`brightness` lies outside \[0, 1\]"):
        more.validated(frame.assign(brightness=45.1), "scores.parquet")
    more.write(frame, tmp_path, "scores")
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()[0].endswith(",layer_attention,brightness")
    assert list(pd.read_parquet(tmp_path / "scores.parquet"))[-1] == "brightness"
    shown = more.shown(frame, "Scores")
    terminal = io.StringIO()
    Console(width=1200, file=terminal).print(shown)
    for found in (shown._repr_html_(), shown.markdown(), shown.latex(), str(shown), terminal.getvalue()):
        assert "brightness, " in found
        assert "4.5" in found
    assert '<th title="Share of the light that is left.">brightness, %</th>' in shown._repr_html_()
    assert meaning("scores", "brightness") == "Share of the light that is left."
    card = dataset_card(Run.open(written_run), "scores", [*frame.columns, "own"], {"all": 3})
    assert "- `brightness`: Share of the light that is left.\n- `own`\n" in card


@pytest.mark.slow
def test_the_page_has_the_meanings_of_the_columns_of_its_tables(more: Table, run_folder: Path) -> None:
    report = write_report(run_folder).parent
    html, markdown = ((report / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
    held = tables_of(Run.open(run_folder))
    assert f"<summary>Columns of the {len(held)} tables of this run</summary>" in html
    assert all(f"<h3>{name}</h3>" in html for name in held)
    assert "<dt>brightness</dt><dd>Share of the light that is left.</dd>" in html
    assert "- **brightness**: Share of the light that is left." in markdown
    assert all(
        "brightness" not in path.read_text(encoding="utf-8") for name, path in FILES.items() if name.endswith(".j2")
    )
