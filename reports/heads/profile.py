"""The profile of all heads of a model over several runs: one line a head, with its roles on every corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import pandas as pd

from reports.blocks.block import Paragraph
from reports.blocks.page import Page
from reports.blocks.short import short_table
from reports.formats import MISSING, count, decimal, names, percent, signed, signed_whole
from reports.heads.card_parts import CardSource
from reports.progress import Step, each, silent
from reports.run.folder import RunFolder, RunFolderError
from reports.scores.plain_names import task
from reports.tables.cells import TextColumn
from reports.tables.grades import POSITION
from reports.tables.text_table import TextTable

MOST: Final = 5
"Roles that a row of the file names."


@dataclass(frozen=True)
class HeadLine:
    """The line of one head."""

    name: str
    roles: tuple[dict[Any, Any], ...]
    "Rows of the labels in which it has a grade, the surest first, one a label and corpus."
    measures: tuple[str, ...]
    "One a column of `Profile.columns`."

    @property
    def written(self) -> str:
        """Its first roles in words, and how many more there are."""
        more = len(self.roles) - MOST
        return "; ".join([*map(_role, self.roles[:MOST]), *[f"and {more} more"] * (more > 0)])

    @property
    def of_language(self) -> dict[Any, Any] | None:
        """The surest of its linguistic roles, by which it is specialised; None where it has none."""
        return next((role for role in self.roles if role["spoken"]), None)


SHORT: Final = (
    TextColumn("Head", itemgetter("name"), "row"),
    TextColumn("Most clearly", lambda row: task(row["probe"], row["label"], row["variant"]), "text", "wrapping"),
    TextColumn("Corpus", itemgetter("corpus"), "text"),
    TextColumn("Accuracy, %", lambda row: percent(row["accuracy"])),
    TextColumn("Above baselines and controls, points", lambda row: signed(row["margin"])),
    TextColumn("Labels in all", lambda row: count(row["labels"])),
)


@dataclass(frozen=True)
class Profile:
    """All heads of a model over several runs."""

    model: str
    runs: tuple[tuple[str, str, str], ...]
    "Name of each run, and the corpora that its heads were selected and evaluated on."
    columns: tuple[str, ...]
    lines: tuple[HeadLine, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row a head: its roles, and what else was measured of it."""
        rows = [(line.name, len(line.roles), line.written, *line.measures) for line in self.lines]
        return pd.DataFrame(rows, columns=["head", "labels", "significant in", *self.columns])

    @property
    def idle(self) -> tuple[str, ...]:
        """The heads without a grade in anything that was asked."""
        return tuple(line.name for line in self.lines if not line.roles)

    def page(self, file: str) -> Page:
        """Return the page of the surest heads; `file` holds all."""
        specialised = [role | {"labels": len(line.roles)} for line in self.lines if (role := line.of_language)]
        specialised.sort(key=lambda row: -row["margin_low"])
        elsewhere = sum(
            any(role["probe"] == POSITION for role in line.roles) for line in self.lines if not line.of_language
        )
        idle = f" In nothing: {names(self.idle)}." if self.idle else ""
        opening = (
            Paragraph(
                f"{len(specialised)} of {len(self.lines)} heads of {self.model} are specialised in a linguistic role, "
                f"and {elsewhere} more in a position alone.{idle}"
            ),
            Paragraph(CRITERION),
            short_table(TextTable.of("Heads", SHORT, specialised), file),
        )
        measured = [f"{name}: heads selected on {select}, evaluated on {report}." for name, select, report in self.runs]
        blocks = (*opening, *map(Paragraph, measured), self._more(file))
        return Page(f"Profile of the heads of {self.model}", (), short=blocks)

    def _more(self, file: str) -> Paragraph:
        columns = "".join(f"; {title} ({MEASURES[title][0].removesuffix('.')})" for title in self.columns)
        return Paragraph(f"Not shown here, in {file}: all heads with all their labels{columns}.")


CRITERION: Final = (
    "A label counts where a head has a stable grade: its accuracy is significantly above baselines of position and "
    "controls. It counts once for each corpus, in the direction whose interval lies highest above them; so stand heads."
)


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
        measures = tuple(found.get(name, MISSING) for found in columns.values())
        lines.append(HeadLine(name, tuple(of_head.get(name, [])), measures))
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
