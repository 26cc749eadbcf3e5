"""Charts laid out by hand, as shapes that the macro `drawn` writes as inline SVG in the colours of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Shape:
    """One path, dot or text of a chart."""

    kind: Literal["path", "dot", "text"]
    look: str
    "Classes of the style sheet."
    x: float = 0
    y: float = 0
    d: str = ""
    text: str = ""
    "What is written, or what is said where one points at it."
    colour: str = ""


@dataclass(frozen=True)
class Key:
    """An entry of a legend."""

    text: str
    look: str
    colour: str


@dataclass(frozen=True)
class Chart:
    """One panel."""

    title: str
    said: str
    "What the panel shows, for those who do not see it."
    height: float
    shapes: tuple[Shape, ...]
    keys: tuple[Key, ...] = ()
    width: float = 340
    keys_said: str = "series"
    "What the entries of the legend are, for those who do not see it."
