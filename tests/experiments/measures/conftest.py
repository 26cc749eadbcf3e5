"""A run folder that tables of measures can be written into, and what a page then says."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments.run.measure import Measure
from reports import Run
from reports.measures.registry import measure_tables
from tests.experiments.measures.pages import ONE_RUN
from tests.reports.conftest import write_run


@pytest.fixture(scope="session")
def bare_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run folder without any measure; not to be changed."""
    return write_run(tmp_path_factory.mktemp("bare") / "minilm-ewt")


@pytest.fixture(scope="session")
def measured(bare_run: Path) -> Callable[..., Run]:
    """Return the function that gives the run these tables, as they are declared, and facts of measures by name."""
    bare = Run.open(bare_run)

    def measured(facts: Mapping[str, Any] | None = None, **tables: pd.DataFrame) -> Run:
        whole = {name: frame.assign(**{**ONE_RUN, **frame}).reset_index(drop=True) for name, frame in tables.items()}
        held = {name: measure_tables()[name].validated(frame, name) for name, frame in whole.items()}
        return replace(bare, tables=held, record=replace(bare.record, facts=facts or {}))

    return measured


def told(measure: type[Measure], run: Run) -> str:
    """Return the section of a measure in Markdown, without its escapes; minus signs are hyphens."""
    return "\n\n".join(block.markdown for block in measure.page(run)).replace("−", "-").replace("\\", "")
