"""Pages of the documentation that are made from the code, so that no fact stands in two places."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer
from markdown_text import docstring, escaped, prose, table

from experiments.cli import app
from experiments.commands.listing import Rows
from probes import get_probe
from reports.findings.record import VERDICTS, read_findings
from reports.run import biography_tables
from reports.scores.glossary import MEANING
from reports.studies.tables import STUDY_TABLES
from reports.tables import columns

ROOMS = ("mha", "probes", "reports")
"Packages whose exported names are the Python API."


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
    """Return the page of all tables of a run folder: every column with its type."""
    parts = [
        "# Tables",
        "Every table of a run folder lies there as Parquet and, but for examples, as CSV. Layer and head count from 0 "
        "in whole-number columns, from 1 in a head's name. Missing is NaN, with n = 0, and never 0.",
    ]
    for name, (told, listed, key) in run_tables().items():
        parts += [f"## {name}", prose(re.sub(r"^Column -> dtype of \w+\.parquet, (.)", _capital, told))]
        if key:
            parts.append(f"One row for each {', '.join(f'`{one}`' for one in key)}.")
        parts.append(table(("column", "type"), [(f"`{column}`", f"`{kind}`") for column, kind in listed.items()]))
    return "\n\n".join(parts) + "\n"


def _capital(start: re.Match[str]) -> str:
    return start[1].upper()


def run_tables() -> dict[str, tuple[str, Mapping[str, str], tuple[str, ...]]]:
    """Return every table: what is said of it, its columns, and those that tell its rows apart where they are known."""
    found: dict[str, tuple[str, Mapping[str, str], tuple[str, ...]]] = {}
    for name, listed in vars(columns).items():
        if name.endswith("_COLUMNS"):
            told = docstring(columns.__name__, name)
            file = re.search(r"(\w+)\.parquet", told)
            assert file is not None, f"the docstring of {name} names no file"
            found[file[1]] = (told, listed, columns.ROW_KEY if file[1] == "scores" else ())
    for name, study in STUDY_TABLES.items():
        found[name] = (_said_of(study.columns), study.columns, study.key)
    told = docstring(biography_tables.__name__, "TABLES").partition(". ")[2]
    return found | {name: (told, listed, ()) for name, listed in biography_tables.TABLES.items()}


def _said_of(listed: Mapping[str, str]) -> str:
    """Return the docstring of the constant that holds these columns, where it has one."""
    for name, module in sys.modules.items():
        if name.startswith("reports."):
            for constant, value in vars(module).items():
                if value is listed and (told := docstring(name, constant)):
                    return told
    return ""


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
