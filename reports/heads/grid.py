"""The grid of all heads and their scatter, beside their cards: where a reader of a page chooses a head."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import pandas as pd

from reports.blocks.block import HeadMap
from reports.formats import count, interval, percent
from reports.heads.card import HeadCard, head_cards
from reports.heads.card_parts import CardSource, Part, main_roles, of_language
from reports.heads.role_marks import RoleMark, RoleName, role_marks
from reports.progress import Step, silent
from reports.run.folder import RunFolder
from reports.run.record import ModelFacts
from reports.scores.best_heads import BestHead
from reports.scores.glossary import MEANING
from reports.scores.plain_names import baseline_name, role, role_name
from reports.tables.grades import POSITION, result
from reports.tables.scores import SCORES
from reports.tables.table import last_step

ANY: Final = "any probe"
"Stands for all probes together."

LANGUAGE: Final = "linguistic roles"
"Stands for all probes but that of positions."

ACCURACIES: Final = "accuracy, "
"What groups of numbers begin with that are accuracies on the labels of a probe."

FOLDED: Final = (
    *(("label", SCORES.meaning("label")), ("direction", SCORES.meaning("variant"))),
    *((term, meaning) for term, meaning in MEANING.items() if term in ("margin", "interval", "grade")),
)
"What the columns of a card mean that are folded."


@dataclass(frozen=True)
class HeadRole:
    """A label in which some head is significantly above its baselines, the one with its surest margin."""

    probe: str
    label: str
    text: str
    "The label in words."
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
    cards: tuple[HeadCard, ...]
    numbers: tuple[HeadMap, ...]
    finding: BestHead | None
    "The first finding of the page, whose card opens; None where nothing was selected."
    layer_attention: tuple[str, ...]
    "Of every layer; empty where all are global."
    ablate: str
    "A command that ablates the head called HEAD on a sentence; empty where the model cannot be loaded by its name."

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        titles = [one.title for one in self.numbers]
        wanted = _accuracy_title(self.finding.probe, self.finding.label, self.finding.variant) if self.finding else ""
        data = {
            "layers": self.layers,
            "heads": self.heads,
            "views": [asdict(view) for view in self.views],
            "numbers": [one.data for one in self.numbers],
            "across": next((i for i, one in enumerate(self.numbers) if not one.group.startswith(ACCURACIES)), None),
            "up": titles.index(wanted) if wanted in titles else None,
            "first": self.first,
            "folded": FOLDED,
            "ablate": self.ablate,
            "cards": [{"name": card.name, "parts": [asdict(part) for part in card.parts]} for card in self.cards],
        }
        return data | ({"attention": self.layer_attention} if self.layer_attention else {})

    @property
    def first(self) -> str:
        """The head whose card opens: that of the first finding, else the first that has a role, else the first."""
        roles = [role.heads[0] for view in self.views for role in view.roles]
        return self.finding.name if self.finding else [*roles, self.cards[0].name][0]


def kinds_of_sinks(run: RunFolder) -> dict[str, str]:
    """Return the kind of every head by its name, "" of one that is no sink; empty where that was not measured."""
    if (table := run.tables.get("sinks")) is None:
        return {}
    heads = last_step(table)
    return dict(zip(heads["name"], heads["kind"], strict=True))


def head_grid(
    source: CardSource, step: Step = silent, measures: Sequence[Part] = (), maps: Sequence[HeadMap] = ()
) -> HeadGrid | None:
    """Return the grid of a run, telling `step` of every head; None where it scored no heads.

    `measures` are the parts that measures have on cards, `maps` their numbers of heads.
    """
    cards = head_cards(source, step, measures)
    if not cards:
        return None
    run, names = source.run, [card.name for card in cards]
    return HeadGrid(
        layers=run.layers,
        heads=run.heads,
        views=tuple(_views(source, names)),
        cards=cards,
        numbers=(*maps, *_accuracies(source)),
        finding=source.finding,
        layer_attention=tuple(source.layer_attention.values()),
        ablate=_ablate(run.record.model),
    )


def _ablate(model: ModelFacts) -> str:
    if not model.name or model.source not in (None, "pretrained"):
        return ""
    text = "The keys to the cabinet are on the table ."
    code = f'import headscope as hs; print(hs.ablate(hs.load({json.dumps(model.name)}), "HEAD", "{text}"))'
    return f"python -c {shlex.quote(code)}"


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
    for name, one in main.items():
        heads.setdefault(one, []).append(name)
    return tuple(
        HeadRole(*one, role_name(*one), mark.letter, mark.colour, tuple(heads[one]))
        for one, mark in marks.items()
        if one in heads
    )


def _said(row: Mapping[Any, Any] | None, none: str) -> str:
    """Say a head's main role, or where it came nearest to one if it has `none`, with its numbers."""
    if row is None:
        return "nothing was tested"
    found = result(row) if row["grade"] else f"{none}; nearest"
    numbers = (
        f"accuracy {percent(row['accuracy'])} % {interval(row['ci_low'], row['ci_high'])}".rstrip(),
        f"baseline {percent(row['baseline_accuracy'])} % ({baseline_name(row['baseline'])})",
        f"{count(int(row['n']))} scored words",
    )
    return " · ".join([f"{found}: {role(row['probe'], row['label'], row['variant'])}", *numbers])


def _accuracy_title(probe: str, label: str, variant: str) -> str:
    """Return what the accuracy on a label, read as a variant says, is called."""
    return f"accuracy: {role(probe, label, variant)}"


def _accuracies(source: CardSource) -> Iterator[HeadMap]:
    """Yield the accuracy on every label and direction that was tested, but for pools and slices of labels."""
    rows, shape = source.rows, (source.run.layers, source.run.heads)
    for (probe, label, variant), heads in rows[rows["own"]].groupby(["probe", "label", "variant"]):
        yield HeadMap.of(
            _accuracy_title(str(probe), str(label), str(variant)),
            heads,
            "accuracy",
            shape,
            unit="%",
            factor=100,
            marked=heads["graded"].tolist(),
            group=f"{ACCURACIES}{probe}",
            about=_rivals(heads.iloc[0]),
        )


def _rivals(row: pd.Series) -> str:
    """Return what the heads are compared with on a label."""
    known = {
        baseline_name(row["baseline"]): row["baseline_accuracy"],
        "a table of words and distances": row["lexical_accuracy"],
        f"the rule of grammar “{row['rule']}”": row["rule_accuracy"],
    }
    return ", ".join(f"{name} {percent(one)} %" for name, one in known.items() if one == one)
