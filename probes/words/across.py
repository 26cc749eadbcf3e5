"""Across: attention from a word of one text of a pair to the same word, or the same place, in the other text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from probes.records import Document
from probes.registry import PERMUTED, RANDOM, register
from probes.targets import Targets, key_sets
from probes.words.repetition import same_form

WAYS = ("first text->second text", "second text->first text")
"From the words of the first text of a pair to those of the second, and back."


def across(
    document: Document, pairs: Iterable[tuple[int, int, str]], variants: Sequence[str] = WAYS
) -> dict[str, Targets]:
    """Return, both ways, the questions of labelled pairs of words (of the first text, of the second).

    All words of a query that are paired with it are right; candidates are the words of the other text.
    """
    ends, found = ((0, document.second), (document.second, len(document))), [*pairs]
    ways = (found, [(to, word, label) for word, to, label in found])
    asked = {}
    for way, of_way, other in zip(variants, ways, ends[::-1], strict=True):
        targets = Targets.grouped(of_way)
        candidates = key_sets([range(*other)] * len(targets))
        asked[way] = replace(targets, candidates=candidates)
    return asked


class AcrossProbe:
    """What probes of pairs of texts have in common."""

    variants: ClassVar[tuple[str, ...]] = WAYS
    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = (
        *("offset", "likeliest distance", "nearest candidate", "first candidate"),
        "uniform",
    )
    rules: ClassVar[tuple[str, ...]] = ()
    controls: ClassVar[tuple[str, ...]] = (RANDOM, PERMUTED)
    "The same word stays the same wherever it stands, and order is what places are, so other orders control nothing."
    needs: ClassVar[str] = "pairs"

    def pool(self, label: str) -> Sequence[str]:
        """Every label stands for itself."""
        return (label,)


@register
@dataclass(frozen=True)
class SameWordAcross(AcrossProbe):
    """The most attended word of the other text of a pair is the same word.

    Words are the same whatever their letter case; those without a letter or digit are not asked. Every occurrence in
    the other text is right.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words = ("Ships", "sank", "Two", "ships")
    >>> text = Sentence("s", words, frozen_ints([-1] * 4), ("",) * 4, second=2)
    >>> way = SameWordAcross().targets(Document("d", (text,)))["first text->second text"]
    >>> int(way.query[0]), int(way.gold[0][0]), way.candidates[0].tolist()
    (0, 3, [2, 3])
    """

    name: ClassVar[str] = "same-word-across"
    source: ClassVar[str] = "Olsson et al. 2022, section on copying, from one text to another"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a word of either text that the other one has too."""
        form = [same_form(word) for word in document.words]
        first, second = range(document.second), range(document.second, len(document) * bool(document.second))
        return across(document, [(i, j, "all") for i in first for j in second if form[i] and form[i] == form[j]])


@register
@dataclass(frozen=True)
class SamePositionAcross(AcrossProbe):
    """The most attended word of the other text of a pair stands at the same place, counted from its beginning.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words = ("Ships", "sank", "Two", "ships", "left")
    >>> text = Sentence("s", words, frozen_ints([-1] * 5), ("",) * 5, second=2)
    >>> asked = SamePositionAcross().targets(Document("d", (text,)))
    >>> {way: list(zip(one.query.tolist(), one.gold[0].tolist())) for way, one in asked.items()}
    {'first text->second text': [(0, 2), (1, 3)], 'second text->first text': [(2, 0), (3, 1)]}
    """

    name: ClassVar[str] = "same-position-across"
    source: ClassVar[str] = "Voita et al. 2019, section 5.1 (positional heads), from one text to another"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item a word of either text that has a word at its place in the other one."""
        second = document.second
        places = range(min(second, len(document) - second))
        return across(document, [(place, second + place, "all") for place in places])
