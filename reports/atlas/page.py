"""The page of an atlas, made from its record."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from reports.atlas.across import kept_labels, role_cases
from reports.atlas.across_tables import label_table, pair_table
from reports.atlas.charts import MOST, DrawnHead, drawn_heads, recall_chart
from reports.atlas.figure import save_recall
from reports.atlas.pooled import pooled_rows
from reports.atlas.record import AtlasRecord, read_record, write_record
from reports.atlas.sentences import overview, summary
from reports.atlas.shown import grid_table, run_table
from reports.drawing.charts import vega
from reports.progress import Step, each, silent
from reports.run.replacing import replace_text, replacing
from reports.scores.selected_head import CAUTION, TERMS
from reports.templates.environment import assets, environment

METHOD: Final = (
    *TERMS,
    (
        "Specialised",
        "A head with a grade in a role of language: in any probe but position. Runs correct p for all heads and labels "
        "of their own, not for the number of runs.",
    ),
    (
        "Seeds",
        "Of controls, bootstrap and trained probes, and of the weights where they are random. Trained weights are the "
        "same in every seed, so seeds of one model and corpus are no independent samples.",
    ),
    (
        "Grid",
        "Mean recall of the selected heads over seeds, the heads, and the most frequent grade (of several the lowest) "
        "with the number of seeds that have it. A dash: not scored there.",
    ),
    (
        "Across corpora",
        "A head that is selected on one corpus, evaluated on the report split of another beside the head selected "
        "there. Counted are heads with a grade on the report split of their own corpus, in roles of language, and "
        "labels that both corpora have; of several seeds the first. Baselines, tables and rules are those of the "
        "corpus on which the head is evaluated. The counts describe these corpora and are not tested: cases share "
        "heads and texts, and a grade here without one there is no significant difference. Where report splits hold "
        "translations of each other, grades on both rest on the same content.",
    ),
    *CAUTION,
)
"Terms and what they mean."


def write_atlas(folder: Path, record: AtlasRecord, step: Step = silent) -> Path:
    """Write the record and the page made of it into `folder`; return the page's path."""
    write_record(folder, record)
    return write_atlas_page(folder, step)


def write_atlas_page(folder: Path, step: Step = silent) -> Path:
    """Make index.html, report.md and figures/ from the record in `folder`; ValueError says what is wrong with that."""
    record = read_record(folder)
    drawn = drawn_heads(pooled_rows(record))
    with replacing(folder / "figures") as unfinished:
        for heads in each("page: figures", [drawn] * bool(drawn), step):
            save_recall(heads, "Recall of the selected heads and their strongest baselines", unfinished / "recall")
    linked = [run.name for run in record.runs if (folder / "runs" / run.name / "report" / "index.html").is_file()]
    html, markdown = (_rendered(f"atlas.{form}.j2", record, drawn, linked) for form in ("html", "md"))
    replace_text(folder / "report.md", re.sub(r"\n{3,}", "\n\n", markdown))
    return replace_text(folder / "index.html", html)


def _rendered(template: str, record: AtlasRecord, drawn: list[DrawnHead], linked: list[str]) -> str:
    """Return the page as HTML that loads nothing from anywhere, or as Markdown."""
    html, rows, cases = template.endswith(".html.j2"), pooled_rows(record), role_cases(record.across)
    kept = kept_labels(cases)
    across = [
        (pair_table(record.across, cases, model), label_table(model, [row for row in kept if row.model == model]))
        for model in dict.fromkeys(row.model for row in kept)
    ]
    grids = (
        ("graded", grid_table(record, [row for row in rows if row.graded], "With a grade in any run: mean recall, %")),
        (
            "others",
            grid_table(record, [row for row in rows if not row.graded], "Without a grade in any run: mean recall, %"),
        ),
    )
    values: dict[str, Any] = {"page": record, "version": record.version, "overview": overview(record)}
    values |= {"summary": summary(record), "run_table": run_table(record, linked), "grids": grids, "method": METHOD}
    values |= {"across": across, "drawn": drawn, "left_out": max(len(rows) - MOST, 0)}
    if html:
        values["charts"] = [recall_chart(drawn)] if drawn else []
        values |= {"style": assets(("page", "charts", "atlas"), ".css"), "script": assets(("page", "charts"), ".js")}
        values["vega"] = vega() if drawn else ""
    return environment(html=html).get_template(template).render(**values)
