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


def _measure(place: int, line: HeadLine) -> str:
    return line.measures[place]


@dataclass(frozen=True)
class Profile:
    """All heads of a model over several runs."""

    model: str
    runs: tuple[tuple[str, str, str], ...]
    "Name of each run, and the corpora that its heads were chosen and told on."
    columns: tuple[str, ...]
    lines: tuple[HeadLine, ...]

    @property
    def shown(self) -> TextTable:
        """The table of all heads."""
        measures = (TextColumn(title, partial(_measure, place)) for place, title in enumerate(self.columns))
        columns = (
            TextColumn("head", attrgetter("name"), "row"),
            TextColumn("grade in", attrgetter("graded"), "wrapping"),
            *measures,
        )
        return TextTable.of(self.model, columns, self.lines)

    @property
    def idle(self) -> tuple[str, ...]:
        """The heads without a grade in anything that was asked."""
        return tuple(line.name for line in self.lines if not line.roles)


def profile_page(runs: Sequence[RunFolder], step: Step = silent) -> str:
    """Return the profile of all heads over `runs` in Markdown.

    What is measured beside scores is told from the first run that has it. Raises RunFolderError for runs of
    different models, or of none.
    """
    made = environment(html=False)
    made.filters["md"] = escaped
    return made.get_template("profile.md.j2").render(profile=head_profile(runs, step), meanings=MEANINGS)


def head_profile(runs: Sequence[RunFolder], step: Step = silent) -> Profile:
    """Return what is told of all heads over `runs`, telling `step` of each head."""
    models = {run.folder: tuple(run.scores["model"].unique()) for run in runs}
    if not models:
        raise RunFolderError("a profile takes one run or more")
    named = sorted(set(models.values()))
    if len(named) > 1:
        text = "; ".join(f"{folder} is of {', '.join(names)}" for folder, names in models.items())
        raise RunFolderError(f"a profile is of one model, but {text}")
    sources = [CardSource(run) for run in runs]
    roles = pd.concat([_roles(source) for source in sources], ignore_index=True)
    heads = pd.concat([run.scores for run in runs]).drop_duplicates("name").sort_values(["layer", "head"])["name"]
    columns = [(title, found) for title, make in MEASURES.items() if (found := _first(make, sources))]
    lines = [
        _line(name, roles[roles["name"] == name], [found.get(name, MISSING) for _, found in columns])
        for name in each("heads", heads.tolist(), step)
    ]
    about = tuple((run.name, *_corpora(run)) for run in runs)
    return Profile(", ".join(named[0]), about, tuple(title for title, _ in columns), tuple(lines))


def _corpora(run: RunFolder) -> tuple[str, str]:
    names = run.scores.drop_duplicates(["split", "corpus"]).set_index("split")["corpus"]
    return str(names.get("select", MISSING)), str(names.get("report", MISSING))


def _roles(source: CardSource) -> pd.DataFrame:
    """Return the labels in which heads of a run have a grade, in the variant that is surest."""
    rows = source.rows
    return rows[rows["graded"]].drop_duplicates(["name", "probe", "label"])


def _line(name: str, roles: pd.DataFrame, measures: Sequence[str]) -> HeadLine:
    surest = roles.sort_values(["margin_low", "label"], ascending=[False, True], kind="stable").to_dict("records")
    sentences = tuple(
        f"{row['label']} ({row['variant']}, {row['corpus']}) {percent(row['accuracy'])} {signed(row['margin'])}"
        for row in surest[:MOST]
    )
    return HeadLine(name, sentences, max(len(surest) - MOST, 0), tuple(measures))


HeadTexts = dict[str, str]
"Name of a head -> what a column says of it."


def _first(make: Callable[[RunFolder], HeadTexts], sources: Sequence[CardSource]) -> HeadTexts:
    """Return a column from the first run that has what it tells."""
    return next((found for source in sources if (found := make(source.run))), {})


def _shape(kind: str, measure: str, write: Callable[[float], str]) -> Callable[[RunFolder], HeadTexts]:
    def make(run: RunFolder) -> HeadTexts:
        rows = _shapes(run)
        rows = rows[(rows["kind"] == kind) & (rows["measure"] == measure)] if len(rows) else rows
        return {str(row["name"]): write(float(row["value"])) for row in rows.to_dict("records")}

    return make


def _shapes(run: RunFolder) -> pd.DataFrame:
    """Return the shapes of the report split on the run's first scope."""
    table = run.tables.get("shapes", pd.DataFrame())
    if not len(table):
        return table
    told = table[table["split"] == "report"]
    first: pd.DataFrame = told[told["scope"] == told["scope"].iloc[0]]
    return first


def _class(run: RunFolder) -> HeadTexts:
    rows = _shapes(run)
    return _top(rows[rows["kind"] == "class"], "value", lambda row: str(row["measure"])) if len(rows) else {}


def _kernel(run: RunFolder) -> HeadTexts:
    table = run.tables.get("circuits", pd.DataFrame())
    return {str(row["name"]): signed_whole(int(row["kernel_offset"])) for row in table.to_dict("records")}


def _copying(run: RunFolder) -> HeadTexts:
    table = run.tables.get("circuits", pd.DataFrame())
    return {str(row["name"]): decimal(float(row["copying"])) for row in table.to_dict("records")}


def _selective(run: RunFolder) -> HeadTexts:
    table = run.tables.get("classifiers")
    if table is None:
        return {}
    rows = table[table["selectivity"].notna()]
    return _top(rows, "selectivity", lambda row: f"{row['task']} {signed(float(row['selectivity']))}")


def _top(rows: pd.DataFrame, by: str, say: Callable[[dict[Any, Any]], str]) -> HeadTexts:
    """Return what is said of each head's highest row."""
    first = rows.sort_values(by, ascending=False, kind="stable").drop_duplicates("name")
    return {str(row["name"]): say(row) for row in first.to_dict("records")}


def _nearest(run: RunFolder) -> HeadTexts:
    table = run.tables.get("distances")
    if table is None:
        return {}
    turned = table.rename(columns={"name": "other", "other": "name"})
    both = pd.concat([table, turned])[["name", "other", "distance"]].assign(near=lambda rows: -rows["distance"])
    return _top(both, "near", lambda row: f"{row['other']} ({decimal(float(row['distance']))})")


MEASURES: Final[dict[str, Callable[[RunFolder], HeadTexts]]] = {
    "entropy, nats": _shape("entropy", "all tokens", decimal),
    "to [SEP], %": _shape("attention", "[SEP]", percent),
    "to [CLS], %": _shape("attention", "[CLS]", percent),
    "distance, words": _shape("distance", "words", decimal),
    "class of most maps": _class,
    "offset by weights alone": _kernel,
    "copying": _copying,
    "most selective classifier": _selective,
    "nearest head": _nearest,
}
"Column -> what it says of every head by a run; empty where the run did not measure it."

MEANINGS: Final = {
    "entropy, nats": "Mean entropy of the attention of a token: 0 where all goes to one token.",
    "to [SEP], %": "Share of all attention.",
    "to [CLS], %": "Share of all attention.",
    "distance, words": "Mean distance of the words that are attended to, weighted by attention.",
    "class of most maps": "Type of map (Kovaleva et al. 2019, section 4.1), by the rules of a run's page.",
    "offset by weights alone": "Offset in word pieces that the product of position embeddings prefers; left is < 0.",
    "copying": (
        "Sum of the eigenvalues of the value-output circuit over the sum of their moduli (Elhage et al. 2021): "
        "1 where the output raises the logits of the pieces attended to, -1 where it lowers them."
    ),
    "most selective classifier": (
        "Task with the highest selectivity of a classifier of the head's output: its accuracy minus that on random "
        "labels, in points (Hewitt and Liang 2019)."
    ),
    "nearest head": (
        "Head with the most similar maps, and the mean Jensen-Shannon divergence of the two in nats: 0 where they are "
        "equal, 0.69 where they never attend to the same place."
    ),
}
"Column -> what it means."
