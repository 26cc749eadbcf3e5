"""The record of an atlas, from which its page is made: the runs in JSON, what they found as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

import pandas as pd
from pydantic import Field

from reports.formats import signed
from reports.scores.selected_head import HIGHEST, SELECTED, STRONGEST
from reports.tables.grades import ANSWERS, GRADES
from reports.tables.scores import SCORES
from reports.tables.shared_columns import CORPUS, MODEL, QUESTION, difference, ends, fraction, place, text, whole
from reports.tables.table import Table

BASELINES: Final = (
    *("baseline_accuracy", "margin_low", "margin_high"),
    *("lexical_accuracy", "lexical_margin_low", "lexical_margin_high"),
    *("rule_accuracy", "rule_margin_low", "rule_margin_high"),
)
"Columns of the strongest baseline or control, of the lexical table and of the best rule of grammar."

ATLAS: Final = Table(
    "One row for each run, label and direction: the selected head on the report split, beside its strongest baseline.",
    ("run", "probe", "label", "variant"),
    (
        text("run", "Name of the run: its folder below runs/."),
        replace(MODEL, meaning="Model as the grid names it."),
        replace(CORPUS, meaning="Corpus as the grid names it."),
        place("seed", "Seed of the run: of its controls and its bootstrap."),
        *QUESTION,
        *SELECTED,
        *(SCORES[name] for name in BASELINES),
        *(SCORES[name] for name in ("p_adjusted", "grade", "verdict", "excluded")),
        *HIGHEST,
    ),
)

ACROSS: Final = Table(
    "One row for each model, seed, label, direction and ordered pair of corpora: the head selected on the selection "
    "split of the one, on the report split of the other.",
    ("model", "seed", "probe", "label", "variant", "selected_on", "evaluated_on"),
    (
        replace(MODEL, meaning="Model as the grid names it."),
        place("seed", "Seed of both runs."),
        *QUESTION,
        text("selected_on", "Corpus, as the grid names it, on whose selection split the head was selected."),
        text("evaluated_on", "Corpus, as the grid names it, whose report split all accuracies are from."),
        replace(SCORES["name"], meaning="Head selected on the first corpus, as layer-head counted from 1."),
        SCORES["n"],
        SCORES["effective_clusters"],
        replace(SCORES["accuracy"], title="recall", interval=None),
        *STRONGEST,
        SCORES["grade"],
        whole("home_grade", f"Grade of the same head on the report split of the first corpus, 0 to {len(GRADES) - 1}."),
        text("own_name", "Head selected on the second corpus itself."),
        fraction("own_accuracy", "Accuracy of that head on the same words."),
        whole("own_grade", f"Grade of that head, 0 to {len(GRADES) - 1}."),
        difference("difference", "Accuracy minus that of the second corpus's own head.", "difference"),
        *ends("difference", "that difference, paired by document", signed),
        whole("graded_heads", "Heads of the model that have a grade for the label on the second corpus."),
        whole("others", "Other heads that are specialised on the first corpus, in any label."),
        whole("others_graded", "How many of these have a grade for this label on the second corpus."),
    ),
)

ATLAS_TABLES: Final[Mapping[str, Table]] = {"atlas": ATLAS, "across": ACROSS}
"Name of the files -> what they must hold."

Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class AtlasRun:
    """One of the runs, as the page names it; a run that failed has a message and no numbers."""

    name: str
    "Its folder below runs/."
    model: str
    "Title of the model, as the grid has it."
    corpus: str
    seed: Count
    heads: Count = 0
    "Heads of the model."
    grades: tuple[Count, ...] = ()
    "Heads by highest grade in a linguistic role: none, 1, 2, 3."
    position: Count = 0
    "Heads with a grade for position only."
    verdicts: tuple[Count, ...] = ()
    "Label–direction pairs in linguistic roles: yes, no, undecided."
    seconds: float = 0.0
    "How long the run took."
    failed: str = ""
    "The message of a run that failed."

    @property
    def specialised(self) -> int:
        """Heads with a stable grade in a linguistic role."""
        return sum(self.grades[1:])


@dataclass(frozen=True)
class AtlasFacts:
    """What atlas.json says, in its order."""

    headscope: str
    name: str
    made: str
    "By which workers, such as 2 local workers, 1 thread each."
    notes: tuple[str, ...]
    "What a reader should know before believing the numbers."
    runs: tuple[AtlasRun, ...]

    def __post_init__(self) -> None:
        """Refuse runs of one name, and runs whose counts are incomplete."""
        names = [run.name for run in self.runs]
        if len({*names}) < len(names):
            raise ValueError(f"two runs have the name {next(name for name in names if names.count(name) > 1)!r}")
        for run in self.runs:
            for what, counts, parts in (("grades", run.grades, GRADES), ("verdicts", run.verdicts, ANSWERS)):
                if len(counts) != (wanted := 0 if run.failed else len(parts)):
                    raise ValueError(f"{what} of run {run.name!r} are {len(counts)} numbers, not {wanted}")

    @property
    def finished(self) -> tuple[AtlasRun, ...]:
        """The runs that did not fail."""
        return tuple(run for run in self.runs if not run.failed)

    @property
    def failed(self) -> tuple[AtlasRun, ...]:
        """The runs that failed."""
        return tuple(run for run in self.runs if run.failed)


@dataclass(frozen=True)
class AtlasRecord(AtlasFacts):
    """Everything that the page shows."""

    answers: pd.DataFrame
    "Rows of `reports.compare.atlas_record.ATLAS`."
    across: pd.DataFrame
    "Rows of `reports.compare.atlas_record.ACROSS`; none where no model has two corpora."
