"""The tables of head biographies, as pages and Markdown show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from reports.formats import MISSING, count, decimal, escaped, percent, signed_interval
from reports.tables.cells import POINTS, Cell, TextColumn

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


def _onset(row: Any) -> Cell:
    return Cell(count(round(row.onset)), look="strong", sort=float(row.onset))


def _count(number: int) -> Cell:
    return Cell(count(number), sort=int(number))


ONSETS: Final = (
    TextColumn("Role", lambda row: Cell(row.label, row.probe, quiet="muted"), "row", only="page"),
    TextColumn("Role", lambda row: f"{row.probe}: {row.label}", "row", only="text"),
    TextColumn("Variant", lambda row: row.variant, "text", "muted"),
    TextColumn("Onset, step", _onset, "rising"),
    TextColumn("Interval", lambda row: row.interval),
    TextColumn("Between checkpoints", lambda row: Cell(row.between, sort=float(row.by))),
    TextColumn("Before the next, %", lambda row: percent(row.before_next)),
    TextColumn("Seeds with an onset", lambda row: f"{row.found} of {row.seeds}"),
    TextColumn("Resamples with one, %", lambda row: percent(row.sure)),
    POINTS.column("Margin at first", "first_margin"),
    POINTS.column("at its peak", "peak_margin"),
    TextColumn("Step of the peak", lambda row: _count(row.peak_step)),
    POINTS.column("at last", "last_margin"),
    TextColumn("Best head at the peak", lambda row: ", ".join(row.heads), "text", "head"),
    TextColumn("n", lambda row: _count(row.n)),
)


def _baseline(row: Follower) -> Cell:
    told = percent(row.baseline_accuracy)
    bracketed = f"{told} ({escaped(row.baseline)})"
    return Cell(told, row.baseline, sort=float(row.baseline_accuracy), quiet="muted", markdown=bracketed)


FOLLOWERS: Final = (
    TextColumn("Direction", lambda row: row.direction, "text"),
    TextColumn("Label", lambda row: row.label, "text"),
    TextColumn("Seed", lambda row: row.seed),
    TextColumn("At", lambda row: row.when, "text"),
    TextColumn("Step", lambda row: _count(row.step)),
    TextColumn("Head", lambda row: row.head, "text", "head"),
    TextColumn("Accuracy, %", lambda row: percent(row.accuracy)),
    TextColumn("Strongest baseline, %", _baseline),
    POINTS.column("Margin", "margin", look="strong"),
    TextColumn("95 % interval", lambda row: Cell(signed_interval(row.low, row.high), sort=float(row.low))),
    POINTS.column("Over itself at first", "excess"),
    TextColumn("n", lambda row: _count(row.n)),
)


def _named(names: Sequence[str]) -> Cell:
    more = f", +{len(names) - NAMED}" if len(names) > NAMED else ""
    every = escaped(", ".join(names)) or MISSING
    return Cell((", ".join(names[:NAMED]) or MISSING) + more, markdown=every)


COURSES: Final = (
    TextColumn("Life", lambda course: course.life, "row"),
    TextColumn("Heads", lambda course: count(course.heads), look="strong"),
    TextColumn("The head ...", lambda course: course.meaning, "text", "wrapping"),
    TextColumn("Which (role)", lambda course: _named(course.names), "text", "wrapping muted"),
)


def _since(row: Mapping[str, Any]) -> Cell:
    return _count(int(row["since"])) if row["last_role"] else Cell(MISSING, sort="")


LIVES: Final = (
    TextColumn("Seed", lambda row: Cell(str(row["seed"]), sort=row["seed"])),
    TextColumn("Head", lambda row: row["name"], "text", "head"),
    TextColumn("Life", lambda row: f"{row['life']}{', narrows' * bool(row['narrows'])}", "text"),
    TextColumn("First role", lambda row: row["first_role"] or MISSING, "text"),
    TextColumn("Last role", lambda row: row["last_role"] or MISSING, "text"),
    TextColumn("Since step", _since),
    TextColumn("Most effective roles", lambda row: decimal(row["widest"])),
    TextColumn("at last", lambda row: decimal(row["last_effective"])),
)

MATCHES: Final = (
    TextColumn("Matched", lambda row: MATCHED[row.what], "row"),
    TextColumn("Pairs of models", lambda row: count(row.pairs)),
    TextColumn("Distance, nats", lambda row: decimal(row.distance), look="strong"),
    TextColumn("on other sentences", lambda row: decimal(row.null)),
    TextColumn("of random pairs", lambda row: decimal(row.chance)),
    TextColumn("Matched to itself, %", lambda row: percent(row.itself)),
    TextColumn("Same role, %", lambda row: percent(row.same_role)),
    TextColumn("by chance, %", lambda row: percent(row.same_role_chance)),
)

NARROWS: Final = "was a generalist and became a specialist, whatever else it did"

SHOWN: Final[Mapping[str, tuple[str, Sequence[TextColumn]]]] = {
    "onsets": ("When roles came, in their order", ONSETS),
    "followers": ("The best head of each seed, at its best step and at the last one", FOLLOWERS),
    "courses": ("Heads by their life", COURSES),
    "lives": ("Lives of heads", LIVES),
    "matched": ("Is it the same head? Heads matched by the distance of their maps", MATCHES),
}
"Name -> title and columns of each table."
