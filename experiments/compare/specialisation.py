"""The paper docs/specialisation.md: its tables and figures, from the published atlas, `make specialisation`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from experiments.bench.records import paragraphs, with_blocks
from experiments.findings.clark_2019.rows import NOTEBOOK, TABLE, PublishedRow
from reports.compare.atlas import ATLAS_PAGE
from reports.compare.atlas_record import AtlasRecord
from reports.compare.atlas_shares import GradeShare, counted_rows, grade_share, label_shares, share_chart
from reports.drawing.charts import Chart, save_pictures, series_styles
from reports.drawing.dots import Dot, dot_chart
from reports.formats import MISSING, interval, percent
from reports.scores.plain_names import task
from reports.tables.estimate import Estimate

RECORD, PAGE, FIGURES = (
    Path("reports/published/specialisation"),
    Path("docs/specialisation.md"),
    Path("docs/images"),
)

MODEL, CORPORA = "minilm", ("EWT", "GUM")
"What the published heads and the second figure are shown beside."

HEAD, OFFSET, LEXICAL, RULE = "best head", "position or control", "table of words and distances", "best rule of grammar"
SERIES: Final = (HEAD, LEXICAL, RULE)

POSITION: Final = "baseline_accuracy"
"The column of the strongest baseline or control."

NEAR: Final = 0.05
"Points by which a head must be above or below another text's rival to be called so: the margin of the grades."


def blocks(record: AtlasRecord) -> dict[str, str]:
    """Return the tables of the paper by the names of their places."""
    counted = counted_rows(record)
    return {
        "labels": paragraphs(_label_table(counted), _undecided([*counted.values()])),
        "published heads": paragraphs(*_published(record)),
    }


def _label_table(counted: Mapping[tuple[str, str], pd.DataFrame]) -> Iterator[str]:
    yield "| model | corpus | beyond position and controls | of these, beyond words and distances | beyond rules too |"
    yield "| --- | --- | --- | --- | --- |"
    for (model, corpus), rows in counted.items():
        having = rows[rows.groupby(["probe", "label"])["highest"].transform("max") > 0]
        labels = grade_share(rows, 1).labels
        share = f"{_reached(labels)}, {percent(labels.value)} % {interval(labels.low, labels.high)}"
        nested = " | ".join(_nested(grade_share(having, grade)) for grade in (2, 3))
        yield f"| {model} | {corpus} | {share} | {nested} |"


def _undecided(counted: Sequence[pd.DataFrame]) -> Iterator[str]:
    """Tell how many labels without a head beyond position and controls are undecided in some or every direction."""
    labels = [label for rows in counted for _, label in rows.groupby(["probe", "label"])]
    lacking = [label for label in labels if label["highest"].max() == 0]
    undecided, wholly = (sum(some(label["verdict"] == "undecided") for label in lacking) for some in (any, all))
    yield (
        f"Of {len(labels)} labels {len(lacking)} have no head beyond position and controls, and of these {undecided} "
        f"are undecided in some direction, {wholly} in every one."
    )


def _reached(labels: Estimate) -> str:
    return f"{round(labels.value * labels.n)} of {labels.n}"


def _nested(found: GradeShare) -> str:
    """Write how many labels that have the rival have such a head, and where the selected head is."""
    if not found.labels.n:
        return MISSING
    return f"{_reached(found.labels)}; {found.ahead} ahead, {found.behind} behind"


@dataclass(frozen=True)
class Beside:
    """A published head and the rivals of its relation on our texts."""

    row: PublishedRow
    ours: dict[str, pd.Series[Any]]
    "Corpus -> the row of the atlas of the same relation and direction."

    def value(self, column: str, corpus: str) -> float:
        """Return a number of the atlas; NaN where the corpus was not asked for it."""
        return float(self.ours[corpus][column]) if corpus in self.ours else float("nan")

    def strongest(self, column: str, *, as_hard: bool = False) -> float:
        """Return the largest of the corpora; `as_hard` takes off what position has more there than in the paper."""
        own = {corpus: self.value(column, corpus) for corpus in self.ours}
        easier = {corpus: as_hard * max(self.value(POSITION, corpus) - self.row.baseline, 0.0) for corpus in own}
        return max((own[corpus] - easier[corpus] for corpus in own if own[corpus] == own[corpus]), default=float("nan"))


def published_beside(record: AtlasRecord) -> list[Beside]:
    """Return the relations that both annotations have, from the dependent to its head as the paper has them."""
    own = record.answers[record.answers["model"] == MODEL]
    found = []
    for row in (*TABLE, *NOTEBOOK):
        asked = own[(own["probe"] == row.probe) & (own["label"] == row.label) & (own["variant"] == row.variants[0])]
        ours = {str(one["corpus"]): one for _, one in asked.iterrows() if one["corpus"] in CORPORA}
        if row.alike and ours:
            found.append(Beside(row, ours))
    return found


def _published(record: AtlasRecord) -> Iterator[list[str]]:
    rows = published_beside(record)
    easier = sum(one.strongest(POSITION) > one.row.baseline for one in rows)
    yield [
        _counted(rows, "lexical_accuracy", LEXICAL),
        _counted(rows, "rule_accuracy", RULE),
        f"In {easier} of {len(rows)} relations our position or control is above the published best offset, so that our "
        "texts may be easier; “at equal baselines” subtracts the difference from our table and rule.",
    ]
    columns = (POSITION, "lexical_accuracy", "rule_accuracy", "accuracy")
    heads = (OFFSET, LEXICAL, RULE, "MiniLM's head")
    lines = [
        f"| relation | BERT's head | best offset | {' | '.join(heads)} |",
        f"| --- | ---: | ---: | {' | '.join(['---:'] * len(heads))} |",
    ]
    for one in rows:
        ours = " | ".join(" / ".join(percent(one.value(column, corpus)) for corpus in CORPORA) for column in columns)
        lines.append(f"| {one.row.relation} | {percent(one.row.accuracy)} | {percent(one.row.baseline)} | {ours} |")
    yield lines


def _counted(rows: Sequence[Beside], column: str, rival: str) -> str:
    asked = [one for one in rows if one.strongest(column) == one.strongest(column)]

    def beyond(*, as_hard: bool) -> tuple[int, int]:
        leads = [one.row.accuracy - one.strongest(column, as_hard=as_hard) for one in asked]
        return sum(lead > NEAR for lead in leads), sum(lead < -NEAR for lead in leads)

    (above, below), (hard_above, hard_below) = beyond(as_hard=False), beyond(as_hard=True)
    return (
        f"The published head is more than 5 points above our {rival} in {above} of {len(asked)} relations, and more "
        f"than 5 points below it in {below} (at equal baselines: {hard_above} and {hard_below})."
    )


def figures(record: AtlasRecord) -> dict[str, Chart]:
    """Return the charts of the paper by the names of their files."""
    corpus = CORPORA[0]
    own = counted_rows(record)[MODEL, corpus]
    led = own[(own["grade"] > 0) & own["lexical_accuracy"].notna()].sort_values("lead", ascending=False)
    heads = [
        dot
        for row in led.drop_duplicates(["probe", "label"]).to_dict("records")
        for dot in _dots(task(row["probe"], row["label"], row["variant"]), row["accuracy"], row.__getitem__)
    ]
    published = [
        dot for one in published_beside(record) for dot in _dots(one.row.relation, one.row.accuracy, one.strongest)
    ]
    return {
        "specialisation-labels": share_chart(label_shares(record)),
        "specialisation-heads": _chart(f"Heads of MiniLM on {corpus} beside words, distances and rules", heads),
        "specialisation-published": _chart("Published heads of BERT beside words, distances and rules", published),
    }


def _dots(name: str, accuracy: float, rival: Callable[[str], Any]) -> list[Dot]:
    """Return a head and its rivals on one line."""
    values = (accuracy, float(rival("lexical_accuracy")), float(rival("rule_accuracy")))
    return [
        Dot(name, name, series, value, f"{series}: {percent(value)} %", "circle" if series == HEAD else "stroke")
        for series, value in zip(SERIES, values, strict=True)
        if value == value
    ]


def _chart(title: str, dots: Sequence[Dot]) -> Chart:
    colours = {series: style.colour for series, style in series_styles(SERIES).items()}
    return dot_chart(title, "The tables have the numbers.", dots, colours, axis="accuracy, %")


def main() -> None:
    """Write the tables into the paper, and its figures beside it."""
    record = ATLAS_PAGE.read(RECORD)
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8"), blocks(record)), encoding="utf-8")
    for path in save_pictures({name: chart.spec for name, chart in figures(record).items()}, FIGURES, "svg"):
        print(path)


if __name__ == "__main__":
    main()
