"""The page of the three targets, made from its record."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from reports.drawing.charts import vega
from reports.drawing.figures import save_best_heads
from reports.progress import Step, each, silent
from reports.run.replacing import replace_text, replacing
from reports.scores.glossary import PRECISION_AND_LIFT
from reports.scores.selected_head import CAUTION, TERMS
from reports.targets.charts import drawn_answers, target_chart
from reports.targets.record import TargetRecord, read_record, write_record
from reports.targets.sentences import spoken
from reports.targets.shown import effect_table, question_table, run_table, summary_table, without_effect
from reports.templates.environment import assets, environment

METHOD: Final = (
    *TERMS,
    PRECISION_AND_LIFT,
    (
        "Effect of ablation",
        "What the model loses when the head alone is ablated, by the first way that [ablation] names, in the first "
        "of these runs on the same weights that measured it. The behaviours that belong to the target come first; "
        "where no run measured them, a behaviour of any text stands in and is marked. Of minimal pairs the accuracy "
        "is reported, on those with attractors where there are any; effects.csv has every measure.",
    ),
    (
        "Significant",
        "p of the cost below 0.05, corrected for all heads. An embedding moves whichever head is ablated: there the "
        "test is against the median head of each text. The column “median head” is the median of the heads’ mean "
        "costs, which can be higher.",
    ),
    (
        "Heads that damage as much",
        "Other heads whose ablation costs any text at least half as much as the head’s does (all heads, where that is "
        "next to nothing): their mean effect, and in brackets where 95 % of such heads lie if effects are normal. A "
        "damaged model loses some of everything. Missing for fewer than three such heads.",
    ),
    (
        "Random sets",
        "As many heads, drawn at random from the same layers. p of the excess is the rank of the heads’ cost among "
        "itself and the drawn sets, so it is never below 1 / (sets + 1).",
    ),
    (
        "Attractor",
        "A noun of the other number between subject and verb. attractor=Sing or Plur is its number; "
        "attractor=preposition or relative clause says what puts it there.",
    ),
    *CAUTION,
)
"Terms and what they mean."


def write_targets(folder: Path, record: TargetRecord, step: Step = silent) -> Path:
    """Write the record and the page made of it into `folder`; return the page's path."""
    write_record(folder, record)
    return write_targets_page(folder, step)


def write_targets_page(folder: Path, step: Step = silent) -> Path:
    """Make index.html, report.md and figures/ from the record in `folder`; ValueError says what is wrong with that."""
    record = read_record(folder)
    drawn = {target: drawn_answers(record, target) for target, _ in spoken(record)}
    with replacing(folder / "figures") as unfinished:
        for target in each("page: figures", [one for one, rows in drawn.items() if rows], step):
            save_best_heads(drawn[target], f"{target.title}: selected heads and baselines", unfinished / target.name)
        html, markdown = (_rendered(f"targets.{form}.j2", record, drawn) for form in ("html", "md"))
    replace_text(folder / "report.md", re.sub(r"\n{3,}", "\n\n", markdown))
    return replace_text(folder / "index.html", html)


def _rendered(template: str, record: TargetRecord, drawn: dict[Any, Any]) -> str:
    """Return the page as HTML that loads nothing from anywhere, or as Markdown."""
    html = template.endswith(".html.j2")
    told: dict[str, Any] = {"page": record, "version": record.version, "spoken": spoken(record), "method": METHOD}
    told |= {"question_table": question_table, "effect_table": effect_table, "run_table": run_table(record)}
    told |= {"summary_table": summary_table}
    told |= {"without_effect": without_effect, "drawn": drawn}
    if html:
        told["charts"] = {target.name: [target_chart(target, rows)] for target, rows in drawn.items() if rows}
        told |= {"style": assets(("page", "charts", "targets"), ".css"), "script": assets(("page", "charts"), ".js")}
        told["vega"] = vega() if told["charts"] else ""
    return environment(html=html).get_template(template).render(**told)
