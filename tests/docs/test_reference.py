"""Pages that are made from the code: everything that exists has its entry, and what is told is what holds."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
import typer
from pydantic import Field

from experiments.claims.study import CLAIMS
from experiments.cli import app
from experiments.config.config import ModelSection
from experiments.config.section import ConfigTable
from experiments.run.config import RunConfig
from probes import probe_names
from reports.measures.registry import measure_tables


class Invented(ConfigTable):
    """Some table, see `mha.training.checkpoints.Schedule`."""

    count: int = Field(default=3, ge=1, lt=9)
    "How many | of [them]."
    kind: Literal["one", "two"] | None = None
    several: tuple[str, ...] = ("a", "b")
    model: ModelSection = ModelSection()
    path: Path


@pytest.fixture(scope="module")
def hooks(module: Callable[[str], ModuleType]) -> ModuleType:
    return module("hooks")


def test_every_key_of_a_config_has_an_entry_that_says_something(hooks: ModuleType) -> None:
    sections = [*hooks.sections(RunConfig), *(claim.section for claim in CLAIMS.values())]
    assert len(sections) > 30
    for section in sections:
        entries = hooks.keys(section).splitlines()[2:]
        assert [entry.split("`")[1] for entry in entries] == [*section.model_fields]
        for entry in entries:
            assert entry.removesuffix(" |").split(" | ")[-1].strip(), f"{section.__name__}: {entry}"
    assert "## \\[corpus.select], \\[corpus.report] { #corpus-select }\n" in hooks.config_page()


def test_an_entry_has_type_limits_default_and_text(hooks: ModuleType) -> None:
    count, kind, several, model, path = hooks.keys(Invented).splitlines()[2:]
    assert count.startswith(r"| `count` | whole number; ≥ 1; < 9 | `3` |")
    assert kind == '| `kind` | `"one"`, `"two"` |  |  |'
    assert several == '| `several` | list of: text | `["a", "b"]` |  |'
    assert model == "| `model` | [table](#model) |  | Which model is looked at. |"
    assert path.startswith("| `path` | path | required |")


def test_every_command_has_its_arguments_and_options(hooks: ModuleType) -> None:
    entries = dict(part.split("`\n", 1) for part in hooks.commands_page().split("\n## `headscope ")[1:])
    commands = typer.main.get_command(app).commands
    assert entries.keys() == commands.keys()
    for name, command in commands.items():
        shown = [one.name if one.param_type_name == "argument" else one.opts[0] for one in command.params]
        assert not [one for one in shown if one not in entries[name]]


def test_every_probe_has_its_docstring_variants_and_source(hooks: ModuleType) -> None:
    entries = dict(part.split("\n", 1) for part in hooks.probes_page().split("\n## ")[1:])
    assert [*entries] == [*probe_names()]
    wanted = ("```pycon\n>>> ", "| source |", "| needs |", "| variants |")
    assert not [name for name, entry in entries.items() if not all(one in entry for one in wanted)]


def test_every_table_and_column_has_results(hooks: ModuleType) -> None:
    files = {f"{name}.parquet" for name in (*measure_tables(), "scores", "examples", "behaviour", "biographies")}
    assert {*files, "compare.csv", "targets.csv"} <= hooks.TABLES.keys()
    sections = dict(part.split("\n", 1) for part in hooks.tables_page().split("\n## ")[1:])
    for name, declared in hooks.TABLES.items():
        rows = [line for line in sections[name].splitlines() if line.startswith("| `")]
        assert [row.split("`")[1] for row in rows] == [*declared.names]
    assert "Also as CSV. Rows differ in `model`, `step`" in sections["scores.parquet"]
    assert "| \\[0, 1\\] |" in sections["scores.parquet"]


def test_the_list_of_published_runs_says_what_each_found(hooks: ModuleType) -> None:
    page, found = hooks.published_page(), "20 of 72 heads are specialised in a linguistic role. None of the 20 is shown"
    assert f"Attention heads of minilm on ewt-dev | {found}" in page
    assert "**Of earlier controls.**" in page
    assert "held-out documents" not in page, "how much was measured is not what was found"
