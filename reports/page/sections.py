"""The sections of a page that tell what was measured beside scores; adding one takes a line here and its templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from reports.drawing.charts import Chart
from reports.heads.attention import attention_view
from reports.heads.grid import head_grid
from reports.page.run_findings import run_findings
from reports.progress import Step, each, silent
from reports.run.folder import RunFolder
from reports.studies.ablation.figure import save_ablation
from reports.studies.ablation.section import ablations
from reports.studies.ablation.terms import ABLATION
from reports.studies.answers.section import ANSWERS, answers
from reports.studies.circuits.figure import save_circuits
from reports.studies.circuits.section import TERMS as CIRCUITS
from reports.studies.circuits.section import circuit_parts
from reports.studies.classifiers.figure import save_classifiers
from reports.studies.classifiers.section import classifiers
from reports.studies.classifiers.terms import CLASSIFIERS
from reports.studies.confusion.section import confusions
from reports.studies.drift.section import DRIFT, drift
from reports.studies.gating.charts import gating_charts, save_gating
from reports.studies.gating.section import gating
from reports.studies.gating.terms import GATING
from reports.studies.headset.charts import headset_charts
from reports.studies.headset.figure import save_headset
from reports.studies.headset.section import heads_together
from reports.studies.headset.terms import HEADSET
from reports.studies.link.figure import save_link
from reports.studies.link.section import LINK, linked_heads
from reports.studies.patching.figure import save_patching
from reports.studies.patching.section import PATCHING, patched_heads
from reports.studies.relatedness.section import relations
from reports.studies.shapes.charts import save_shapes, shape_charts
from reports.studies.shapes.section import head_shapes
from reports.studies.shapes.terms import SHAPES
from reports.studies.slopes.section import SLOPES, slopes


def _no_charts(found: Any) -> Sequence[Chart]:
    return ()


def _no_figures(found: Any, about: str, folder: Path) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class PageSection:
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


SECTIONS: Final = (
    PageSection("heads", "Every head", head_grid, first=True, by_head=True),
    PageSection("attention", "Heads at work", attention_view, first=True),
    PageSection("shapes", "The shape of maps", head_shapes, SHAPES, shape_charts, save_shapes),
    PageSection("confusion", "Agreement among distractors", confusions),
    PageSection("relatedness", "Related words", relations),
    PageSection("circuits", "What the weights alone say", circuit_parts, CIRCUITS, save=save_circuits),
    PageSection("classifiers", "What classifiers tell from heads", classifiers, CLASSIFIERS, save=save_classifiers),
    PageSection("headset", "Heads as a set", heads_together, HEADSET, headset_charts, save_headset),
    PageSection("ablation", "What happens without a head", ablations, ABLATION, save=save_ablation),
    PageSection("gating", "What heads are worth", gating, GATING, gating_charts, save_gating),
    PageSection("slopes", "What single attention weights matter", slopes, SLOPES),
    PageSection("patching", "What brings the answer back", patched_heads, PATCHING, save=save_patching),
    PageSection("link", "Looking and mattering", linked_heads, LINK, save=save_link),
    PageSection("answers", "What was learned to be answered", answers, ANSWERS),
    PageSection("drift", "What training moved", drift, DRIFT),
    PageSection("run_findings", "Published findings", run_findings),
)
"In the order of the page."


@dataclass(frozen=True)
class Told:
    """A section of one page; `told` in its templates."""

    section: PageSection
    found: Any
    "What its `gather` returned."
    figures: tuple[str, ...] = ()
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

    @cached_property
    def charts(self) -> Sequence[Chart]:
        """The charts of the HTML page."""
        return self.section.charts(self.found)

    def drawn(self, about: str, folder: Path) -> Self:
        """Save the figures into `folder` and return the section with their names."""
        return replace(self, figures=tuple(self.section.save(self.found, about, folder)))


def sections(run: RunFolder, step: Step = silent) -> Iterator[Told]:
    """Yield what a page tells of a run beside scores."""
    for section in each("page: sections", SECTIONS, step):
        found = section.gather(run, step) if section.by_head else section.gather(run)
        if found is not None:
            yield Told(section, found)
