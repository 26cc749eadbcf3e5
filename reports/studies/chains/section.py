"""What a page says of the coreference chains that the best head links, beside those of its baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, count, listed, percent, signed, signed_interval
from reports.run.folder import RunFolder
from reports.studies.chains.tables import CHAINS, SCORES
from reports.tables.cells import Cell, TextColumn
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

CHAIN_TERMS: Final[Sequence[tuple[str, str]]] = (
    (
        "link",
        "From a mention to the preceding one to whose head word the head attends most; ties are broken at random. A "
        "link that is weaker than a limit is not made; the limit was learned on the selection split. Rules prefer "
        "near mentions, and learn in the same way how far they reach.",
    ),
    (
        "mention",
        "As annotated: none is predicted, and one that stands alone is a chain of its own. Of several with one head "
        "word the longest counts. Chains are cut to windows, gold and predicted ones alike.",
    ),
    ("MUC", "F1 of the links that join a chain (Vilain et al. 1995). Mentions that stand alone do not count."),
    (
        "B3",
        "F1 of the mentions that a mention correctly shares its chain with, itself included, as a mean over mentions "
        "(Bagga and Baldwin 1998).",
    ),
    (
        "CEAF",
        "F1 after each chain is paired with one gold chain at the most, as well as can be: CEAF-m counts shared "
        "mentions, CEAF-e how alike paired chains are, each chain alike (Luo 2005).",
    ),
    ("CoNLL", "Mean of the F1 of MUC, B3 and CEAF-e (Pradhan et al. 2012)."),
    ("lead", "CoNLL average of the head minus that of the strongest baseline, over the same resampled documents."),
)
"Term -> definition, for the section on chains."

SINGLE: Final = "single mentions"
"The baseline whose chains are the mentions by themselves."

Row = Mapping[str, Mapping[Any, Any]]
"A head or a baseline: score -> columns of the table."


@dataclass(frozen=True)
class Chains:
    """What a page says."""

    summary: str
    "How the head does beside its strongest baseline."
    tables: Sequence[TextTable]
    "F1; precision and recall."


def chains(run: RunFolder) -> Chains | None:
    """Return what the page says of the report split, of the model's last step; None where nothing was linked."""
    table = run.studies.get("chains")
    if table is None or table.empty:
        return None
    table = last_step(table)
    rows = _rows(table[(table["split"] == "report") & (table["selected"] | (table["method"] == "baseline"))])
    idle = [_named(row["CoNLL"]) for row in rows if _is_idle(row, rows)]
    rows = [row for row in rows if _named(row["CoNLL"]) not in idle]
    said = _said(rows[0]["CoNLL"], rows[1]["CoNLL"])
    if idle:
        said += f" Rules that made no link are not shown: {listed(f'“{name}”' for name in idle)}."
    return Chains(said, (_f1(rows), _precision_and_recall(rows)))


def _rows(told: pd.DataFrame) -> list[Row]:
    """Return the selected head, then its baselines, the strongest first."""
    rows: list[Row] = [
        {str(one["measure"]): one for one in found.to_dict("records")} for _, found in told.groupby("name", sort=False)
    ]
    return sorted(rows, key=lambda row: (row["CoNLL"]["method"] != "head", -row["CoNLL"]["f1"]))


def _is_idle(row: Row, rows: Sequence[Row]) -> bool:
    """Say whether a rule made no link: it scores as chains of single mentions do."""
    single = next((one for one in rows if one["CoNLL"]["name"] == SINGLE), row)
    alike = all(row[score][value] == single[score][value] for score in SCORES[:-1] for value in ("precision", "recall"))
    return row is not single and alike


def _said(head: Mapping[Any, Any], baseline: Mapping[Any, Any]) -> str:
    """Write what came out for the selected head and its strongest baseline."""
    between = signed_interval(head["lead_low"], head["lead_high"])
    lead = " ".join(filter(None, (signed(head["lead"]), between)))
    return (
        f"{count(head['n'])} mentions in {count(head['chains'])} gold chains of {count(head['clusters'])} documents. "
        f"Head {head['name']}, the best on the selection split, reaches a CoNLL average of {percent(head['f1'])}, the "
        f"strongest baseline, “{baseline['name']}”, {percent(baseline['f1'])}. The lead of {lead} points is "
        f"{_significance(head['lead_low'], head['lead_high'])}."
    )


def _significance(low: float, high: float) -> str:
    """Say where the interval of a lead lies; NaN decides nothing."""
    if low > 0:
        return "significant"
    return "significantly below 0" if high < 0 else "not significant"


def _f1(rows: Sequence[Row]) -> TextTable:
    conll = CHAINS["f1"].shown_with_interval("CoNLL", within="CoNLL", plain="CoNLL")
    lead = CHAINS["lead"].shown_with_interval("Lead", within="CoNLL")
    scores = [CHAINS["f1"].shown(score, within=score, tip=_meaning(score), plain=score) for score in SCORES[:-1]]
    return TextTable.of("F1 in %, and the lead in points", (_who(), *scores, *conll, *lead), rows)


def _precision_and_recall(rows: Sequence[Row]) -> TextTable:
    both = (TextColumn(score, partial(_both, score), tip=_meaning(score), plain=score) for score in SCORES[:-1])
    return TextTable.of("Precision / recall in %", (_who(), *both), rows)


def _both(score: str, row: Row) -> Cell:
    precision, recall = row[score]["precision"], row[score]["recall"]
    return Cell(f"{percent(precision)} / {percent(recall)}", sort=float(precision))


def _who() -> TextColumn:
    return TextColumn("Linked by", lambda row: _named(row["CoNLL"]), "row")


def _named(one: Mapping[Any, Any]) -> str:
    return f"head {one['name']}" if one["method"] == "head" else str(one["name"] or MISSING)


def _meaning(score: str) -> str:
    """Return the definition of a score."""
    return dict(CHAIN_TERMS)[score.partition("-")[0]]
