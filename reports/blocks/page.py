"""The one way in which pages are written: sections of blocks, as one HTML file that loads nothing, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from reports.blocks.block import Block, Fold, Heading, Paragraph, Section, Terms
from reports.formats import count, day, duration, escaped
from reports.progress import Step, silent
from reports.run.replacing import replace_text
from reports.tables.table import Table
from reports.templates.environment import asset, assets, environment


def made_facts(record: Mapping[str, Any], command: str | None, **more: str | None) -> list[tuple[str, str]]:
    """Return how a record was made, by name, with `more` at the end; what is unknown is left out."""
    commits = {name: str(commit or "unknown")[:8] for name, commit in record.get("commits", {}).items()}
    machine = [record.get("platform"), f"{record['cores']} cores" if record.get("cores") else None]
    memory, seconds = record.get("peak_memory_mb"), record.get("wall_seconds")
    known = {
        "command": command,
        "made": day(record["started"]) if record.get("started") else None,
        "commit": record.get("git_commit"),
        "commits of parts": listed(commits) if len({*commits.values()}) > 1 else None,
        "headscope": record.get("headscope"),
        "Python": record.get("python"),
        "versions": listed(record.get("versions", {})),
        "machine": ", ".join(part for part in machine if part),
        "threads": record.get("threads"),
        "workers": record.get("workers"),
        "peak memory": f"{count(memory)} MB" if memory else None,
        "wall time": None if seconds is None else duration(seconds),
        **more,
    }
    return [(name, str(value)) for name, value in known.items() if value not in (None, "")]


def listed(entries: Mapping[str, Any]) -> str:
    """Write names and values in one line, names in plain words."""
    return ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in entries.items())


def _plain(value: object) -> str:
    return "/".join(map(str, value)) if isinstance(value, list) else count(value)


Byline = str | tuple[str, str]
"What stands under a page's title: a text, or what it is and its value."


@dataclass(frozen=True)
class Page:
    """A page, and what it is about."""

    title: str
    sections: Sequence[Section]
    byline: Sequence[Byline] = ()
    kicker: str = "headscope report"
    version: str = ""
    "Of the headscope that measured."
    assets: Sequence[str] = ()
    "Stems of style sheets and scripts beside those of its blocks."
    short: Sequence[Block] = ()
    "What Markdown says of it: one screen, with one table of at most 12 rows and at most two charts."

    @property
    def html(self) -> str:
        """The page as HTML that loads nothing from anywhere."""
        from reports.drawing.charts import vega

        needed = dict.fromkeys(name for section in self.sections for name in section.assets)
        names = ["page", "fold", *self.assets, *needed]
        drawn = "charts" in needed
        template, style = environment().get_template("page.html.j2"), assets(names, ".css")
        script = asset("unpack.js") + Markup("\nwhenUnpacked(() => {\n") + assets(names, ".js") + Markup("\n});")
        return template.render(
            page=self, version=self.version, style=style, script=script, vega=vega() if drawn else ""
        )

    @property
    def markdown(self) -> str:
        """What is short of it in Markdown, for repositories, issues and papers in preparation."""
        said = " · ".join(escaped(one if isinstance(one, str) else " ".join(one)) for one in self.byline)
        parts = [f"# {escaped(self.title)}", said, *(block.markdown for block in self.short)]
        return re.sub(r"\n{3,}", "\n\n", "\n\n".join(part for part in parts if part)) + "\n"

    @property
    def groups(self) -> Mapping[str, Sequence[Section]]:
        """What the links on top lead to: the sections by group, in order."""
        found: dict[str, list[Section]] = {}
        for section in self.sections:
            found.setdefault(section.group or section.title, []).append(section)
        return found


def write_page(folder: Path, page: Page, step: Step = silent) -> Path:
    """Write report.md and index.html into `folder`, and return the path of the latter.

    `step` is told how far it is. Where anything fails, an older page stays as it was.
    """
    step("page: texts", 0, 1)
    for file, text in {"report.md": page.markdown, "index.html": page.html}.items():
        replace_text(folder / file, text)
    step("page: texts", 1, 1)
    return folder / "index.html"


def columns_fold(tables: Mapping[str, Table], of: str = "this run") -> Fold:
    """Return what the columns of tables mean, for the end of a page."""
    blocks: list[Block] = []
    for name, table in tables.items():
        pairs = [(column.name, column.meaning) for column in table.columns]
        blocks += [Heading(name), Paragraph(table.about), Terms(pairs, folded=False)]
    return Fold(f"Columns of the {len(tables)} tables of {of}", blocks)
