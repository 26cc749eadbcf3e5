"""The blocks of a page: texts, tables, charts, maps of all heads, and what can be folded.

A page is a list of sections, a section a list of blocks; each block writes itself in HTML and in Markdown by a macro of
blocks.html.j2 and of blocks.md.j2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from markupsafe import Markup

from reports.formats import MISSING, decimal
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable
from reports.templates.environment import environment

if TYPE_CHECKING:
    from reports.drawing.charts import Chart


def by_layer(title: str, frame: pd.DataFrame, of: Sequence[str], layer: str = "layer") -> TextTable:
    """Return the table of `value` [low, high], a row for each combination of the columns `of` and a column a layer.

    Layer 0 is the input. Rows keep the order of `frame`.
    """
    rows: dict[str, dict[Any, Any]] = {}
    for one in frame.to_dict("records"):
        name = ": ".join(dict.fromkeys(str(one[column]) for column in of))
        rows.setdefault(name, {"name": name})[int(one[layer])] = one
    columns = [
        TextColumn("Measure", lambda row: row["name"], "row"),
        *(
            TextColumn(f"Layer {depth}" if depth else "Input", partial(_cell, depth), kind="num")
            for depth in sorted(frame[layer].unique().tolist())
        ),
    ]
    return TextTable.of(title, columns, list(rows.values()))


def _cell(depth: int, row: dict[Any, Any]) -> Cell | str:
    if depth not in row:
        return ""
    one = row[depth]
    return Cell(decimal(one["value"]), f"[{decimal(one['low'])}, {decimal(one['high'])}]")


class Block:
    """Something that stands on a page."""

    macro: ClassVar[str]
    "Of the macros that write it, in either template."
    assets: ClassVar[tuple[str, ...]] = ()
    "Stems of the style sheets and scripts that it needs."

    @property
    def html(self) -> Markup:
        """The block in HTML."""
        return Markup(getattr(_macros("blocks.html.j2"), self.macro)(self))

    @property
    def markdown(self) -> str:
        """The block in Markdown."""
        return str(getattr(_macros("blocks.md.j2"), self.macro)(self)).strip("\n")

    @property
    def within(self) -> Sequence[Block]:
        """The blocks that it holds."""
        return ()


@dataclass(frozen=True)
class Paragraph(Block):
    """A paragraph."""

    macro = "text"
    text: str
    note: bool = False
    "Whether it stands smaller, under what it is about."


@dataclass(frozen=True)
class Points(Block):
    """Sentences, a line each."""

    macro = "points"
    sentences: Sequence[str]


@dataclass(frozen=True)
class Heading(Block):
    """The heading of a part of a section."""

    macro = "heading"
    text: str
    anchor: str = ""
    "What links of the page lead to it by."


@dataclass(frozen=True)
class Terms(Block):
    """What words and numbers mean; a page shows them where one asks, or as they stand."""

    macro = "terms"
    pairs: Collection[tuple[str, str]]
    folded: bool = True


@dataclass(frozen=True)
class Facts(Block):
    """Terms with a value each."""

    macro = "facts"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code(Block):
    """What is typed, or stands in a file."""

    macro = "code"
    text: str


@dataclass(frozen=True)
class TableBlock(Block):
    """A table that people read."""

    macro = "table"
    table: TextTable
    caption: bool = True
    "Whether its title stands above it."
    sorts: bool = False
    "Whether a page sorts it by a press on a heading, and shows it in its full width."
    filter: str = ""
    "Name of the table in its page, if its rows can be filtered there."
    wraps: bool = False
    "Whether its texts take several lines rather than scroll sideways."


@dataclass(frozen=True)
class Charts(Block):
    """Charts side by side; Markdown says what they show."""

    macro = "charts"
    assets = ("charts",)
    charts: Sequence[Chart]
    files: Sequence[str] = ()
    "Pictures of them beside the Markdown, which shows these."


@dataclass(frozen=True)
class HeadMap:
    """One number of every head."""

    title: str
    values: Sequence[Sequence[float]]
    "[layer, head], in `unit`; NaN where there is none."
    unit: str
    about: str = ""
    "Said under the map."
    texts: Sequence[str] = ()
    "Said of each head, layer by layer; its number where nothing is."
    marked: Sequence[bool] = ()
    "Of each head, layer by layer: whether it has a dot."
    group: str = ""
    "Of maps that belong together."

    @classmethod
    def of(
        cls,
        title: str,
        rows: pd.DataFrame,
        column: str,
        shape: tuple[int, int],
        *,
        unit: str = "",
        factor: float = 1,
        text: Callable[[Any], str] | None = None,
        marked: Sequence[bool] = (),
        **more: str,
    ) -> Self:
        """Return the map of `factor` times a column of rows of heads; a head without a row has no number.

        `text` returns what is said of a row, `marked` says which rows have a dot.
        """
        places = [int(layer) * shape[1] + int(head) for layer, head in zip(rows["layer"], rows["head"], strict=True)]
        values, texts, dots = np.full(shape, np.nan), [MISSING] * (shape[0] * shape[1]), [False] * (shape[0] * shape[1])
        values.flat[places] = factor * rows[column].to_numpy(np.float64)
        if text:
            for place, row in zip(places, rows.to_dict("records"), strict=True):
                texts[place] = text(row)
        for place, dot in zip(places, marked, strict=bool(marked)):
            dots[place] = dot
        return cls(title, values.tolist(), unit, texts=texts if text else (), marked=dots, **more)

    @property
    def data(self) -> dict[str, Any]:
        """The map as a page's script reads it: as many digits as tables have, None where there is no number."""
        return {
            "title": self.title,
            "unit": self.unit,
            "group": self.group,
            "values": [_rounded(value, self.unit) for row in self.values for value in row],
            "about": self.about,
            "texts": list(self.texts),
            "marked": [place for place, marked in enumerate(self.marked) if marked],
        }


def _rounded(value: float, unit: str) -> float | None:
    if value != value:
        return None
    return round(value, 1) if unit in ("%", "percentage points") else float(f"{value:.3g}")


@dataclass(frozen=True)
class Matrix(Block):
    """Maps of all heads, layers as rows, of which a page shows one at a time."""

    macro = "matrix"
    assets = ("matrix",)
    title: str
    maps: Sequence[HeadMap]
    file: str
    "The table that holds the numbers, such as shapes.csv."

    @property
    def data(self) -> dict[str, Any]:
        """The maps as the page's script reads them."""
        return {
            "layers": len(self.maps[0].values),
            "heads": max(map(len, self.maps[0].values)),
            "maps": [one.data for one in self.maps],
        }


@dataclass(frozen=True)
class Fold(Block):
    """Blocks that a page shows where one asks."""

    macro = "fold"
    title: str
    blocks: Sequence[Block]

    @property
    def within(self) -> Sequence[Block]:
        """The blocks that it holds."""
        return self.blocks


@dataclass(frozen=True)
class Raw(Block):
    """What no other block can show, by templates, a style sheet and a script of its own."""

    name: str
    "Of NAME.html.j2, and of NAME.css and NAME.js where there are such."
    content: Any
    "`content` in the template."

    @property
    def html(self) -> Markup:
        """The block in HTML."""
        return Markup(environment().get_template(f"{self.name}.html.j2").render(content=self.content))

    @property
    def markdown(self) -> str:
        """Nothing: Markdown cannot show it."""
        return ""


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading that the page links to."""

    name: str
    "Its anchor."
    title: str
    blocks: Sequence[Block]
    group: str = ""
    "What the link on top is called that leads to it and its neighbours of the same group; its title where empty."
    folded: bool = False
    "Whether a page shows its heading alone until one asks."

    @property
    def html(self) -> Markup:
        """The section in HTML."""
        inner = Markup("\n").join(block.html for block in self.blocks)
        return Markup('<section id="{}" class="wrap"{}>\n<h2>{}</h2>\n{}\n</section>').format(
            self.name, " data-folded" if self.folded else "", self.title, inner
        )

    @property
    def assets(self) -> Iterator[str]:
        """Stems of the style sheets and scripts that its blocks need."""
        for block in every_block(self.blocks):
            yield from (block.name,) if isinstance(block, Raw) else block.assets


def every_block(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks and those that they hold."""
    for block in blocks:
        yield block
        yield from every_block(block.within)


@cache
def _macros(template: str) -> Any:
    return environment(html=template.endswith(".html.j2")).get_template(template).module
