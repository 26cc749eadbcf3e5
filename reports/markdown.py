"""The report in Markdown, for repositories, issues and papers in preparation."""

from __future__ import annotations

import re

from reports.behaviour import DECIDED
from reports.biographies import MATCHED
from reports.contents import Contents
from reports.environment import environment
from reports.glossary import BIOGRAPHIES, LIMITS, MEANING
from reports.summary import leader_sentence
from reports.tables import FEW_CLUSTERS


def markdown_page(contents: Contents, figures: dict[str, list[str]]) -> str:
    """Return the whole report in Markdown; `figures` is probe -> names of files in figures/, without suffix."""
    made = environment(html=False)
    made.filters.update(md=escaped, leader=leader_sentence)
    text = made.get_template("report.md.j2").render(
        page=contents,
        figures=figures,
        meaning=MEANING,
        limits=LIMITS,
        few=FEW_CLUSTERS,
        biography_terms=BIOGRAPHIES,
        matched_names=MATCHED,
        decided=DECIDED,
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def escaped(value: object) -> str:
    r"""Return text from the data so that Markdown shows it as it is, also inside a table and as one line.

    >>> escaped("a|b <i>_x_")
    'a\\|b &lt;i>\\_x\\_'
    """
    text = re.sub(r"<(?! )", "&lt;", str(value).replace("&", "&amp;"))
    return re.sub(r"\s+", " ", re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", text))
