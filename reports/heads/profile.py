"""The profile of all heads of a model over several runs: one line a head, with its roles on every corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, decimal, escaped, percent, signed, signed_whole
from reports.heads.card_parts import CardSource
from reports.progress import Step, each, silent
from reports.run.folder import RunFolder, RunFolderError
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable
from reports.templates.environment import environment

MOST: Final = 5
"Roles that a line tells."


@dataclass(frozen=True)
class HeadLine:
    """The line of one head."""

    name: str
    roles: tuple[str, ...]
    "The surest labels in which it has a grade, one a label and corpus."
    more: int
    "How many further ones there are."
    measures: tuple[str, ...]
    "One a column of `Profile.columns`."

    @property
    def graded(self) -> Cell:
        """The roles, each in a line of its own."""
        lines = [*self.roles, *[f"and {self.more} more"] * (self.more > 0)]
        return Cell("; ".join(lines) or MISSING, markdown="<br>".join(map(escaped, lines)) or MISSING)


@dataclass(frozen=True)
class Profile:
    """All heads of a model over several runs."""

    model: str
    runs: tuple[tuple[str, str, str], ...]
    "Name of each run, and the corpora that its heads were selected and evaluated on."
    columns: tuple[str, ...]
    lines: tuple[HeadLine, ...]

    @property
    def shown(self) -> TextTable:
        """The table of all heads."""
        measures = (
            TextColumn(title, partial(lambda place, line: line.measures[place], place))
            for place, title in enumerate(self.columns)
        )
        name = TextColumn("head", attrgetter("name"), "row")
        columns = (name, TextColumn("grade in", attrgetter("graded"), "wrapping"), *measures)
        return TextTable.of(self.model, columns, self.lines)

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """What the columns of measures mean."""
        return [(title, MEASURES[title][0]) for title in self.columns]

    @property
    def idle(self) -> tuple[str, ...]:
        """The heads without a grade in anything that was asked."""
        return tuple(line.name for line in self.lines if not line.roles)


def profile_page(runs: Sequence[RunFolder], step: Step = silent) -> str:
    """Return the profile of all heads over `runs` in Markdown.

    What is measured beside scores is told from the first run that has it. Raises RunFolderError for runs of
    different models, or of none.
    """
    return environment(html=False).get_template("profile.md.j2").render(profile=head_profile(runs, step))


def head_profile(runs: Sequence[RunFolder], step: Step = silent) -> Profile:
    """Return what is told of all heads over `runs`, telling `step` of each head."""
    models = {run.folder: tuple(run.scores["model"].unique()) for run in runs}
    if not models:
        raise RunFolderError("a profile takes one run or more")
    named = sorted(set(models.values()))
    if len(named) > 1:
        text = "; ".join(f"{folder} is of {', '.join(names)}" for folder, names in models.items())
        raise RunFolderError(f"a profile is of one model, but {text}")
    rows = pd.concat([CardSource(run).rows.assign(run=place) for place, run in enumerate(runs)], ignore_index=True)
    surest = rows[rows["graded"]].drop_duplicates(["run", "name", "probe", "label"])
    surest = surest.sort_values(["margin_low", "label"], ascending=[False, True], kind="stable")
    of_head = {name: own.to_dict("records") for name, own in surest.groupby("name")}
    heads = pd.concat([run.scores for run in runs]).drop_duplicates("name").sort_values(["layer", "head"])["name"]
    told = {title: next((found for run in runs if (found := make(run))), {}) for title, (_, make) in MEASURES.items()}
    columns = {title: found for title, found in told.items() if found}
    lines = []
    for name in each("heads", heads.tolist(), step):
        roles = of_head.get(name, [])
        measures = tuple(found.get(name, MISSING) for found in columns.values())
        lines.append(HeadLine(name, tuple(map(_role, roles[:MOST])), max(len(roles) - MOST, 0), measures))
    about = tuple((run.name, *_corpora(run)) for run in runs)
    return Profile(", ".join(named[0]), about, tuple(columns), tuple(lines))


def _corpora(run: RunFolder) -> tuple[str, str]:
    names = run.scores.drop_duplicates(["split", "corpus"]).set_index("split")["corpus"]
    return str(names.get("select", MISSING)), str(names.get("report", MISSING))


def _role(row: dict[Any, Any]) -> str:
    accuracy, margin = percent(row["accuracy"]), signed(row["margin"])
    return f"{row['label']} ({row['variant']}, {row['corpus']}) {accuracy} {margin}"


HeadTexts = dict[str, str]
"Name of a head -> what a column says of it."


def _said(rows: pd.DataFrame, say: Callable[[dict[Any, Any]], str], by: str = "") -> HeadTexts:
    """Return what is said of each head's row, of the highest where rows are told apart `by` a column."""
    first = rows.sort_values(by, ascending=False, kind="stable").drop_duplicates("name") if len(rows) and by else rows
    return {str(row["name"]): say(row) for row in first.to_dict("records")}


def _table(run: RunFolder, name: str) -> pd.DataFrame:
    return run.tables.get(name, pd.DataFrame())


def _shapes(run: RunFolder, kind: str) -> pd.DataFrame:
    """Return the shapes of a kind of the report split on the run's first scope."""
    table = _table(run, "shapes")
    if table.empty:
        return table
    rows = table[table["split"] == "report"]
    found: pd.DataFrame = rows[(rows["scope"] == rows["scope"].iloc[0]) & (rows["kind"] == kind)]
    return found


def _shape(kind: str, measure: str, write: Callable[[float], str]) -> Callable[[RunFolder], HeadTexts]:
    def make(run: RunFolder) -> HeadTexts:
        rows = _shapes(run, kind)
        rows = rows[rows["measure"] == measure] if len(rows) else rows
        return _said(rows, lambda row: write(float(row["value"])))

    return make


def _selective(run: RunFolder) -> HeadTexts:
    rows = _table(run, "classifiers")
    rows = rows[rows["selectivity"].notna()] if len(rows) else rows
    return _said(rows, lambda row: f"{row['task']} {signed(float(row['selectivity']))}", "selectivity")


def _nearest(run: RunFolder) -> HeadTexts:
    table = _table(run, "distances")
    if table.empty:
        return {}
    turned = table.rename(columns={"name": "other", "other": "name"})
    both = pd.concat([table, turned])[["name", "other", "distance"]].assign(near=lambda rows: -rows["distance"])
    return _said(both, lambda row: f"{row['other']} ({decimal(float(row['distance']))})", "near")


MEASURES: Final[dict[str, tuple[str, Callable[[RunFolder], HeadTexts]]]] = {
    "entropy, nats": (
        "Mean entropy of the attention of a token: 0 where all goes to one token.",
        _shape("entropy", "all tokens", decimal),
    ),
    "to [SEP], %": ("Share of all attention.", _shape("attention", "[SEP]", percent)),
    "to [CLS], %": ("Share of all attention.", _shape("attention", "[CLS]", percent)),
    "distance, words": (
        "Mean distance of the words that are attended to, weighted by attention.",
        _shape("distance", "words", decimal),
    ),
    "class of most maps": (
        "Type of map (Kovaleva et al. 2019, section 4.1), by the rules of a run's page.",
        lambda run: _said(_shapes(run, "class"), lambda row: str(row["measure"]), "value"),
    ),
    "offset by weights alone": (
        "Offset in word pieces that the product of position embeddings prefers; left is < 0.",
        lambda run: _said(_table(run, "circuits"), lambda row: signed_whole(int(row["kernel_offset"]))),
    ),
    "copying": (
        "Sum of the eigenvalues of the value-output circuit over the sum of their moduli (Elhage et al. 2021): "
        "1 where the output raises the logits of the pieces attended to, -1 where it lowers them.",
        lambda run: _said(_table(run, "circuits"), lambda row: decimal(float(row["copying"]))),
    ),
    "most selective classifier": (
        "Task with the highest selectivity of a classifier of the head's output: its accuracy minus that on random "
        "labels, in points (Hewitt and Liang 2019).",
        _selective,
    ),
    "nearest head": (
        "Head with the most similar maps, and the mean Jensen-Shannon divergence of the two in nats: 0 where they are "
        "equal, 0.69 where they never attend to the same place.",
        _nearest,
    ),
}
"Column -> what it means, and what it says of every head by a run; empty where the run did not measure it."
