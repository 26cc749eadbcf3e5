"""What a page says, one line a heading, table, row or paragraph: of HTML and of Markdown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from html.parser import HTMLParser

from tests.packed import loaded
from tests.unchanged.masks import without_times

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
BLOCKS = HEADINGS | {"p", "li", "dt", "dd", "caption", "figcaption", "summary", "td", "th", "tr", "table", "pre"}
BLOCKS |= {"div", "section", "header", "nav"}
"Elements that end the text before them."

SHORT = 2000
"Longer data of a page is told by its digest."


class _Reader(HTMLParser):
    """Collects the lines of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.heading = self.title = ""
        self.kind = "text"
        self.text: list[str] = []
        self.cells: list[str] = []
        self.head = True
        self.script: str | None = None
        self.within = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """End the text before a block; note which data a script holds, and what a figure shows."""
        given = dict(attrs)
        if tag in ("script", "style"):
            self.script = f"data {given.get('id') or given.get('class') or ''}".strip() if _is_data(given) else ""
        if tag in BLOCKS:
            self._end()
        if tag in HEADINGS:
            self.kind = tag
        elif tag == "table":
            self.title = self.heading
        elif tag == "caption":
            self.kind = "caption"
        elif tag == "tr":
            self.cells, self.head = [], True
        elif tag in ("td", "th"):
            self.text, self.within = [], True
            self.head = self.head and tag == "th"
        elif tag == "img" and given.get("alt"):
            self.lines.append(f"image: {given['alt']}")

    def handle_endtag(self, tag: str) -> None:
        """Write what the element said."""
        if tag in ("script", "style"):
            self.script = None
        elif tag in ("td", "th"):
            self.cells.append(self._taken())
            self.within = False
        elif tag == "tr":
            self.lines += [f"table: {self.title}"] * bool(self.title)
            self.lines.append(f"{'columns' if self.head else 'row'}: {' | '.join(self.cells)}")
            self.title = ""
            self.cells = []
        elif tag in BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        """Keep a text; of scripts the data alone."""
        if self.script is None:
            self.text.append(data)
        elif self.script:
            self.lines.append(f"{self.script}: {_told(data)}")

    def _taken(self) -> str:
        found = " ".join("".join(self.text).split())
        self.text = []
        return found

    def _end(self) -> None:
        """Write the text so far; within a cell it goes on."""
        if self.within:
            self.text.append(" ")
            return
        found = self._taken()
        if self.kind == "caption":
            self.title = found
        elif found:
            self.lines.append(f"{self.kind}: {found}")
            self.heading = found if self.kind in HEADINGS else self.heading
        self.kind = "text"


def _is_data(given: dict[str, str | None]) -> bool:
    return "json" in (given.get("type") or "")


def _told(data: str) -> str:
    """Return data of a page in its shortest JSON, or its digest where that is long."""
    short = json.dumps(without_times(loaded(data)), ensure_ascii=False, sort_keys=True)
    return short if len(short) <= SHORT else f"sha256 {hashlib.sha256(short.encode()).hexdigest()}, {len(short)} signs"


def html_lines(page: str) -> list[str]:
    """Return what an HTML page says; its styles and programs are left out, its data is not."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.lines


def markdown_lines(page: str) -> Iterator[str]:
    """Yield what a Markdown page says, in the same form."""
    heading, in_table = "", False
    for line in filter(None, map(str.strip, page.splitlines())):
        if line.startswith("|"):
            cells = " | ".join(cell.strip() for cell in line.strip("|").split(" | "))
            if not in_table:
                yield f"table: {heading}"
            if set(line) - set("|-: "):
                yield f"{'row' if in_table else 'columns'}: {cells}"
        elif line.startswith("#"):
            marks, _, heading = line.partition(" ")
            yield f"h{len(marks)}: {heading}"
        else:
            yield f"text: {line}"
        in_table = line.startswith("|")
