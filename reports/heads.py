"""The grid of all heads, each with its main role, beside their cards: where a reader of a page chooses a head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from string import ascii_letters, ascii_uppercase
from typing import Any, Final

import pandas as pd

from reports.card import HeadCards, head_cards
from reports.card_parts import CardSource
from reports.formats import count, interval, percent, signed, signed_interval
from reports.run import Run
from reports.steps import Step, silent

ANY: Final = "any probe"
"Stands for all probes together."

COLOURS: Final = 7
"Roles that have a colour of their own, the most frequent ones; all have a letter."


@dataclass(frozen=True)
class Role:
    """A label that some head is most surely specialised in."""

    probe: str
    label: str
    letter: str
    colour: int
    "From 1 to COLOURS; 0 for that of all other roles."
    heads: tuple[str, ...]
    "Names of the heads whose main role it is."


@dataclass(frozen=True)
class Roles:
    """The roles of all heads among the labels of every probe, or of one."""

    probe: str
    "The probe, or ANY."
    roles: tuple[Role, ...]
    "The most frequent first."
    said: Mapping[str, str]
    "Name of a head -> its role and numbers in one line."


@dataclass(frozen=True)
class HeadGrid:
    """Every head of a run with its main role, and the cards."""

    layers: int
    heads: int
    views: tuple[Roles, ...]
    "Of every probe, then of each by itself where there are several."
    cards: HeadCards

    @property
    def rows(self) -> list[list[str]]:
        """The labels of all heads, a list a layer; "" for those that have no role."""
        known = {name: role.label for role in self.views[0].roles for name in role.heads}
        places = [[f"{layer + 1}-{head + 1}" for head in range(self.heads)] for layer in range(self.layers)]
        return [[known.get(name, "") for name in row] for row in places]

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        views = [asdict(view) for view in self.views]
        return {"layers": self.layers, "heads": self.heads, "views": views, "cards": self.cards.data}


def head_grid(run: Run, step: Step = silent) -> HeadGrid | None:
    """Return the grid of a run, telling `step` of every head; None where it scored no heads."""
    cards = head_cards(run, step)
    if cards is None:
        return None
    source, names = CardSource(run), [card.name for card in cards.cards]
    probes = source.rows["probe"].unique()
    alone = [_view(probe, source.rows[source.rows["probe"] == probe], names) for probe in probes if len(probes) > 1]
    return HeadGrid(run.layers, run.heads, (_view(ANY, source.rows, names), *alone), cards)


def _view(probe: str, rows: pd.DataFrame, names: Sequence[str]) -> Roles:
    """Return the roles that heads have in `rows`, each head's surest row first."""
    told = {str(row["name"]): row for row in rows.drop_duplicates("name").to_dict("records")}
    return Roles(probe, _roles(told.values()), {name: _said(name, told.get(name)) for name in names})


def _roles(rows: Iterable[Mapping[Any, Any]]) -> tuple[Role, ...]:
    """Count the main roles and give each a letter, one of its own label if that is free."""
    main = {str(row["name"]): (str(row["probe"]), str(row["label"])) for row in rows if row["specialised"]}
    ranked = sorted(Counter(main.values()).items(), key=lambda role: (-role[1], role[0]))
    letters = _letters([label for (_, label), _ in ranked])
    return tuple(
        Role(
            *(*role, letter, place if place <= COLOURS else 0),
            heads=tuple(name for name, one in main.items() if one == role),
        )
        for place, ((role, _), letter) in enumerate(zip(ranked, letters, strict=True), start=1)
    )


def _letters(labels: Sequence[str]) -> list[str]:
    """Return a letter for each label.

    >>> _letters(["det", "dobj", "42", "d"])
    ['D', 'O', 'A', 'B']
    """
    given: list[str] = []
    for label in labels:
        wanted = [*(sign for sign in label.upper() if sign in ascii_uppercase), *ascii_uppercase, *ascii_letters]
        given.append(next((letter for letter in wanted if letter not in given), "•"))
    return given


def _said(name: str, row: Mapping[Any, Any] | None) -> str:
    """Say a head's main role, or where it came nearest to one, with its numbers."""
    if row is None:
        return f"Head {name}: nothing was tested"
    about = f"{row['label']} ({row['probe']}, {row['variant']})"
    margin = f"{signed(row['margin'])} points {signed_interval(row['margin_low'], row['margin_high'])}".rstrip()
    numbers = (
        f"accuracy {percent(row['accuracy'])} % {interval(row['ci_low'], row['ci_high'])}".rstrip(),
        f"{margin} over {row['baseline']}",
        f"n {count(int(row['n']))}",
    )
    role = f"specialised in {about}" if row["specialised"] else f"no role; nearest to one in {about}"
    return " · ".join([f"Head {name}: {role}", *numbers])
