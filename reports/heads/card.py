"""One head's whole profile, in all forms: plain text, Markdown, HTML for notebooks, and data for a page."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.formats import escaped
from reports.heads.card_parts import (
    CardPart,
    CardSource,
    Part,
    biography,
    circuits,
    classifiers,
    ensembles,
    examples,
    layer,
    nearest,
    roles,
    shape,
    subspaces,
)
from reports.progress import Step, each, silent
from reports.run.folder import RunFolder
from reports.tables.text_table import TextTable, html_rows, plain_rows

FIRST: Final[Sequence[Part]] = (roles, layer)
"The parts of a card that stand before those of measures (`Reported.card`)."

LAST: Final[Sequence[Part]] = (shape, nearest, ensembles, subspaces, circuits, classifiers, biography, examples)
"Those that stand behind."


@dataclass(frozen=True)
class HeadCard:
    """All that a run says of one head; `print` shows it, and a notebook shows it as a page would."""

    run: str
    name: str
    parts: tuple[CardPart, ...]
    scores: pd.DataFrame
    "The head's rows of scores.parquet."

    @property
    def title(self) -> str:
        """Head, layer and run in words."""
        layer, head = self.name.split("-")
        return f"Head {self.name} of {self.run}: layer {layer}, head {head}, counted from 1"

    def __str__(self) -> str:
        """The card as plain text."""
        return "\n".join([self.title, *(line for part in self.parts for line in _plain(part))])

    def _repr_markdown_(self) -> str:
        return "\n".join([f"### {escaped(self.title)}", *(line for part in self.parts for line in _markdown(part))])

    def _repr_html_(self) -> str:
        return f"<h3>{html.escape(self.title)}</h3>{''.join(map(_html, self.parts))}"


def _plain(part: CardPart) -> Iterator[str]:
    yield from ("", part.title, *(f"  {sentence}" for sentence in part.sentences))
    yield from plain_rows(part.columns, part.rows)


def _markdown(part: CardPart) -> Iterator[str]:
    yield from ("", f"#### {escaped(part.title)}", "", *(f"- {escaped(sentence)}" for sentence in part.sentences))
    if part.rows:
        yield from ("", *TextTable(part.title, part.columns, part.rows).markdown_lines())


def _html(part: CardPart) -> str:
    text = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in part.sentences)
    return f"<h4>{html.escape(part.title)}</h4>{text}{html_rows(part.columns, part.rows)}"


def head_card(run: RunFolder, name: str, measures: Sequence[Part] = ()) -> HeadCard:
    """Return the card of the head called `name`, which the run must have; `measures` are the parts of measures."""
    return _card(CardSource(run), name, [*FIRST, *measures, *LAST], run.scores[run.scores["name"] == name])


def head_cards(source: CardSource, step: Step = silent, measures: Sequence[Part] = ()) -> tuple[HeadCard, ...]:
    """Return the cards of all heads with the parts of `measures`, telling `step` of each.

    They are without examples, which a page draws.
    """
    makers = [*FIRST, *measures, *(part for part in LAST if part is not examples)]
    heads = [(str(name), scores) for (_, _, name), scores in source.run.scores.groupby(["layer", "head", "name"])]
    return tuple(_card(source, name, makers, scores) for name, scores in each("page: cards of heads", heads, step))


def _card(source: CardSource, name: str, makers: Sequence[Part], scores: pd.DataFrame) -> HeadCard:
    parts = (make(source, name) for make in makers)
    return HeadCard(
        source.run.name, name, tuple(part for part in parts if part is not None), scores.reset_index(drop=True)
    )
