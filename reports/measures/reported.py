"""What a page tells of a measure: its tables, its section, and its methods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from reports.blocks.block import Block, HeadMap
from reports.heads.card_parts import CardPart, CardSource
from reports.run.folder import RunFolder
from reports.scores.verdicts import Verdicts
from reports.tables.table import Table


@dataclass(frozen=True)
class Method:
    """How something was measured, in sentences for an appendix."""

    sentences: str
    "With keys of a table of the config in braces."
    title: str = ""
    "Its heading; empty for that of the measure's section."
    section: str = ""
    "Table of the config that has the keys; empty for that of the measure."
    tables: tuple[str, ...] = ()
    "What was measured, where it is not all tables: a run that holds the first of these has measured it."


def written(value: Any) -> str:
    """Write a value of a config in a sentence.

    >>> written(True), written(9999), written(["zero", "mean"]), written([]), written(0.1)
    ('yes', '9,999', 'zero, mean', 'those of the default', '0.1')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(written, value)) or "those of the default"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


class Reported(BaseModel):
    """What a run can measure of heads beside their scores, as reports see it: nothing here makes an instance.

    Pages ask only what `has_results`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str] = ""
    "Of the measure, of its table in a config, of its stage in a run, and of its facts."
    anchor: ClassVar[str] = ""
    "Of its section, where that is not its name."
    title: ClassVar[str] = ""
    "Heading of its section; one without is in no section."
    place: ClassVar[int] = 100
    "Where its section stands: those with smaller numbers before it, below 0 right behind that of all heads."
    tables: ClassVar[Mapping[str, Table]] = {}
    "Name of a table in the run folder -> what it must hold."
    methods: ClassVar[Sequence[Method]] = ()
    "How it is measured, in sentences for an appendix."

    @classmethod
    def has_results(cls, run: RunFolder) -> bool:
        """Return whether a run has results of it: rows of its first table, if it has tables."""
        return not cls.tables or len(run.tables.get(next(iter(cls.tables)), ())) > 0

    @classmethod
    def page(cls, run: RunFolder) -> Iterable[Block]:
        """Return its section of a page; none without blocks."""
        return ()

    @classmethod
    def maps(cls, run: RunFolder) -> Iterable[HeadMap]:
        """Return its numbers of all heads, by which a page colours its grid and places its scatter."""
        return ()

    @classmethod
    def results(cls, run: RunFolder) -> Iterable[str]:
        """Return what the summary says of it, in sentences."""
        return ()

    @classmethod
    def effects(cls, run: RunFolder, verdicts: Verdicts) -> Iterable[str]:
        """Return what the first screen says of causal effects, in sentences."""
        return ()

    @classmethod
    def without(cls, run: RunFolder, head: str) -> str:
        """Return what the model loses without a head, in a sentence; "" where that is unknown."""
        return ""

    @classmethod
    def card(cls, source: CardSource, head: str) -> CardPart | None:
        """Return its part of the card of a head; None where there is none."""
        return None

    @classmethod
    def written(cls, run: RunFolder, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield heading and sentences of what the run has measured, with the settings of its config."""
        for method in cls.methods:
            if len(run.tables.get(method.tables[0], ())) if method.tables else cls.has_results(run):
                settings = config.get(method.section or cls.name, {})
                texts = {key: written(value) for key, value in settings.items()}
                yield method.title or cls.title, method.sentences.format_map(texts)
