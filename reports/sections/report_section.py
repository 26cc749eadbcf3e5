"""A section of a run's page: what its templates get, and what its figures are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from reports.drawing.charts import Chart
from reports.scores.best_heads import FEW_CLUSTERS
from reports.templates.environment import environment


def _no_charts(found: Any) -> Sequence[Chart]:
    return ()


def _no_figures(found: Any, about: str, folder: Path) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class ReportSection:
    """How a page tells of a study: what its templates get, and what its figures are."""

    name: str
    "Of the templates NAME.html.j2 and NAME.md.j2, of NAME.css and NAME.js where there are such, and of the anchor."
    title: str
    gather: Callable[..., Any | None]
    "Takes a run; returns what is told, as the templates lay it out, or None where it measured nothing of the kind."
    terms: Sequence[tuple[str, str]] = ()
    "What the words and numbers of the section mean."
    charts: Callable[[Any], Sequence[Chart]] = _no_charts
    "Returns the charts of the HTML page."
    save: Callable[[Any, str, Path], Sequence[str]] = _no_figures
    "Called with what is told, the model and corpus it is about, and a folder; returns the figures' names there."
    first: bool = False
    "Whether the HTML page has it before the tables."
    by_head: bool = False
    "Whether `gather` goes through all heads, and takes whom to tell how far it is."


@dataclass(frozen=True)
class FilledSection:
    """A section of one page; `section` in its templates."""

    section: ReportSection
    content: Any
    "What its `gather` returned."
    figures: tuple[str, ...] = ("", "", "")
    "Names of its figures, without suffix."

    @property
    def name(self) -> str:
        """Of its templates, and its anchor."""
        return self.section.name

    @property
    def first(self) -> bool:
        """Whether the HTML page has it before the tables."""
        return self.section.first

    @property
    def title(self) -> str:
        """Its heading."""
        return self.section.title

    @property
    def terms(self) -> Sequence[tuple[str, str]]:
        """What its words and numbers mean."""
        return self.section.terms

    @property
    def html(self) -> Markup:
        """The section in HTML."""
        return Markup(environment().get_template(f"{self.name}.html.j2").render(section=self, few=FEW_CLUSTERS))

    @property
    def markdown(self) -> str:
        """The section in Markdown."""
        text = environment(html=False).get_template(f"{self.name}.md.j2").render(section=self, few=FEW_CLUSTERS)
        return "\n".join(line for line in text.splitlines() if not line.startswith("!["))

    @property
    def assets(self) -> tuple[str, ...]:
        """Stems of its style sheets and scripts."""
        return (*["charts"] * bool(self.charts), self.name)

    @cached_property
    def charts(self) -> Sequence[Chart]:
        """The charts of the HTML page."""
        return self.section.charts(self.content)
