"""Pages that are made from the code: everything that exists has its entry, and what is told is what holds."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
import typer
from pydantic import Field

from experiments.claims.run.registry import CLAIMS
from experiments.cli import app
from experiments.config.config import ModelSection
from experiments.config.section import ConfigTable
from experiments.config.train_config import EncoderSection, TrainSection
from experiments.run.config import RunConfig
from probes import probe_names
from reports.measures.registry import measure_tables
from reports.tables.scores import SCORES
from reports.tables.shared_columns import fraction

Load = Callable[[str], ModuleType]


class Invented(ConfigTable):
    """Some table, see `mha.training.checkpoints.Schedule`."""

    count: int = Field(default=3, ge=1, lt=9)
    "How many | of [them]."
    kind: Literal["one", "two"] | None = None
    several: tuple[str, ...] = ("a", "b")
    model: ModelSection = ModelSection()
    path: Path


def test_every_key_of_a_config_has_an_entry_that_says_something(module: Load) -> None:
    reference = module("config_reference")
    page = reference.config_page()
    sections = [*reference.tables(RunConfig), *(claim.section for claim in CLAIMS.values())]
    assert len(sections) > 30
    for section in sections:
        entries = reference.keys(section).splitlines()[2:]
        assert [entry.split("`")[1] for entry in entries] == [*section.model_fields]
        for entry in entries:
            assert entry.removesuffix(" |").split(" | ")[-1].strip(), f"{section.__name__}: {entry}"
    assert "## \\[corpus.select], \\[corpus.report] { #corpus-select }\n" in page
    assert all(rf"\[{name}]" in page for name in ("model", "train.held_out", "train.encoder", "gates", "biographies"))


def test_an_entry_has_type_limits_default_and_text(module: Load) -> None:
    count, kind, several, model, path = module("config_reference").keys(Invented).splitlines()[2:]
    assert count.startswith(r"| `count` | whole number; ≥ 1; < 9 | `3` |")
    assert kind == '| `kind` | `"one"`, `"two"` |  |  |'
    assert several == '| `several` | list of: text | `["a", "b"]` |  |'
    assert model == "| `model` | [table](#model) |  | Which model is looked at. |"
    assert path.startswith("| `path` | path | required |")


def test_a_key_is_told_in_its_own_place_or_in_that_which_its_table_names(module: Load) -> None:
    told = module("config_reference").key_text
    assert told(EncoderSection, "positions").startswith("Longest input in pieces; the length of the rows")
    assert told(EncoderSection, "model") == "Size of the vectors between layers."
    assert told(TrainSection, "rows").startswith("Packed rows a step")
    assert told(CLAIMS["loop"].section, "rounds") == "How often every contestant is timed."
    assert told(Invented, "count") == ""  # of a module that is none of ours


def test_every_command_has_its_arguments_and_options(module: Load) -> None:
    page = module("reference").commands_page()
    commands = typer.main.get_command(app).commands
    for name, command in commands.items():
        _, _, entry = page.partition(f"\n## {name}\n")
        entry = entry.partition("\n## ")[0]
        for parameter in command.params:
            shown = parameter.name.upper() if parameter.param_type_name == "argument" else parameter.opts[0]
            assert f"| `{shown}" in entry, f"{name}: {shown}"
    assert "headscope view [OPTIONS]" in page
    assert "headscope profile [OPTIONS] FOLDERS...\n" in page
    assert "headscope flow [OPTIONS] [TEXT]\n" in page
    assert r"A TOML config with \[train\], or the name of one that comes with headscope: scratch." in page


@pytest.mark.parametrize("name", probe_names())
def test_the_page_of_a_probe_has_its_docstring_variants_and_source(module: Load, name: str) -> None:
    from experiments.commands.listing import probes

    row = next(row for row in probes() if row["name"] == name)
    page = module("reference").probe_page(row)
    assert page.startswith(f"# {name}\n")
    assert "```pycon\n>>> " in page
    assert all(f"- `{variant}`" in page for variant in row["variants"].split(", "))
    assert "| source |" in page
    assert "| needs |" in page


def test_every_table_and_column_of_a_run_folder_is_told(module: Load) -> None:
    reference = module("reference")
    tables = reference.all_tables()
    assert {
        *measure_tables(),
        "scores",
        "examples",
        "metrics",
        "behaviour",
        "biographies",
        "compare",
        "targets",
    } <= tables.keys()
    sections = dict(part.split("\n", 1) for part in reference.tables_page().split("\n## ")[1:])
    assert [*sections] == [*tables]
    for name, declared in tables.items():
        rows = [line for line in sections[name].splitlines() if line.startswith("| `")]
        assert [row.split("`")[1] for row in rows] == [*declared.names]
        assert all(row.split(" | ")[2].endswith(".") for row in rows)
    assert "In `scores.parquet` and `scores.csv`; rows differ in `model`, `step`" in sections["scores"]
    assert "In `examples.parquet`; " in sections["examples"]
    assert "| select, report |" in sections["scores"]
    assert "| \\[0, 1\\]; interval `ci_low` to `ci_high` |" in sections["scores"]


def test_a_declared_column_is_on_the_page_of_tables(module: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = module("reference")
    more = replace(SCORES, columns=(*SCORES.columns, fraction("brightness", "Share of the light that is left.")))
    monkeypatch.setattr(reference, "run_tables()", {"scores": more})
    line = r"| `brightness` | `float64` | Share of the light that is left. | \[0, 1\] |"
    assert line in reference.tables_page().splitlines()


def test_docstrings_are_no_markup(module: Load) -> None:
    text = module("markdown_text")
    assert text.prose("A [b] *c* `d[e]` <f>.\n\n    >>> 1\n    1\n") == (
        "A \\[b\\] \\*c\\* `d[e]` \\<f>.\n\n```pycon\n>>> 1\n1\n```"
    )
    assert text.table(("a", "b"), [("x|y", "z\n  w")]).splitlines()[2] == r"| x\|y | z w |"


def test_a_notebook_becomes_a_page(module: Load, tmp_path: Path) -> None:
    outputs = [
        {"data": {"text/html": ["<b>", "1</b>"], "text/plain": "1"}},
        {"data": {"image/png": "iVBO\n", "text/plain": "<Figure>"}},
        {"name": "stdout", "text": ["two\n"]},
        {"data": {"application/json": {"a": 1}, "text/plain": ["3"]}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {"cell_type": "code", "source": "one()", "outputs": outputs},
        {"cell_type": "code", "source": "", "outputs": []},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    page = module("notebook").notebook_page(tmp_path / "a.ipynb")
    assert page == (
        '# Title\nwords\n\n```python\none()\n```\n\n<div class="output">\n<b>1</b>\n</div>\n\n'
        "![what the code above draws](data:image/png;base64,iVBO)\n\n```text\ntwo\n```\n\n```text\n3\n```\n"
    )
