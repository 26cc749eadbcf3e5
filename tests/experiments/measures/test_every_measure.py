"""What holds for every measure: how it is declared, found and told; what it measures is tested beside its kernel."""

from collections.abc import Callable
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import pytest

from experiments.run.config import RunConfig
from experiments.run.measure import Measure
from experiments.run.measures import in_order, measure_types
from reports import Run
from reports.measures.registry import MeasureError, use
from reports.tables.table import Table

if TYPE_CHECKING:
    from experiments.run.context import RunContext

MEASURES = {one.name: one for one in measure_types()}
HOSTILE = "<b>&amp;</b>|*x*"
"A text that neither HTML nor Markdown may take for markup."


def made_up(table: Table, rows: int = 4) -> pd.DataFrame:
    """Return rows that a table allows, of heads 1-1 to 2-2, with hostile texts wherever any text is allowed.

    A column of the key has all its choices, others their last one.
    """
    made = {}
    for column in table.columns:
        if column.dtype == "str":
            made[column.name] = [*column.choices[-1:]] * rows if column.choices else [HOSTILE] * rows
        elif column.dtype == "bool":
            made[column.name] = [True] * rows
        elif column.dtype == "object":
            made[column.name] = [[] for _ in range(rows)]
        else:
            low, high = column.bounds or (0.0, 1.0)
            made[column.name] = [low if high < 1 else min(max(low, 1.0), high)] * rows
    heads = {"layer": np.arange(rows) // 2, "head": np.arange(rows) % 2}
    known = {name: values for name, values in heads.items() if name in made}
    frame = pd.DataFrame({**made, **known}).astype(dict(table.dtypes))
    for column in table.columns:
        if column.choices and column.name in table.key:
            frame = frame.drop(columns=column.name).merge(pd.DataFrame({column.name: column.choices}), how="cross")
    if {"layer", "head", "name"} <= {*frame}:
        frame["name"] = (frame.layer + 1).astype(str) + "-" + (frame["head"] + 1).astype(str)
    return frame.drop_duplicates([*table.key]).reset_index(drop=True)


@pytest.mark.parametrize("name", MEASURES)
def test_its_keys_are_a_table_of_the_config_and_its_methods_name_such_keys(name: str) -> None:
    measure = MEASURES[name]
    assert name in RunConfig.model_fields or not measure.model_fields
    for method in measure.methods:
        assert {*method.tables} <= {*measure.tables}
        keys = {key for _, key, *_ in Formatter().parse(method.sentences) if key}
        field = RunConfig.model_fields.get(method.section or name)
        section = field.annotation if field else None
        kinds = getattr(section, "__args__", (section,))  # a table that may be missing, or one
        assert keys <= {key for kind in kinds for key in getattr(kind, "model_fields", ())}


@pytest.mark.parametrize("name", MEASURES)
def test_a_run_that_did_not_measure_it_says_nothing_of_it(name: str, bare_run: Path) -> None:
    run, measure = Run.open(bare_run), MEASURES[name]
    for table in measure.tables:
        assert table not in run.tables
    assert not measure.has_results(run)
    assert [*measure.written(run, run.settings)] == []


@pytest.mark.parametrize("name", [name for name, one in MEASURES.items() if one.switch])
def test_it_is_not_measured_while_its_switch_is_off(name: str) -> None:
    measure, run = MEASURES[name], cast("RunContext", None)
    off = type(getattr(measure(), measure.switch))()
    assert not measure(**{measure.switch: off}).wanted(run)


def test_keys_of_a_table_that_asks_for_nothing_are_refused() -> None:
    kind = MEASURES["heads"]
    with pytest.raises(ValueError, match=r"groups, words: nothing is measured without texts or relations"):
        kind(groups=3, words=9)
    for fine in ({"words": 9, "relations": 2}, {"groups": 3, "texts": 0}, {"groups": 0}):
        kind(**fine)
    for name, message, keys in (
        ("ablation", "ways: nothing is measured without behaviours or downstream", {"ways": ("mean",)}),
        ("explanation", "classifiers: nothing is measured without sentences", {"classifiers": 9}),
    ):
        with pytest.raises(ValueError, match=message):
            MEASURES[name](**keys)
    MEASURES["ablation"](downstream=2, ways=("mean",))
    MEASURES["classifiers"](parser=True, sentences=9)
    MEASURES["shapes"](threshold=2.0)  # on by default


@pytest.mark.parametrize("name", MEASURES)
def test_what_its_tables_say_cannot_be_markup(name: str, measured: Callable[..., Run]) -> None:
    measure = MEASURES[name]
    blocks = [*measure.page(measured(**{table: made_up(declared) for table, declared in measure.tables.items()}))]
    html, markdown = "".join(one.html for one in blocks), "\n".join(one.markdown for one in blocks)
    assert "<b>&amp;" not in html
    assert "|*x*" not in markdown


def test_tables_sections_and_places_are_told_apart() -> None:
    tables = [table for one in MEASURES.values() for table in one.tables]
    assert len({*tables}) == len(tables)
    places = [one.place for one in MEASURES.values() if one.title]
    assert len({*places}) == len(places)


def test_a_measure_comes_after_those_that_it_needs() -> None:
    found = [*in_order(measure_types())]
    for one in found:
        assert all(found.index(other) < found.index(one) for other in one.needs)

    class One(Measure):
        name = "one"

    class Other(Measure):
        name = "other"
        needs = (One,)

    One.needs = (Other,)
    with pytest.raises(MeasureError, match="need the results of each other: one, other"):
        [*in_order([One, Other])]


def test_a_file_without_a_measure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match=r"none\.py: no such file"):
        use(tmp_path / "none.py")
    (tmp_path / "empty.py").write_text("x = 1\n")
    with pytest.raises(MeasureError, match=r"empty\.py: no measure in it"):
        use(tmp_path / "empty.py")
    (tmp_path / "broken.py").write_text("import nowhere\n")
    with pytest.raises(MeasureError, match=r"broken\.py: it cannot be loaded \(ModuleNotFoundError"):
        use(tmp_path / "broken.py")
