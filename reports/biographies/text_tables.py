"""The tables of head biographies, as pages and Markdown show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from reports.formats import MISSING, count, escaped, percent
from reports.run.biography_tables import MAIN, TABLES
from reports.tables.cells import Cell, TextColumn
from reports.tables.shared_columns import label_columns

if TYPE_CHECKING:
    from reports.biographies.agreement import Follower

NAMED: Final = 12
"Heads that a page names of a class; Markdown names all."

MATCHED: Final[Mapping[str, str]] = {
    "steps": "neighbouring checkpoints of one seed",
    "seeds": "two seeds at their last checkpoints",
    "start": "two seeds at their first checkpoints",
}
"Kind of a pair -> what it is."

LIFE_SHOWN: Final[Mapping[str, str]] = {
    "commits": "keeps one role",
    "changes": "switches role",
    "wavers": "unsettled",
    "loses": "loses its role",
    "never": "no role",
    "narrows": "narrows",
}
"Trajectory of a head in the tables of a run -> its name for readers."

SCORED, CAME, LIVED, PAIRED = (
    TABLES[name] for name in (MAIN, "biography_onsets", "biography_lives", "biography_matches")
)

ONSETS: Final = (
    *label_columns("Role"),
    CAME["variant"].shown(css="muted"),
    CAME["onset"].shown("Onset, step", "rising", css="strong"),
    TextColumn("Interval", lambda row: row.interval, tip="95 % interval of the onset."),
    TextColumn("Between checkpoints", lambda row: Cell(row.between, sort=float(row.by))),
    TextColumn(
        "Earlier than the next row, %",
        lambda row: percent(row.before_next),
        tip="Share of resamples in which the onset is earlier than that of the next row, ties half.",
    ),
    TextColumn("Seeds with an onset", lambda row: f"{row.with_onset} of {row.seeds}"),
    CAME["onset_share"].shown("Resamples with an onset, %"),
    CAME["first_margin"].shown("Margin at the first checkpoint"),
    CAME["peak_margin"].shown("Largest margin"),
    CAME["peak_step"].shown("Step of the largest margin"),
    CAME["last_margin"].shown("Margin at the last checkpoint"),
    TextColumn(
        "Best head at the largest margin", lambda row: ", ".join(row.heads), "text", "head", tip="One for each seed."
    ),
    CAME["n"].shown(),
)


def _baseline(row: Follower) -> Cell:
    told = percent(row.baseline_accuracy)
    bracketed = f"{told} ({escaped(row.baseline)})"
    return Cell(told, row.baseline, sort=float(row.baseline_accuracy), quiet="muted", markdown=bracketed)


_MARGIN: Final = TABLES["biography_curves"]["margin"]

FOLLOWERS: Final = (
    TextColumn("Direction", lambda row: row.direction, "text"),
    *SCORED.text_columns("label", "seed"),
    TextColumn("At", lambda row: row.when, "text"),
    SCORED["step"].shown(),
    TextColumn("Head", lambda row: row.head, "text", "head"),
    SCORED["accuracy"].shown(),
    SCORED["baseline_accuracy"].shown("Strongest baseline, %", write=_baseline),
    _MARGIN.shown(unit=False, css="strong"),
    _MARGIN.shown_interval(),
    SCORED["excess"].shown("Over itself at the first checkpoint"),
    SCORED["n"].shown(),
)


def _named(names: Sequence[str]) -> Cell:
    more = f", +{len(names) - NAMED}" if len(names) > NAMED else ""
    every = escaped(", ".join(names)) or MISSING
    return Cell((", ".join(names[:NAMED]) or MISSING) + more, markdown=every)


COURSES: Final = (
    TextColumn("Trajectory", lambda course: LIFE_SHOWN[course.life], "row"),
    TextColumn("Heads", lambda course: count(course.heads), css="strong"),
    TextColumn("The head ...", lambda course: course.meaning, "text", "wrapping"),
    TextColumn("Heads (role)", lambda course: _named(course.names), "text", "wrapping muted"),
)


def _trajectory(row: Mapping[str, Any]) -> str:
    return f"{LIFE_SHOWN[row['life']]}{', narrows' * bool(row['narrows'])}"


def _since(row: Mapping[str, Any]) -> Cell:
    return Cell(count(int(row["since"])), sort=int(row["since"])) if row["last_role"] else Cell(MISSING, sort="")


LIVES: Final = LIVED.text_columns(
    "seed",
    LIVED["name"].shown("Head", css="head"),
    LIVED["life"].shown("Trajectory", write=_trajectory, tip="What became of the head."),
    *("first_role", "last_role"),
    LIVED["since"].shown("Since step", write=_since),
    LIVED["widest"].shown("Effective roles, maximum"),
    LIVED["last_effective"].shown("Effective roles, last checkpoint"),
)

MATCHES: Final = (
    PAIRED["what"].shown("Matched", "row", write=lambda row: MATCHED[row.what]),
    TextColumn("Pairs of models", lambda row: count(row.pairs)),
    PAIRED["distance"].shown("Distance, nats", css="strong"),
    PAIRED["null"].shown("on other sentences"),
    PAIRED["chance"].shown("of random pairs"),
    PAIRED["itself"].shown("Matched to itself, %"),
    PAIRED["same_role"].shown(),
    PAIRED["same_role_chance"].shown("by chance, %"),
)

NARROWS: Final = "was a generalist and became a specialist, in any of these trajectories"

SHOWN: Final[Mapping[str, tuple[str, Sequence[TextColumn]]]] = {
    "onsets": ("Onsets of roles, the earliest first", ONSETS),
    "followers": ("The best head of each seed, at its best step and at the last one", FOLLOWERS),
    "courses": ("Heads by trajectory", COURSES),
    "lives": ("Trajectories of heads", LIVES),
    "matched": ("Heads matched by the distance of their maps", MATCHES),
}
"Name -> title and columns of each table."
