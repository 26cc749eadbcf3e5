"""Signs before numbers that say: read this with care; small drawings of a number on a line from 0 to 100 %."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from reports.formats import count, decimal
from reports.tables.cells import Cell, TextColumn
from reports.tables.column import value_in
from reports.tables.shared_columns import CLUSTERS

FEW_CLUSTERS: Final = 20
"Below this many documents (or sentences) a bootstrap interval is rough, and is marked."


def fewest_documents(tests: float, alpha: float) -> int:
    """Return how few documents can show a p below `alpha` that is corrected for so many tests.

    A p of n documents is at least 1 / 2**n, as if each had a sign by chance (`probes.evidence.leads.Means.p_above`).

    >>> fewest_documents(2 * 72, alpha=0.05)
    12
    """
    return math.floor(math.log2(tests / alpha)) + 1


def fewest_unseen(lead: float, margin: float, alpha: float) -> float:
    """Return in how many documents those that would bring a lead down to the margin can hardly all be missing.

    In fewer, the chance of that is alpha or more (`probes.evidence.leads.p_unseen`); infinite for a lead of no more
    than the margin.
    """
    above = lead - margin
    return math.log(alpha) / math.log1p(-above / (1 + lead)) if above > 0 else math.inf


def few_clusters(clusters: int) -> str:
    """Return the caution of a number that rests on few clusters; "" where they are enough, or nothing was counted."""
    if not 0 < clusters < FEW_CLUSTERS:
        return ""
    return f"{clusters} clusters, fewer than {FEW_CLUSTERS}: intervals and tests are rough"


def few_documents(effective: float) -> str:
    """Return the caution of a score whose effective number of documents is small; "" where it is enough."""
    if not 0 < effective < FEW_CLUSTERS:
        return ""
    return f"effective number of documents {decimal(effective, 1)}, below {FEW_CLUSTERS}: intervals and tests are rough"


def clusters_shown(**more: Any) -> TextColumn:
    """Return the column of clusters as tables for people have it: few ones are marked."""
    clusters = value_in("", "clusters")

    def marked(row: Any) -> Cell:
        return Cell(count(clusters(row)), sort=clusters(row), caution=few_clusters(clusters(row)))

    return CLUSTERS.shown(write=marked, **more)


VERDICT_CLASSES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("holds", "reproduced", "kept"), "kept"),
    **dict.fromkeys(("does not hold", "not reproduced", "missed"), "missed"),
    **dict.fromkeys(("not decided", "differs", "weaker version holds"), "open"),
}
"Verdict on a statement, a finding or a claim -> its class in the style sheets; all others are none."


def verdict_class(verdict: str) -> str:
    """Return the class of a verdict."""
    return VERDICT_CLASSES.get(verdict, "none")


def verdict_cell(verdict: str) -> Cell:
    """Return a verdict as the cell of a table."""
    return Cell(verdict, css=verdict_class(verdict))


DRAWN: Final = Markup(
    '<svg viewBox="0 0 108 16" width="80" height="12" aria-hidden="true"><path class="axis" d="M4 8h100"/>{}</svg>'
)


def ends(*numbers: int) -> Markup:
    """Return the head of a column of such drawings, with the numbers that its line bears."""
    told = Markup('<span class="sr">Accuracy drawn from 0 to 100</span><span aria-hidden="true" class="ends">{}</span>')
    return told.format(Markup("").join(Markup("<i>{}</i>").format(number) for number in numbers))


def spark(accuracy: float, low: float, high: float, *, below: Markup, hollow: bool = False) -> Markup:
    """Return the drawing of an accuracy and its interval over what lies `below` it; empty where it is NaN."""
    if math.isnan(accuracy):
        return Markup("")
    between = "" if math.isnan(low) else Markup('<path class="range" d="M{} 8H{}"/>').format(_x(low), _x(high))
    dot = Markup('<circle class="dot{}" cx="{}" cy="8" r="3.2"/>').format(" hollow" if hollow else "", _x(accuracy))
    return DRAWN.format(below + between + dot)


def baseline_marks(baseline: float, lexical: float, rule: float) -> Markup:
    """Return the marks of the strongest baseline, the lexical table and the strongest rule, of those that there are."""
    marks = (("lex", "M{} 4l4 4-4 4-4-4z", lexical), ("lex", "M{} 4l4 8h-8z", rule), ("base", "M{} 2v12", baseline))
    return Markup("").join(
        Markup('<path class="{}" d="{}"/>').format(name, path.format(_x(accuracy)))
        for name, path, accuracy in marks
        if not math.isnan(accuracy)
    )


CHANCE_DRAWN: Final = Markup('<path class="base" d="M54 1v14"/>')
"The line of chance where that is 50 %."


def _x(fraction: float) -> str:
    return f"{4 + 100 * fraction:.1f}"
