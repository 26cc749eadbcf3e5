"""Pages that are made from the code: everything that exists has its entry, and what is told is what holds."""

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


def test_a_key_is_told_in_its_own_place_or_in_that_which_its_table_names(hooks: ModuleType) -> None:
    assert hooks.key_text(EncoderSection, "positions").startswith("Longest input in pieces; the length of the rows")
    assert hooks.key_text(EncoderSection, "model") == "Size of the vectors between layers."
    assert hooks.key_text(TrainSection, "rows").startswith("Packed rows a step")
    assert hooks.key_text(Invented, "count") == ""  # of a module that is none of ours


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


def test_every_table_and_column_is_told(hooks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{name}.parquet" for name in (*measure_tables(), "scores", "examples", "behaviour", "biographies")}
    assert {*files, "compare.csv", "targets.csv"} <= hooks.TABLES.keys()
    sections = dict(part.split("\n", 1) for part in hooks.tables_page().split("\n## ")[1:])
    for name, declared in hooks.TABLES.items():
        rows = [line for line in sections[name].splitlines() if line.startswith("| `")]
        assert [row.split("`")[1] for row in rows] == [*declared.names]
    assert "Also as CSV. Rows differ in `model`, `step`" in sections["scores.parquet"]
    more = replace(SCORES, columns=(fraction("brightness", "Share of the light that is left."),), key=())
    monkeypatch.setattr(hooks, "TABLES", {"scores.parquet": more})
    assert "| `brightness` | `float64` | Share of the light that is left. | \\[0, 1\\] |" in hooks.tables_page()


def test_docstrings_are_no_markup(hooks: ModuleType) -> None:
    text = "A [b] *c* `d[e]` <f>.\n\n    >>> 1\n    1\n"
    assert hooks.prose(text) == "A \\[b\\] \\*c\\* `d[e]` \\<f>.\n\n```pycon\n>>> 1\n1\n```"
