"""The report in Markdown, for repositories, issues and papers in preparation."""

from __future__ import annotations

import re

from reports.biographies import terms as biographies
from reports.page.columns import tables_of
from reports.page.page_model import Contents
from reports.scores.best_heads import FEW_CLUSTERS
from reports.scores.glossary import LIMITS, MEANING
from reports.templates.environment import environment


def markdown_page(contents: Contents, figures: dict[str, list[str]]) -> str:
    """Return the whole report in Markdown; `figures` is probe -> names of files in figures/, without suffix."""
    text = (
        environment(html=False)
        .get_template("report.md.j2")
        .render(
            page=contents,
            figures=figures,
            meaning=MEANING,
            columns=tables_of(contents.run),
            limits=LIMITS,
            few=FEW_CLUSTERS,
            biography_terms=biographies.TERMS,
        )
    )
    return re.sub(r"\n{3,}", "\n\n", text)
