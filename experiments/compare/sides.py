"""One side of a comparison: a run by its scores, or a checkpoint of one by its biographies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.measures.counts import COUNTS
from mha.training.checkpoints import checkpoint_path
from probes.training.concentration import is_role
from reports import Run
from reports.scores.best_heads import CLASSIFIER, page_scores
from reports.scores.thresholds import RunThresholds

Question = tuple[str, str, str]
"Probe, label and variant."

Row = Mapping[Any, Any]
"What a side says of one head on one question: its name, and NUMBERS."

QUESTION = ["probe", "label", "variant"]
NUMBERS = ["n", "accuracy", "ci_low", "ci_high", "margin", "margin_low", "graded"]

NAMED = re.compile(r"(?P<run>.+?)(?P<at>(?:@(?:seed|step)-\d+)+)")
"A run and one of its checkpoints: RUN@seed-2, RUN@step-500, RUN@seed-2@step-500."


class CompareError(ValueError):
    """Runs that cannot be compared."""


@dataclass(frozen=True)
class Side:
    """What one run, or one checkpoint of it, says of its heads on the report split."""

    name: str
    "As it was given."
    run: Run
    rows: pd.DataFrame
    "One row a question and head: QUESTION, layer, head, name, NUMBERS."
    selected: pd.DataFrame
    "One row a question, by QUESTION: name of its head, and NUMBERS."
    model: str
    "What its maps can be read from."
    notes: tuple[str, ...]
    "What is left out of it."
    checkpoint: bool
    "Whether it is told by biographies."

    @property
    def rule(self) -> RunThresholds:
        """When a head of the run has a grade."""
        return RunThresholds.of(self.run.settings)

    @cached_property
    def heads(self) -> pd.DataFrame:
        """Layer, head and name of every head, in order."""
        return self.rows[["layer", "head", "name"]].drop_duplicates().sort_values(["layer", "head"], ignore_index=True)

    @cached_property
    def best(self) -> Mapping[Question, Row]:
        """Question -> what is said of the chosen head."""
        return {_question(row): row for row in self.selected.reset_index().to_dict("records")}

    @cached_property
    def every(self) -> Mapping[tuple[Question, str], Row]:
        """Question and head -> what is said of it."""
        return {(_question(row), str(row["name"])): row for row in self.rows.to_dict("records")}

    def roles(self, beside: Side) -> Mapping[str, list[str]]:
        """Head -> the labels that are roles and in which it has a grade, the surest first.

        Questions of which `beside` has no chosen head are left out: it may not have been asked them.
        """
        rows = self.rows[self.rows["graded"]].sort_values("margin_low", ascending=False, kind="stable")
        shared = self.best.keys() & beside.best.keys()
        rows = rows[np.array([_question(row) in shared for row in rows.to_dict("records")], bool)]
        return {str(name): found["label"].unique().tolist() for name, found in role_rows(rows).groupby("name")}

    @cached_property
    def counts(self) -> Mapping[Question, pd.DataFrame]:
        """Question -> n and the hits of each head, by group of texts; empty where the run kept none."""
        return {} if self.checkpoint else counts_of(self.run)


def _question(row: Row | pd.Series) -> Question:
    return str(row["probe"]), str(row["label"]), str(row["variant"])


def role_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows about labels that stand for themselves (`probes.training.concentration.is_role`)."""
    asked = ((_question(row), int(row["n"])) for row in rows.to_dict("records"))
    return rows[np.array([is_role((probe, variant, label), n) for (probe, label, variant), n in asked], bool)]


def open_side(given: str | Run) -> Side:
    """Open a run folder, or a checkpoint of one: RUN@seed-2@step-500; a run that is open is taken as it is.

    Without a seed it is that of the first training, without a step the last one. Raises CompareError for a seed or
    step that its biographies do not have; RunFolderError and FileNotFoundError for a folder that is no run.
    """
    name = given if isinstance(given, str) else given.name
    found = None if isinstance(given, Run) or Path(name).is_dir() else NAMED.fullmatch(name)
    folder = Path(name if found is None else found["run"])
    run = given if isinstance(given, Run) else Run.open(folder)
    if found is None:
        side = _of_scores(name, run)
    else:
        at = re.findall(r"(\w+)-(\d+)", found["at"])
        if len(dict(at)) < len(at):
            raise CompareError(f"{name}: expected one seed and one step at most, as in {folder}@seed-2@step-500")
        side = _of_checkpoint(name, run, dict(at))
    if side.selected.empty:
        raise CompareError(f"{name}: no label has a selected head, so there is nothing to compare")
    return side


def report_rows(run: Run) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return what one page can show of the heads of a run on its report split, and what is left out."""
    rows, left_out = page_scores(run.scores)
    return rows[(rows["split"] == "report") & (rows["probe"] != CLASSIFIER) & (rows["n"] > 0)], tuple(left_out)


def counts_of(run: Run) -> Mapping[Question, pd.DataFrame]:
    """Return n and the hits of each head by question and group of texts; nothing where the run kept none."""
    table = run.tables.get("counts")
    if table is None:
        return {}
    heads = [column for column in table if column not in COUNTS.dtypes]
    parts = (part for _, part in table.groupby(QUESTION, sort=False))
    return {_question(part.iloc[0]): part.set_index("group")[["n", *heads]] for part in parts}


def _of_scores(name: str, run: Run) -> Side:
    rows, left_out = report_rows(run)
    rows = rows.assign(graded=rows["grade"] > 0)
    chosen = rows[rows["selected"]].set_index(QUESTION)
    kept = rows[[*QUESTION, "layer", "head", "name", *NUMBERS]].reset_index(drop=True)
    return Side(name, run, kept, chosen[["name", *NUMBERS]], str(run.folder), left_out, checkpoint=False)


def _of_checkpoint(name: str, run: Run, at: Mapping[str, str]) -> Side:
    """Return a checkpoint: its chosen heads are the best of all texts.

    Their accuracies are those of heads that are chosen on one half of the texts and told on the other, with the width
    of the best head's own interval.
    """
    if "biographies" not in run.tables:
        raise CompareError(
            f"{run.folder} has no biographies, so it has no seeds or steps to compare: add [biographies]"
        )
    rows, curves = run.tables["biographies"], run.tables["biography_curves"]
    for what in ("seed", "step"):
        known = rows[what].unique()
        place = int(at[what]) if what in at else int(known.min() if what == "seed" else known.max())
        if place not in known:
            there = ", ".join(map(str, sorted(known.tolist())))
            raise CompareError(f"{name}: no {what} {place} in the biographies of {run.folder}; there are {there}")
        rows, curves = rows[rows[what] == place], curves[curves[what] == place]
    seed, step = int(rows["seed"].iloc[0]), int(rows["step"].iloc[0])
    needed = RunThresholds.of(run.settings).margin
    low = rows["ci_low"] - rows["baseline_accuracy"]
    every = rows.assign(margin_low=low, graded=_enough(rows["margin"], low, needed))
    asked = rows.drop_duplicates(QUESTION).set_index(QUESTION)[["n", "baseline_accuracy"]]
    own = every.set_index([*QUESTION, "name"])[["accuracy", "ci_low", "ci_high"]]
    best = curves[curves["margin"].notna()].set_index(QUESTION).join(asked)
    best = best.join(own, on=[*QUESTION, "name"])
    accuracy = best["margin"] + best["baseline_accuracy"]
    chosen = best.assign(
        accuracy=accuracy,
        ci_low=(accuracy - best["accuracy"] + best["ci_low"]).clip(0, 1),
        ci_high=(accuracy - best["accuracy"] + best["ci_high"]).clip(0, 1),
        margin_low=best["low"],
        graded=_enough(best["margin"], best["low"], needed),
    )
    kept = every[[*QUESTION, "layer", "head", "name", *NUMBERS]].reset_index(drop=True)
    weights = str(checkpoint_path(run.folder / f"seed-{seed}", step))
    return Side(
        name, run, kept, chosen[["name", *NUMBERS]], weights, _untold(len(asked) - len(chosen)), checkpoint=True
    )


def _enough(margin: pd.Series, low: pd.Series, needed: float) -> pd.Series:
    """Return whether margins are surely above 0 and large enough; a checkpoint has no corrected test."""
    return pd.Series(np.asarray(low > 0) & np.asarray(margin >= needed - 1e-12), index=margin.index)


def _untold(pairs: int) -> tuple[str, ...]:
    """Say how many label–variant pairs a checkpoint has no chosen head of, if any."""
    text = f"Label–direction pairs without a baseline, or with too few texts, for which no head is reported: {pairs}."
    return (text,) if pairs else ()
