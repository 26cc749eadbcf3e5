"""The page of an atlas, made from its record."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from reports.atlas.record import AtlasRecord, read_record, write_record
from reports.atlas.sentences import described, spoken
from reports.atlas.shown import grade_table, run_table
from reports.progress import Step, silent
from reports.run.replacing import replace_text
from reports.scores.terms import HEAD_TERMS
from reports.templates.environment import assets, environment

METHOD: Final = (
    (
        "Specialised",
        "A head with a grade in a role of language; position and special tokens are counted apart. Runs correct p for "
        "all heads and labels of their own, not for the number of runs.",
    ),
    (
        "Seed",
        "Of controls, bootstrap and trained probes, and of the weights where they are random. Trained weights are the "
        "same in every seed, so seeds of one model and corpus are no independent samples.",
    ),
    *HEAD_TERMS,
)
"Terms and what they mean."


def write_atlas(folder: Path, record: AtlasRecord, step: Step = silent) -> Path:
    """Write the record and the page made of it into `folder`; return the page's path."""
    write_record(folder, record)
    return write_atlas_page(folder, step)


def write_atlas_page(folder: Path, step: Step = silent) -> Path:
    """Make index.html and report.md from the record in `folder`; ValueError says what is wrong with that."""
    record = read_record(folder)
    step("page", 0, 1)
    html, markdown = (_rendered(f"atlas.{form}.j2", record) for form in ("html", "md"))
    replace_text(folder / "report.md", re.sub(r"\n{3,}", "\n\n", markdown))
    step("page", 1, 1)
    return replace_text(folder / "index.html", html)


def _rendered(template: str, record: AtlasRecord) -> str:
    """Return the page as HTML that loads nothing from anywhere, or as Markdown."""
    html = template.endswith(".html.j2")
    told: dict[str, Any] = {"page": record, "described": described(record), "spoken": [*spoken(record)]}
    told |= {"runs": run_table(record), "grades": grade_table(record), "method": METHOD}
    if html:
        told |= {"style": assets(("page", "atlas"), ".css"), "script": assets(("page",), ".js"), "vega": ""}
    return environment(html=html).get_template(template).render(**told)
