"""The grid of all heads and their scatter, beside their cards: where a reader of a page chooses a head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import pandas as pd

from reports.blocks.block import HeadMap
from reports.formats import count, interval, percent
from reports.heads.card import HeadCards, head_cards
from reports.heads.card_parts import CardSource, Part, main_roles, of_language
from reports.heads.numbers import ENTROPY, accuracy_title, head_numbers, number_data
from reports.heads.role_marks import RoleMark, RoleName, role_marks
from reports.progress import Step, silent
from reports.run.folder import RunFolder
from reports.scores.best_heads import BestHead
from reports.scores.glossary import MEANING
from reports.tables.grades import POSITION
from reports.tables.table import last_step

ANY: Final = "any probe"
"Stands for all probes together."

LANGUAGE: Final = "linguistic roles"
"Stands for all probes but that of positions."

FOLDED: Final = tuple((term, meaning) for term, meaning in MEANING if term in ("margin", "interval", "grade"))
"What the columns of a card mean that are folded."


@dataclass(frozen=True)
class HeadRole:
    """A label in which some head is significantly above its baselines, the one with its surest margin."""

    probe: str
    label: str
    letter: str
    colour: int
    "As in `RoleMark`."
    heads: tuple[str, ...]
    "Names of the heads whose main role it is."


@dataclass(frozen=True)
class Roles:
    """The roles of all heads among the labels of every probe, or of one."""

    probe: str
    "The probe, ANY or LANGUAGE."
    none: str
    "What is said of a head that has none of the roles."
    roles: tuple[HeadRole, ...]
    "Those of language first, the most frequent first."
    descriptions: Mapping[str, str]
    "Name of a head -> its role and numbers in one line, without its name."


@dataclass(frozen=True)
class HeadGrid:
    """Every head of a run with its main role, its numbers, and the cards."""

    layers: int
    heads: int
    views: tuple[Roles, ...]
    "Of language where any head has such a role and others were asked; of every probe, then of each of several."
    cards: HeadCards
    numbers: tuple[HeadMap, ...]
    finding: BestHead | None
    "The first finding of the page, whose card opens; None where nothing was selected."
    layer_attention: tuple[str, ...]
    "Of every layer; empty where all are global."

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        titles = [one.title for one in self.numbers]
        wanted = accuracy_title(self.finding.label, self.finding.variant) if self.finding else ""
        data = {
            "layers": self.layers,
            "heads": self.heads,
            "views": [asdict(view) for view in self.views],
            "numbers": number_data(self.numbers),
            "across": titles.index(ENTROPY) if ENTROPY in titles else None,
            "up": titles.index(wanted) if wanted in titles else None,
            "first": self.first,
            "folded": FOLDED,
            "cards": self.cards.data,
        }
        return data | ({"attention": self.layer_attention} if self.layer_attention else {})

    @property
    def first(self) -> str:
        """The head whose card opens: that of the first finding, else the first that has a role, else the first."""
        roles = [role.heads[0] for view in self.views for role in view.roles]
        return self.finding.name if self.finding else [*roles, self.cards.cards[0].name][0]


@dataclass(frozen=True)
class ExplainedHeads:
    """What the roles of all heads explain in the first scope of a run."""

    rows: pd.DataFrame
    "Of the table `heads`; none where the run has none."

    @classmethod
    def of(cls, run: RunFolder) -> Self:
        """Read the table of a run."""
        table = run.tables.get("heads")
        return cls(pd.DataFrame() if table is None else table[table["scope"] == table["scope"].iloc[0]])

    @property
    def median(self) -> str:
        """How many heads have a role between words, and what the roles of the median one explain; "" if none has.

        A role that gets no attention at all is not counted.
        """
        if self.rows.empty or self.rows["explained"].isna().all():
            return ""
        related = self.rows[self.rows["explained"] > 0]
        if related.empty:
            return ""
        scope = f"{self.rows['scope'].iloc[0]}s"
        having = f"{len(related)} of {len(self.rows)} heads {'has' if len(related) == 1 else 'have'} a grade"
        heads = f"{having} on a relation between words in {scope} (fixed offsets count, spans such as within=4 do not)"
        own, random = (float(related[name].median()) for name in ("explained", "explained_random"))
        beside = f" ({percent(random)} % with randomly initialised weights)" if random == random else ""
        share = f"In the median of these heads the relations explain {percent(own)} % of the attention between words"
        return f"{heads}. {share}{beside}."


def kinds_of_sinks(run: RunFolder) -> dict[str, str]:
    """Return the kind of every head by its name, "" of one that is no sink; empty where that was not measured."""
    if (table := run.tables.get("sinks")) is None:
        return {}
    heads = last_step(table)
    return dict(zip(heads["name"], heads["kind"], strict=True))


def head_grid(source: CardSource, step: Step = silent, measures: Sequence[Part] = ()) -> HeadGrid | None:
    """Return the grid of a run, telling `step` of every head; None where it scored no heads.

    `measures` are the parts that measures have on cards.
    """
    cards = head_cards(source, step, measures)
    if cards is None:
        return None
    run, names = source.run, [card.name for card in cards.cards]
    return HeadGrid(
        layers=run.layers,
        heads=run.heads,
        views=tuple(_views(source, names)),
        cards=cards,
        numbers=head_numbers(source),
        finding=next((row for row in source.named if row.grade), next(iter(source.named), None)),
        layer_attention=tuple(source.layer_attention.values()),
    )


def _views(source: CardSource, names: Sequence[str]) -> Iterator[Roles]:
    """Yield the linguistic roles, of all probes and of each."""
    probes, language = source.rows["probe"].unique(), of_language(source.rows)
    rows = {LANGUAGE: language} if language["graded"].any() and POSITION in probes else {}
    rows |= {ANY: source.rows}
    rows |= {probe: source.rows[source.rows["probe"] == probe] for probe in probes if len(probes) > 1}
    mains = {view: main_roles(one) for view, one in rows.items()}
    marks = role_marks(*(main.values() for main in mains.values()))
    for view, one in rows.items():
        none = "not specialised" if view == LANGUAGE else "significant in no label"
        told = {str(row["name"]): row for row in one.drop_duplicates("name").to_dict("records")}
        said = {name: _said(told.get(name), none) for name in names}
        yield Roles(view, none, _roles(mains[view], marks), said)


def _roles(main: Mapping[str, RoleName], marks: Mapping[RoleName, RoleMark]) -> tuple[HeadRole, ...]:
    """Return the roles of heads, given by name, with their marks."""
    heads: dict[RoleName, list[str]] = {}
    for name, role in main.items():
        heads.setdefault(role, []).append(name)
    return tuple(
        HeadRole(*role, mark.letter, mark.colour, tuple(heads[role])) for role, mark in marks.items() if role in heads
    )


def _said(row: Mapping[Any, Any] | None, none: str) -> str:
    """Say a head's main role, or where it came nearest to one if it has `none`, with its numbers."""
    if row is None:
        return "nothing was tested"
    role = ("specialised" if row["specialised"] else "significant") if row["grade"] else f"{none}; nearest"
    numbers = (
        f"accuracy {percent(row['accuracy'])} % {interval(row['ci_low'], row['ci_high'])}".rstrip(),
        f"baseline {percent(row['baseline_accuracy'])} % ({row['baseline']})",
        f"n {count(int(row['n']))}",
    )
    return " · ".join([f"{role} in {row['label']} ({row['probe']}, {row['variant']})", *numbers])
