"""Mixing in a run: asked for by the config, and its tables."""

from collections.abc import Callable

import pytest

from probes.mixing import measure, rank, ratios
from reports import Run
from reports.studies.mixing import tables

pytestmark = pytest.mark.slow

Scored = Callable[..., Run]


def test_a_run_that_does_not_ask_has_none(scored: Scored) -> None:
    assert "mixing" not in scored().studies


def test_the_measures_of_the_table_are_those_that_are_measured() -> None:
    assert (tables.RATIOS, tables.STATES, tables.IDENTIFIED) == (ratios.RATIOS, rank.PASSES, measure.IDENTIFIED)


def test_every_key_is_followed(scored: Scored) -> None:
    few, more = (scored(f"mixing.texts={texts}").studies for texts in (4, 8))
    for name, table in tables.MIXING_TABLES.items():
        assert tuple(few[name].columns) == table.names
    assert few["mixing"].n.max() < more["mixing"].n.max()
