"""Hooks of mkdocs: the pages that are made from the code, so that no fact stands in two places.

They are the reference of commands, configs, tables, terms, probes and the Python API, and the published runs.
"""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import griffe
import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.cli import get_docs_for_click

from experiments.claims.study import CLAIMS
from experiments.cli import app
from experiments.commands.listing import probes
from experiments.run.config import RunConfig
from experiments.run.measures import measure_types
from probes import get_probe, probe_names
from reports.compare.atlas_record import ATLAS_TABLES
from reports.compare.record import COMPARE_TABLES
from reports.compare.target_tables import TARGET_TABLES
from reports.measures.registry import run_tables
from reports.scores.glossary import MEANING
from reports.statements.claim_record import CLAIM_TABLES
from reports.statements.finding_record import FINDING_TABLES
from reports.statements.sandbox_record import SANDBOX_TABLES
from reports.tables.table import Table

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "reports" / "published"

INDEX = (PUBLISHED / "README.md").read_text(encoding="utf-8")
"What stands before the list of published runs."

EARLIER = re.findall(r"\]\((\S+)/report\.md\)", INDEX)
"The pages that it names: those of earlier controls."

MOVED = {
    **{"reports/published/": "published/", "reports/published)": "published/index.md)"},
    **{"CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md"},
    **{"experiments/cli.py": "reference/commands.md", "headscope/__init__.py": "reference/python.md"},
    "experiments/config/sections.py": "reference/config.md",
    "experiments/config/train_config.py": "reference/config.md#train",
    **{f"experiments/measures/{one.name}.py": f"reference/config.md#{one.name}" for one in measure_types()},
    "probes/__init__.py": "reference/probes.md",
    **{
        f"{type(get_probe(name)).__module__.replace('.', '/')}.py": f"reference/probes.md#{name}"
        for name in probe_names()
    },
    **{"reports/tables/scores.py": "reference/tables.md", "reports/scores/glossary.py": "reference/terms.md"},
}
"""Where files of the repository, or what is made of them, stand in the site; pages link to the files, so that their
links hold in both."""

SHOWN_FILES = (".png", ".svg", ".csv", ".parquet", ".html")
"Endings of the files of a published folder that its page or a reader may open."

NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
"Published pages hold thousands of numbers: with them the index would be ten times as long as all else."

TABLES: Mapping[str, Table] = {
    **{f"{name}.parquet": table for name, table in {**run_tables(), **ATLAS_TABLES}.items()},
    **{f"{name}.csv": table for name, table in {**COMPARE_TABLES, **TARGET_TABLES, **FINDING_TABLES}.items()},
    **{name.replace(".", ".json: ", 1): table for name, table in {**CLAIM_TABLES, **SANDBOX_TABLES}.items()},
}
"File, of a record with its list of rows -> what a row holds."

WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}
SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
KEYS = ("key", "type", "default", "what it says")


def on_config(config: MkDocsConfig) -> None:
    """Add the published runs to the contents."""
    runs = [{folder.name: f"published/{folder.name}/report.md"} for folder in _published()]
    config.nav = [*(config.nav or []), {"Published": ["published/index.md", *runs]}]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and the figures and tables of published pages where they lie."""
    for uri, made in PAGES.items():
        files.append(File.generated(config, uri, content=made()))
    for folder in _published():
        shown = sorted(path for path in folder.rglob("*") if path.suffix in SHOWN_FILES)
        linked = [path.name for path in shown if path.parent == folder]
        text = (folder / "report.md").read_text(encoding="utf-8")
        text = text.replace("\n", "\n\n> Of [earlier controls](../index.md).\n", int(folder.name in EARLIER))
        text += f"\nFiles: {', '.join(f'[{name}]({name})' for name in linked)}.\n" if linked else ""
        files.append(File.generated(config, f"published/{folder.name}/report.md", content=NOT_SEARCHED + text))
        for path in shown:
            uri = f"published/{path.relative_to(PUBLISHED).as_posix()}"
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Have links to files of the repository lead to their pages."""
    markdown = markdown.replace("](docs/", "](")
    for file, uri in MOVED.items():
        markdown = markdown.replace(f"](../{file}", f"]({uri}")
    return markdown


def on_page_content(html: str, **_: object) -> str:
    """Let the keyboard reach tables, which scroll where they are wider than the page."""
    return html.replace("<table>", '<table tabindex="0">')


def on_post_page(output: str, **_: object) -> str:
    """Name the dialog of the search, which the theme leaves without a name."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')


def _published() -> list[Path]:
    return sorted(path.parent for path in PUBLISHED.glob("*/report.md"))


def published_page() -> str:
    """Return the page that lists the published runs by their titles and what each found."""
    rows = []
    for folder in _published():
        text = (folder / "report.md").read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        rows.append((f"[{folder.name}]({folder.name}/report.md)<br>{title}", _found(text)))
    return f"{INDEX.replace('../../docs', '..')}\n{_table(('run', 'what was found'), rows)}\n"


def _found(report: str) -> str:
    """Return the first two sentences of a report, without that of how much was measured."""
    first = next((line for line in report.splitlines()[3:] if line and line[0] not in "#|!"), "")
    sentences = re.split(r"(?<=\.) (?=[A-Z0-9])", first.removeprefix("- "))
    return " ".join([one for one in sentences if not one.endswith("held-out documents.")][:2])


def commands_page() -> str:
    """Return the reference of the command line, as typer writes it."""
    group = typer.main.get_command(app)
    return get_docs_for_click(obj=group, ctx=typer.Context(group), name="headscope", title="Commands")


def config_page() -> str:
    """Return the reference of configs: every table and key, made from the models that read them."""
    parts = [
        "A config is a TOML file. A key that is not known here is refused, with the nearest one that is. Paths are "
        "relative to the config file. `--set key=value` changes a key for one run, with dots between tables. What a "
        "run decided, defaults included, stands in its `config.toml`."
    ]
    for section, paths in sections(RunConfig).items():
        names = ", ".join(rf"\[{path}]" for path in paths if path) or "At the top"
        parts += [f"## {names} {{ #{_anchor(section)} }}", prose(section.__doc__ or ""), keys(section)]
    parts += ["## Configs of claims", "A config of `headscope claim` names a claim in `claim`."]
    for name, claim in CLAIMS.items():
        parts += [f'### claim = "{name}" {{ #claim-{name} }}', prose(claim.sentence), keys(claim.section)]
    return _page("Configs", *parts)


@cache
def sections(model: type[BaseModel], path: str = "") -> dict[type[BaseModel], list[str]]:
    """Return a model and all that it has as tables, each with the dotted keys that lead to it."""
    found = {model: [path]}
    for key, field in model.model_fields.items():
        if inner := _section_of(field.annotation):
            for section, paths in sections(inner, f"{path}.{key}".lstrip(".")).items():
                found.setdefault(section, []).extend(paths)
    return found


def _section_of(annotation: Any) -> type[BaseModel] | None:
    options = get_args(annotation) or (annotation,)
    return next((one for one in options if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _anchor(section: type[BaseModel]) -> str:
    return sections(RunConfig)[section][0].replace(".", "-") or "top"


def keys(section: type[BaseModel]) -> str:
    """Return the table of the keys of a section."""
    rows = []
    for key, field in section.model_fields.items():
        inner = _section_of(field.annotation)
        kind = f"[table](#{_anchor(inner)})" if inner in sections(RunConfig) else _kind(field.annotation)
        bounds = [f"{SIGNS[n]} {getattr(one, n)}" for one in field.metadata for n in SIGNS if hasattr(one, n)]
        text = key_text(section, key) or (inner.__doc__ or "" if inner else "")
        rows.append((f"`{key}`", "; ".join([kind, *bounds]), _default(field), _escaped(text)))
    return _table(KEYS, rows)


def _kind(annotation: Any) -> str:
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{json.dumps(one)}`" for one in inside)
    if origin in (Union, types.UnionType):
        return " or ".join(_kind(one) for one in inside if one is not type(None))
    if origin is tuple:
        return f"list of: {_kind(inside[0])}"
    return WORDS.get(annotation, "table" if _section_of(annotation) else str(annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    empty = value is None or isinstance(value, BaseModel)
    return "" if empty else f"`{json.dumps(value, ensure_ascii=False, default=str)}`"


def key_text(section: type[BaseModel], key: str) -> str:
    """Return what is said under a key, or else in the module or class that the docstring of its section names."""
    named = re.findall(r"see `([\w.]+)\.(\w+)`", section.__doc__ or "")
    homes = [*section.__mro__, *(getattr(__import__(module, fromlist=[name]), name) for module, name in named)]
    places = (
        (one.__name__, key) if isinstance(one, types.ModuleType) else (one.__module__, one.__name__, key)
        for one in homes
    )
    return next(filter(None, (_docstring(*place) for place in places)), "")


def _docstring(module: str, *names: str) -> str:
    """Return the docstring of what has these names in a module of ours, values too; "" where there is none."""
    ours = module.partition(".")[0] in ("mha", "probes", "reports", "experiments", "headscope")
    found: Any = _module(module) if ours else None
    for name in names:
        found = found.members.get(name) if found else None
    return found.docstring.value if found is not None and found.docstring else ""


@cache
def _module(module: str) -> griffe.Module:
    path = ROOT / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return griffe.visit(module, path, path.read_text(encoding="utf-8"))


def shipped_page() -> str:
    """Return the page with the configs that come along, as they are."""
    folder = ROOT / "experiments" / "configs"
    parts = ["Each is a file under `experiments/configs`."]
    for path in sorted(folder.rglob("*.toml"), key=lambda path: (len(path.parts), path)):
        parts += [f"## {path.relative_to(folder)}", f"```toml\n{path.read_text(encoding='utf-8').strip()}\n```"]
    return _page("Configs that come along", *parts)


def tables_page() -> str:
    """Return the page of all tables: every column with its type, its meaning, and what it may hold."""
    parts = [
        "Every table of a run folder or an atlas lies there as Parquet and, where it says so, as CSV. Claims and the "
        "sandbox have lists of rows in a JSON record; a rate in them is an object of rate, low and high. Layer and "
        "head count from 0 in whole-number columns, from 1 in a head's name. Missing is NaN (null in a claim's "
        "record), with n = 0, and never 0."
    ]
    for name, declared in TABLES.items():
        also = "Also as CSV. " if declared.csv and name.endswith(".parquet") else ""
        differ = f"{also}Rows differ in {', '.join(f'`{column}`' for column in declared.key)}."
        rows = []
        for one in declared.columns:
            interval = f"interval {' to '.join(f'`{end}`' for end in one.interval)}" if one.interval else ""
            values = "; ".join(filter(None, (_escaped(one.values), interval)))
            rows.append((f"`{one.name}`", f"`{one.dtype}`", _escaped(one.meaning), values))
        parts += [f"## {name}", f"{_escaped(declared.about)} {differ}"]
        parts.append(_table(("column", "type", "meaning", "values"), rows))
    return _page("Tables", *parts)


def probes_page() -> str:
    """Return the page of all probes: what each asks, what the registry says of it, and its docstring with doctest."""
    rows = probes()
    listed = [(f"[{row['name']}](#{row['name']})", _escaped(row["asks"]), _escaped(row["needs"])) for row in rows]
    parts = [
        "A probe gives the gold answers and never sees attention; one scorer compares every head with them. "
        "`headscope list probes` prints what stands here; [Extending](../extending.md) shows how to add one. "
        "`probes.names` of a [config](config.md#probes) names the probes of a run.",
        _table(("probe", "what it asks", "needs"), listed),
    ]
    for row in rows:
        facts = [(key, _escaped(row[key])) for key in row if key not in ("name", "asks", "variants") and row[key]]
        kind = type(get_probe(row["name"]))
        options = str(inspect.signature(kind)).partition(" ->")[0]
        facts += [("variants", f"`{row['variants']}`"), ("in Python", f"`{kind.__module__}.{kind.__name__}{options}`")]
        parts += [f"## {row['name']}", prose(kind.__doc__ or ""), _table(("about", "what holds"), facts)]
    return _page("Probes", *parts)


def python_page() -> str:
    """Return the page of the Python API; mkdocstrings fills in the docstrings of what the rooms export."""
    parts = []
    for room in map(__import__, ("headscope", "mha", "probes", "reports")):
        parts += [f"## {room.__name__} {{ #{room.__name__} }}", prose(room.__doc__ or "")]
        parts += [f"::: {room.__name__}.{name}" for name in sorted(room.__all__, key=str.lower)]
    return _page("Python API", *parts)


def terms_page() -> str:
    """Return the terms of a run's page with their definitions."""
    terms = (part for term, meaning in MEANING.items() for part in (f"## {_escaped(term)}", _escaped(meaning)))
    return _page("Terms", "What the pages of runs say, in the order in which a reader meets it.", *terms)


def prose(text: str) -> str:
    """Return a docstring as Markdown: brackets are no links and stars no emphasis, but in code; doctests are fenced."""
    blocks = re.split(r"\n{2,}", inspect.cleandoc(text))
    return "\n\n".join(f"```pycon\n{one}\n```" if one.startswith(">>>") else _escaped(one) for one in blocks)


def _escaped(text: str) -> str:
    spans = re.split(r"(`[^`]*`)", text)
    return "".join(span if span.startswith("`") else re.sub(r"([\[\]*_<])", r"\\\1", span) for span in spans)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table in Markdown; a bar in a cell does not end it."""
    lines = [head, ("---",) * len(head), *rows]
    cells = ((" ".join(text.split()).replace("|", r"\|") for text in line) for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *parts]) + "\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/config.md": config_page,
    "reference/shipped.md": shipped_page,
    "reference/tables.md": tables_page,
    "reference/probes.md": probes_page,
    "reference/python.md": python_page,
    "reference/terms.md": terms_page,
    "published/index.md": published_page,
    "contributing.md": lambda: (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
    "changes.md": lambda: NOT_SEARCHED + (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
}
"Place in the site -> what makes the page."
