"""Hooks of mkdocs: pages that are made, and not written, are added to the site and its contents.

mkdocs has the modules beside this file on the path while it reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import folder_layers
import way_of_a_number
from config_reference import config_page, shipped_page
from markdown_text import ROOT, table
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from notebook import notebook_page
from reference import commands_page, probe_page, probes_page, python_page, tables_page, terms_page, verdicts

from experiments.commands.listing import probes
from probes import probe_names

PUBLISHED = ROOT / "reports" / "published"
NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"

MOVED = {"reports/published/": "published/", "CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md"}
"Where files of the repository stand in the site; pages link to the files, so that their links hold in both."

NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
"Published pages hold thousands of numbers: with them the index would be ten times as long as all else."


PLACES: dict[str, Callable[[], str]] = {
    "verdicts": lambda: verdicts(PUBLISHED / "findings"),
    "way": way_of_a_number.drawing,
    "stations": way_of_a_number.stations,
    "callers": way_of_a_number.callers,
    "layers": folder_layers.drawing,
    "imports": folder_layers.imports,
}
"What is made from the code and stands in a page that somebody wrote, in the place of a comment of that name."


def on_config(config: MkDocsConfig) -> None:
    """Add what is found to the contents: the notebook, a page a probe, a page a published run."""
    contents = config.nav or []
    if NOTEBOOK.exists():
        contents.insert(1, {"Tutorial": "tutorial.md"})
    contents.append({"Probes": ["probes/index.md", *({name: f"probes/{name}.md"} for name in probe_names())]})
    runs: list[object] = [{folder.name: f"published/{folder.name}/report.md"} for folder in _published()]
    contents.append({"Published": ["published/index.md", *runs]})
    project = {
        "The way of a number": "way-of-a-number.md",
        "Contributing": "contributing.md",
        "Step by step": "extending.md",
        "Changes": "changes.md",
    }
    contents.append({"Project": [{title: page} for title, page in project.items()]})
    config.nav = contents


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and the figures and tables of published pages where they lie."""
    for uri, text in made_pages():
        files.append(File.generated(config, uri, content=text))
    for folder in _published():
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".png", ".csv")):
            uri = f"published/{path.relative_to(PUBLISHED).as_posix()}"
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Have links to files of the repository lead to their pages, and put what is made from the code in its place."""
    markdown = markdown.replace("](docs/", "](")
    for file, uri in MOVED.items():
        markdown = markdown.replace(f"](../{file}", f"]({uri}")
    for name, made in PLACES.items():
        if (place := f"<!-- {name} -->") in markdown:
            markdown = markdown.replace(place, made())
    return markdown


def on_page_content(html: str, **_: object) -> str:
    """Let the keyboard reach tables, which scroll where they are wider than the page."""
    return html.replace("<table>", '<table tabindex="0">')


def on_post_page(output: str, **_: object) -> str:
    """Name the dialog of the search, which the theme leaves without a name."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')


def made_pages() -> Iterator[tuple[str, str]]:
    """Yield the place and the Markdown of every page that is made."""
    rows = probes()
    yield "probes/index.md", probes_page(rows)
    yield from ((f"probes/{row['name']}.md", probe_page(row)) for row in rows)
    yield "reference/commands.md", commands_page()
    yield "reference/config.md", config_page()
    yield "reference/shipped.md", shipped_page()
    yield "reference/tables.md", tables_page()
    yield "reference/python.md", python_page()
    yield "reference/terms.md", terms_page()
    yield "published/index.md", published_page()
    for folder in _published():
        yield f"published/{folder.name}/report.md", NOT_SEARCHED + (folder / "report.md").read_text(encoding="utf-8")
    yield "contributing.md", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    yield "changes.md", NOT_SEARCHED + (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if NOTEBOOK.exists():
        yield "tutorial.md", notebook_page(NOTEBOOK)


def published_page() -> str:
    """Return the page that lists the published runs by what their first lines say."""
    rows = []
    for folder in _published():
        lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
        title, about = lines[0].removeprefix("# "), lines[2] if lines[2].count(" · ") else ""
        rows.append((f"[{folder.name}]({folder.name}/report.md)", title, about))
    told = "Each is a report as `headscope` writes it, without sentences of a corpus, which keeps its licence."
    return f"# Published runs\n\n{told}\n\n{table(('run', 'page', 'what was read'), rows)}\n"


def _published() -> list[Path]:
    return sorted(path.parent for path in PUBLISHED.glob("*/report.md"))
