"""How numbers are written on a page: one spelling for HTML, Markdown and figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from numbers import Integral
from pathlib import PurePath
from typing import Any, Final

MISSING = "–"
"Stands for a number that was not measured; never 0."


def model_title(name: str) -> str:
    """Return what pages call a model: its name, of a folder the last part, of a training its run and step too.

    >>> model_title("minilm"), model_title("hub:owner/name"), model_title("/somewhere/deep/my-bert")
    ('minilm', 'hub:owner/name', 'my-bert')
    >>> model_title("/deep/runs/scratch/seed-1/checkpoints/step-500")
    'scratch@seed-1@step-500'
    >>> model_title("/deep/runs/scratch/seed-1")
    'scratch@seed-1'
    """
    parts = PurePath(name).parts
    if name.startswith("hub:") or len(parts) < 2:
        return name
    if parts[-2] == "checkpoints" and len(parts) > 3:
        return "@".join([*parts[-4:-2], parts[-1]])
    return "@".join(parts[-2:]) if re.fullmatch(r"seed-\d+", parts[-1]) else parts[-1]


def names_apart(names: Sequence[str]) -> list[str]:
    """Return names without the folders that all share; equal ones are numbered.

    >>> names_apart(["runs/pretrained/trees", "runs/random/trees"]), names_apart(["a", "a"])
    (['pretrained/trees', 'random/trees'], ['a (1)', 'a (2)'])
    >>> names_apart(["/old/trees", "runs/trees"])
    ['/old/trees', 'runs/trees']
    """
    parts = [PurePath(name).parts for name in names]
    shared = 0
    while all(len(one) > shared + 1 for one in parts) and len({one[shared] for one in parts}) == 1:
        shared += 1
    short = [PurePath(*one[shared:]).as_posix() for one in parts]
    return [f"{name} ({place})" if short.count(name) > 1 else name for place, name in enumerate(short, 1)]


def minus(text: str) -> str:
    """Return the text of a number with a minus in the place of every hyphen."""
    return text.replace("-", "−")


def percent(fraction: float) -> str:
    """Write a fraction in percent with one decimal, without the sign: 0.7399 is "74.0", -0.0001 is "0.0"."""
    text = f"{100 * fraction:.1f}"
    return MISSING if math.isnan(fraction) else "0.0" if text == "-0.0" else minus(text)


def whole_percent(fraction: float) -> str:
    """Write a fraction in whole percent, without the sign: -0.021 is "−2"."""
    return MISSING if math.isnan(fraction) else minus(f"{round(100 * fraction)}")


def tenths(fraction: float) -> int | None:
    """Round a fraction to tenths of a percent exactly as `percent` writes it: 0.7399 is 740; None where missing."""
    return None if math.isnan(fraction) else round(10 * float(f"{100 * fraction:.1f}"))


def signed(fraction: float) -> str:
    """Write a difference of fractions in percentage points with its sign: -0.021 is "−2.1"."""
    return MISSING if math.isnan(fraction) else minus(f"{100 * fraction:+.1f}")


def signed_percent(fraction: float) -> str:
    """Write a fraction that can be negative in percent with its sign, without that of percent: 0.5 is "+50.0"."""
    return signed(fraction)


def decimal(value: float, digits: int = 2) -> str:
    """Write a number with two decimals, or as many as are asked for: 1.234 is "1.23", -0.5 is "−0.50"."""
    return MISSING if math.isnan(value) else minus(f"{value:.{digits}f}")


def decimal3(value: float) -> str:
    """Write a number with three decimals: 1.2345 is "1.234"."""
    return decimal(value, 3)


def signed_whole(number: int) -> str:
    """Write a whole number with its sign: -1 is "−1", 0 is "0"."""
    return minus(f"{number:+d}") if number else "0"


def p_value(p: float) -> str:
    """Write a p-value with three decimals: 0.0123 is "0.012", what is smaller than a thousandth is "< 0.001"."""
    return MISSING if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def cost(value: float) -> str:
    """Write a cost, or any difference in a unit of its own: three digits, but six decimals at the most.

    The spelling hangs on the number alone, so that one cost is the same in every table, sentence and drawing.

    >>> cost(0.04512), cost(-0.2), cost(2), cost(0.00015)
    ('0.0451', '−0.200', '2.00', '0.000150')
    """
    if math.isnan(value):
        return MISSING
    if not round(value, 6):
        return "0.0000"
    digits = min(max(2 - math.floor(math.log10(abs(value))), 2), 6)
    return minus(f"{value:.{digits}f}")


def in_unit(value: float, unit: str, digits: int | None = None) -> str:
    """Write a number of a unit: fractions in percent or points, others with `digits` decimals, or three digits in all.

    >>> in_unit(0.5, "%"), in_unit(-0.021, "points"), in_unit(1234.5, "µs", 1), in_unit(0.0123456, "nats")
    ('50.0', '−2.1', '1,234.5', '0.0123')
    """
    if math.isnan(value):
        return MISSING
    if unit in ("%", "points"):
        return signed(value) if unit == "points" and percent(value) != "0.0" else percent(value)
    if digits is not None and digits <= 6:
        return minus(f"{value:,.{digits}f}")
    if value and not 1e-4 <= abs(value) < 1e15:
        return minus(f"{value:.2g}")
    return minus(f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}")


def compact(value: float, most: float) -> str:
    """Write a number in a cell of a map whose largest is `most`: few digits, and no 0 before the point of small ones.

    As `compact` of page.js.
    """
    digits = 0 if most >= 10 else 1 if most >= 2 else 2 if most >= 0.2 else 3
    text = minus(f"{round(value, digits) or 0.0:.{digits}f}")
    return text.replace("0.", ".", 1) if most < 1 and abs(value) < 1 else text


def points(fraction: float) -> str:
    """Write a difference as percentage points without needless zeros: 0.1 is "10", 0.125 is "12.5"."""
    return f"{100 * fraction:.6g}"


def tied(text: str) -> str:
    """Return `text` with every percent sign tied to its number, so that no line breaks between them."""
    return text.replace(" %", "\u00a0%")


def interval(low: float, high: float) -> str:
    """Write an interval of fractions in percent; "" where it was not measured."""
    return "" if math.isnan(low) or math.isnan(high) else f"[{percent(low)}, {percent(high)}]"


def signed_interval(low: float, high: float) -> str:
    """Write an interval of differences in percentage points; "" where it was not measured."""
    return "" if math.isnan(low) or math.isnan(high) else f"[{signed(low)}, {signed(high)}]"


def count(number: object) -> str:
    """Write a whole number with thousands separated; what is no number is returned as text."""
    return f"{int(number):,}" if isinstance(number, Integral) else MISSING if number is None else str(number)


def shape_text(layers: object, heads: object) -> str:
    """Write how many layers of how many heads a model has.

    >>> shape_text(6, 12), shape_text(3, 1)
    ('6 layers of 12 heads', '3 layers of 1 head')
    """
    return f"{layers} layer{'s' * (layers != 1)} of {heads} head{'s' * (heads != 1)}"


def duration(seconds: object) -> str:
    """Write a time in seconds, or minutes and seconds above two minutes."""
    if not isinstance(seconds, int | float):
        return MISSING
    minutes, rest = divmod(round(seconds), 60)
    return f"{seconds:.1f} s" if seconds < 120 else f"{minutes} min {rest:02d} s"


def about_minutes(seconds: float) -> str:
    """Write an estimate of a time: "about 9 minutes", and at least one.

    >>> about_minutes(531.0), about_minutes(5.0)
    ('about 9 minutes', 'about 1 minute')
    """
    minutes = max(1, round(seconds / 60))
    return f"about {minutes} minute{'s' if minutes > 1 else ''}"


def day(moment: object) -> str:
    """Write the day of an ISO date and time: "2026-11-20T19:01:00+00:00" is "20 November 2026"."""
    try:
        date = datetime.fromisoformat(str(moment))
    except ValueError:
        return str(moment or MISSING)
    return f"{date.day} {date:%B %Y}"


def escaped(value: object) -> str:
    r"""Return text from the data so that Markdown shows it as it is, also inside a table and as one line.

    >>> escaped("a|b <i>_x_")
    'a\\|b &lt;i>\\_x\\_'
    """
    text = re.sub(r"<(?! )", "&lt;", str(value).replace("&", "&amp;"))
    return re.sub(r"\s+", " ", re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", text))


def names(heads: Sequence[str], most: int = 12) -> str:
    """Return names of heads, the first of them where there are many.

    >>> names(["3-1", "2-4", "1-1"], 2)
    '3-1, 2-4 and 1 more'
    """
    more = len(heads) - most
    return ", ".join(heads[:most]) + (f" and {more} more" if more > 0 else "") or MISSING


def plain(number: object) -> str:
    """Write a whole number that names something, such as a layer or a step: -1 is "−1", 1000 is "1000"."""
    return minus(str(number))


def yes_or_no(holds: bool) -> str:
    """Write whether something holds."""
    return "yes" if holds else "no"


def listed(values: Iterable[Any]) -> str:
    """Write the parts of a list with spaces between them, lists in it with plus signs.

    >>> listed(["walk", ["walk", "##ed"]])
    'walk walk+##ed'
    """
    return " ".join(str(one) if isinstance(one, str | int) else "+".join(map(str, one)) for one in values)


def moment(step: float) -> str:
    """Write a step of training: 1000.0 is "1,000", infinity "never"."""
    return MISSING if math.isnan(step) else "never" if math.isinf(step) else f"{step:,.0f}"


UNITS: Final[Mapping[object, str]] = {percent: "%", whole_percent: "%", signed_percent: "%", signed: "points"}
"Writer -> the unit that it leaves out, which the heading of a column says."


def named_file(name: str) -> str:
    """Return a name that a file can have: letters, digits and hyphens.

    >>> named_file("nsubj:*, head->dependent")
    'nsubj-head-dependent'
    """
    return re.sub(r"[^0-9A-Za-z]+", "-", name).strip("-") or "unnamed"
