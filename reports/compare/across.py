"""Heads across corpora: how often the head selected on one corpus has a grade on another, in tables and sentences.

A case is a label and direction with an ordered pair of corpora. Cases share heads and texts, and are not tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import mode
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, percent, signed
from reports.scores.selected_head import question_cell
from reports.tables.cells import Cell, TextColumn
from reports.tables.grades import POSITION, own_labels
from reports.tables.text_table import TextTable

Row = Mapping[str, Any]


def role_cases(across: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of heads with a grade on their own corpus, in linguistic roles; near-duplicate labels once.

    Of several seeds of a model the first is counted: with trained weights they repeat nearly the same cases.
    """
    roles = across[across["probe"] != POSITION]
    if roles.empty:
        return roles
    once = pd.MultiIndex.from_frame(roles[["probe", "label"]]).isin(
        own_labels(zip(roles["probe"], roles["label"], strict=True))
    )
    first = roles["seed"] == roles.groupby("model")["seed"].transform("min")
    cases: pd.DataFrame = roles[once & first & (roles["home_grade"] > 0)]
    return cases


def kept_grades(cases: pd.DataFrame) -> dict[str, Any]:
    """Count what became of selected heads with a grade on their own corpus, on the report splits of others.

    `kept`: the head has a grade there too; `selected`: the head selected there has one; `possible`: any head has one;
    `below`: accuracy is significantly below that of the head selected there, each by itself. `others` is the mean share
    of the other specialised heads of the first corpus that have a grade there; NaN without any.
    """
    columns = {"kept": "grade", "selected": "own_grade", "possible": "graded_heads"}
    counts = {name: int((cases[column] > 0).sum()) for name, column in columns.items()}
    known = cases[cases["others"] > 0]
    others = float((known["others_graded"] / known["others"]).mean())
    return {"cases": len(cases), **counts, "others": others, "below": int((cases["difference_high"] < 0).sum())}


def kept_labels(cases: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the labels and directions of `role_cases`, models in order, those kept in the largest share first.

    Each has the head that is selected on most corpora, of those whose selected head has a grade, and means over its
    cases.
    """
    models = {model: number for number, model in enumerate(dict.fromkeys(cases["model"]))}
    keys = ["model", "probe", "label", "variant"]
    labels = [dict(zip(keys, map(str, of), strict=True)) | _label(own) for of, own in cases.groupby(keys, sort=False)]
    return sorted(labels, key=lambda row: (models[row["model"]], -row["kept"] / row["cases"], -row["cases"]))


def _label(own: pd.DataFrame) -> dict[str, Any]:
    homes = own.drop_duplicates("selected_on")
    head = mode(homes["name"])
    about = {"head": head, "selected_on": int((homes["name"] == head).sum()), "corpora": len(homes)}
    means = {name: float(own[name].mean()) for name in ("accuracy", "difference", "strongest_accuracy")}
    return about | kept_grades(own) | means


def _share(name: str, row: Row) -> Cell:
    return Cell(f"{row[name]} of {row['cases']}", sort=row[name] / row["cases"])


LABELS: Final = (
    TextColumn("Label and direction", question_cell, "row", "wrapping"),
    TextColumn(
        "Head",
        lambda row: Cell(row["head"], f"selected on {row['selected_on']} of {row['corpora']}"),
        "text",
        tip="The head selected on most corpora, of those on which the selected head has a grade.",
    ),
    TextColumn(
        "Graded elsewhere",
        partial(_share, "kept"),
        css="strong",
        tip="Cases in which a head selected with a grade on one corpus has a grade on another.",
    ),
    TextColumn(
        "Selected there, graded",
        partial(_share, "selected"),
        tip="The same cases, for the head selected on the other corpus.",
    ),
    TextColumn(
        "Any head graded",
        partial(_share, "possible"),
        tip="Cases in which some head has a grade there: no more can be kept.",
    ),
    TextColumn("Recall elsewhere", lambda row: Cell(percent(row["accuracy"]), sort=row["accuracy"])),
    TextColumn(
        "Minus the head selected there",
        lambda row: Cell(
            signed(row["difference"]), f"below in {row['below']} of {row['cases']}", sort=row["difference"]
        ),
        tip="Mean difference of recall in points, and the cases in which its 95 % interval lies below 0.",
    ),
    TextColumn(
        "Strongest baseline",
        lambda row: Cell(percent(row["strongest_accuracy"]), sort=row["strongest_accuracy"]),
        tip="Its mean recall on the same words, over cases with a baseline.",
    ),
)


def label_table(model: str, rows: Sequence[Row]) -> TextTable:
    """Return the labels and directions of one model across its corpora."""
    return TextTable.of(f"{model}: labels and directions", LABELS, rows)


def pair_table(across: pd.DataFrame, cases: pd.DataFrame, model: str) -> TextTable:
    """Return the corpora of one model: a row for each on which heads are selected, a column for each other."""
    rows, own = (frame[frame["model"] == model] for frame in (across, cases))
    corpora = list(dict.fromkeys([*rows["selected_on"], *rows["evaluated_on"]]))
    tip = (
        "Selected heads with a grade on the corpus of the row that have one here, and beside them heads selected here."
    )
    columns = [TextColumn(corpus, partial(_pair, own, corpus), plain=corpus, tip=tip) for corpus in corpora]
    return TextTable.of(f"{model}: pairs of corpora", (TextColumn("Selected on", kind="row"), *columns), corpora)


def _pair(cases: pd.DataFrame, away: str, home: str) -> Cell:
    row = kept_grades(cases[(cases["selected_on"] == home) & (cases["evaluated_on"] == away)])
    if not row["cases"]:
        return Cell(MISSING, sort=float("nan"))
    kept = _share("kept", row)
    return Cell(kept.text, f"selected here: {row['selected']}", sort=kept.sort)


def sentences(across: pd.DataFrame) -> Iterator[str]:
    """Say for each model how often heads selected on one corpus have a grade on another, beside what else has one."""
    cases = role_cases(across)
    for model in dict.fromkeys(across["model"]):
        own = cases[cases["model"] == model]
        if own.empty:
            yield f"{model}: no selected head has a grade in a linguistic role, so none can be kept across corpora."
            continue
        found = kept_grades(own)
        number = found["cases"]
        kept, selected, possible = (percent(found[name] / number) for name in ("kept", "selected", "possible"))
        cases_of = f"{number:,} case{'s' * (number != 1)} (label, direction and ordered pair of corpora)"
        yield (
            f"{model}: heads selected with a grade on one corpus have a grade on another in {kept} % of "
            f"{cases_of}. Heads selected there do in {selected} %, some head does in {possible} %, and the other "
            f"specialised heads of the first corpus do in {percent(found['others'])} % on average."
        )
