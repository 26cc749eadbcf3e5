"""Small drawings in the cells of a table: a number with its interval on a line from 0 to 100 %."""

from __future__ import annotations

import math
from typing import Final

from markupsafe import Markup

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
