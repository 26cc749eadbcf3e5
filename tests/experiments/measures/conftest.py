"""A run folder that tables of measures can be written into, and what a page then says."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from experiments.run.measure import Measure
from reports import Run, write_measures
from tests.reports.conftest import write_run

Told = Callable[..., str]
"Takes a measure and tables by name; returns its section in Markdown."


@pytest.fixture(scope="session")
def bare_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run folder without any measure; not to be changed."""
    return write_run(tmp_path_factory.mktemp("bare") / "minilm-ewt")


@pytest.fixture
def measured(bare_run: Path, tmp_path: Path) -> Callable[..., Run]:
    """Return the function that opens a run that holds these tables."""

    def measured(**tables: pd.DataFrame) -> Run:
        folder = shutil.copytree(bare_run, tmp_path / "measured", dirs_exist_ok=True)
        write_measures(tables, folder)
        return Run.open(folder)

    return measured


def told(measure: type[Measure], run: Run) -> str:
    """Return the section of a measure in Markdown, without its escapes; minus signs are hyphens."""
    return "\n\n".join(block.markdown for block in measure.page(run)).replace("−", "-").replace("\\", "")
