"""Pages of the documentation that are made from the code, so that no fact stands in two places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer
from markdown_text import escaped, prose, table

from experiments.cli import app
from experiments.commands.listing import Rows
from probes import get_probe
from reports.atlas.tables import ATLAS_TABLES
from reports.claims.tables import CLAIM_TABLES
from reports.compare.tables import COMPARE_TABLES
from reports.findings.record import VERDICTS, read_findings
from reports.findings.tables import FINDING_TABLES
from reports.page.columns import run_tables
from reports.sandbox.tables import SANDBOX_TABLES
from reports.scores.glossary import MEANING
from reports.tables.column import Column
from reports.tables.table import Table
from reports.targets.tables import TARGET_TABLES

ROOMS = ("mha", "probes", "reports")
"Packages whose exported names are the Python API."

RECORD_TABLES = {**CLAIM_TABLES, **SANDBOX_TABLES}
"Place of a list in a JSON record -> what its rows must hold."


def probe_page(row: Mapping[str, Any]) -> str:
    """Return the page of a probe: what it asks, the facts that the registry has, and its docstring with the doctest."""
    probe = type(get_probe(row["name"]))
    facts = [(key, escaped(str(row[key]))) for key in row if key not in ("name", "asks", "variants") and row[key]]
    variants = "\n".join(f"- `{variant}`" for variant in probe.variants)
    options = [(f"`{field.name}`", f"`{field.type}`", f"`{field.default!r}`") for field in fields(probe)]  # type: ignore[arg-type]  # every probe is a dataclass
    parts = [f"# {row['name']}", prose(probe.__doc__ or ""), "## Variants", variants, "## Facts"]
    parts += [table(("about", "what holds"), facts)]
    if options:
        parts += ["## In Python", table(("option", "type", "default"), options)]
    parts += [
        "## Where to read on",
        f"The source is `{probe.__module__.replace('.', '/')}.py`. [What a head score means](../concepts.md) says how "
        f"answers are counted, `probes.names` of a [config](../reference/config.md#probes) names the probes of a run.",
    ]
    return "\n\n".join(parts) + "\n"


def probes_page(rows: Rows) -> str:
    """Return the page that lists all probes."""
    lines = [(f"[{row['name']}]({row['name']}.md)", escaped(row["asks"]), escaped(row["needs"])) for row in rows]
    return (
        "# Probes\n\nA probe says what would be right and never sees attention; one scorer holds every head against it."
        " `headscope list probes` prints what stands here; [step by step](../extending.md) shows how to add one.\n\n"
        + table(("probe", "what it asks", "needs"), lines)
        + "\n"
    )


def commands_page() -> str:
    """Return the reference of the command line, made from the commands themselves."""
    group = typer.main.get_command(app)
    commands: Mapping[str, Any] = group.commands  # type: ignore[attr-defined]  # typer's group has them
    parts = [
        "# Commands",
        prose(group.help or ""),
        "`headscope COMMAND --help` prints the same. A mistake ends with one line and exit code 2.",
    ]
    for name, command in commands.items():
        parts += [f"## {name}", prose(command.help or ""), f"```text\nheadscope {name} {_usage(command.params)}\n```"]
        parts.append(table(("name", "what it says", "default"), [_parameter(one) for one in command.params]))
    return "\n\n".join(parts) + "\n"


def _usage(parameters: list[Any]) -> str:
    """Return the arguments of a command in order, in brackets where they may be left out."""
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    named = [one.name.upper() + "..." * (one.nargs == -1) for one in arguments]
    pieces = [name if one.required else f"[{name}]" for one, name in zip(arguments, named, strict=True)]
    return " ".join(["[OPTIONS]", *pieces])


def _parameter(parameter: Any) -> tuple[str, str, str]:
    argument = parameter.param_type_name == "argument"
    name = parameter.name.upper() if argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
    told = escaped((parameter.help or "").replace("\\[", "["))  # a bracket is marked for rich
    given = parameter.default
    default = "required" if parameter.required else "" if given in (None, False, "", ()) else f"`{given}`"
    return f"`{name}`", told, default


def tables_page() -> str:
    """Return the page of all tables: every column with its type, its meaning, and what it may hold."""
    parts = [
        "# Tables",
        "Every table of a run folder or an atlas lies there as Parquet and, where it says so, as CSV; those of "
        "comparisons, targets and findings are CSV alone. Claims and the sandbox have lists of rows in a JSON record;"
        " a rate in them is an object of rate, low and high. Layer and head count from 0 in whole-number columns, "
        "from 1 in a head's name. Missing is NaN (null in a claim's record), with n = 0, and never 0.",
    ]
    for name, declared in all_tables().items():
        parts += [f"## {name}", escaped(declared.about), _files_and_key(name, declared)]
        parts.append(table(("column", "type", "meaning", "values"), [_column(one) for one in declared.columns]))
    return "\n\n".join(parts) + "\n"


def all_tables() -> dict[str, Table]:
    """Return every table by its file: runs, comparisons, targets, atlases, findings, claims, sandbox."""
    return {**run_tables(), **COMPARE_TABLES, **TARGET_TABLES, **ATLAS_TABLES, **FINDING_TABLES, **RECORD_TABLES}


def _files_and_key(name: str, declared: Table) -> str:
    """Say in which files the table lies, and which columns tell its rows apart."""
    if name in RECORD_TABLES:
        file, _, place = name.partition(".")
        return f"In `{file}.json`, list `{place}`; rows differ in {_named(declared.key)}."
    forms = ("parquet", "csv") if name in run_tables() or name in ATLAS_TABLES else ("csv",)
    files = " and ".join(f"`{name}.{form}`" for form in forms if form == "parquet" or declared.csv)
    return f"In {files}; rows differ in {_named(declared.key)}."


def _named(columns: Iterable[str]) -> str:
    return ", ".join(f"`{column}`" for column in columns)


def _column(column: Column) -> tuple[str, str, str, str]:
    interval = " to ".join(f"`{end}`" for end in column.interval or ())
    values = "; ".join(part for part in (escaped(column.values), interval and f"interval {interval}") if part)
    return f"`{column.name}`", f"`{column.dtype}`", escaped(column.meaning), values


def python_page() -> str:
    """Return the page of the Python API; mkdocstrings fills in the docstrings of what the rooms export."""
    parts = ["# Python API"]
    for room in ROOMS:
        module = __import__(room)
        parts += [f"## {room} {{ #{room} }}", prose(module.__doc__ or "")]
        parts += [f"::: {room}.{name}" for name in sorted(module.__all__, key=str.lower)]
    return "\n\n".join(parts) + "\n"


def terms_page() -> str:
    """Return the terms of a run's page with their definitions."""
    parts = [part for term, meaning in MEANING for part in (f"## {escaped(term)}", escaped(meaning))]
    return (
        "\n\n".join(["# Terms", "What the pages of runs say, in the order in which a reader meets it.", *parts]) + "\n"
    )


def verdicts(folder: Path) -> str:
    """Return how many findings have which verdict for each model, from the record in `folder`."""
    counts = read_findings(folder).counts
    return table(("model", *VERDICTS), [(model, *(str(of[one]) for one in VERDICTS)) for model, of in counts.items()])
