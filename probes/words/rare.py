"""Rare words: attention from every word to the rarest other words of its sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import takewhile
from pathlib import Path
from typing import ClassVar

from probes.corpora.corpus import data_folder
from probes.corpora.line_reader import CorpusError, filled_lines, number_in
from probes.records import Document, form_of
from probes.registry import PERMUTED, RANDOM, register
from probes.targets import NOTHING, Targets

LIST = "wordfreq/en_50k.txt"
"Word counts below the folder HEADSCOPE_DATA, a word and its count a line (English subtitles, from FrequencyWords)."

RANKS = {"rarest": 1, "two rarest": 2}

_CLITICS = {"n't": "'t", "n’t": "'t", "’s": "'s", "’m": "'m", "’re": "'re", "’ll": "'ll", "’ve": "'ve", "’d": "'d"}
"Forms that treebanks divide otherwise than the list."


@register
@dataclass(frozen=True)
class Rare:
    """The most attended other word is the rarest of the sentence, or one of the two rarest.

    How rare a word is says a list of counts, which has nothing to do with corpus or model: that of HEADSCOPE_DATA, or
    `counts`; without either nothing is asked. Letter case aside; a word that is not on the list is rarer than all on
    it, one without a letter counts for nothing. Words that are equally rare are all right, so "two rarest" may be more
    than two; where all candidates are right nothing is asked.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> text = Document("d", (Sentence("s", ("the", "old", "ship", "sank"), frozen_ints([-1] * 4), ("",) * 4),))
    >>> asked = Rare({"the": 900, "old": 70, "ship": 20, "sank": 3}).targets(text)["other words"]
    >>> [(int(query), int(gold)) for query, gold in zip(asked.query, asked.gold[0])][: asked.label.count("rarest")]
    [(0, 3), (1, 3), (2, 3), (3, 2)]
    """

    counts: Mapping[str, int] | None = field(default=None, compare=False)
    "Word form in lower case -> count; None for the list of HEADSCOPE_DATA."
    name: ClassVar[str] = "rare"
    variants: ClassVar[tuple[str, ...]] = ("other words",)
    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = ("offset", "likeliest distance", "previous word", "uniform")
    rules: ClassVar[tuple[str, ...]] = ()
    controls: ClassVar[tuple[str, ...]] = (RANDOM, PERMUTED)
    "A word is as rare wherever it stands, so other words in order control nothing."
    needs: ClassVar[str] = "frequencies"
    source: ClassVar[str] = "Voita et al. 2019, section 5.3"

    @cached_property
    def known(self) -> Mapping[str, int] | None:
        """The counts that are used, None where there are none."""
        path = data_folder() / LIST
        return self.counts if self.counts is not None or not path.is_file() else word_counts(path)

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return an item a word for the rarest and one for the two rarest others."""
        counts = self.known
        if counts is None:
            return {self.variants[0]: NOTHING}
        every = ((word, _count(form, counts)) for word, form in enumerate(document.words))
        count = {word: known for word, known in every if known is not None}
        found = [(query, gold, label) for label, rank in RANKS.items() for query, gold in _asked(count, document, rank)]
        query, gold, labels = zip(*found, strict=True) if found else ((), (), ())
        return {self.variants[0]: Targets.sets(query, gold, labels)}

    def pool(self, label: str) -> Sequence[str]:
        """Every label stands for itself."""
        return (label,)


def _asked(count: Mapping[int, int], document: Document, rank: int) -> Iterator[tuple[int, list[int]]]:
    """Yield every word with the `rank` rarest others and all that are as rare, unless that is all others."""
    order = sorted(count, key=count.__getitem__)
    usual = _rarest(order, count, rank)
    for query in range(len(document)):
        gold = usual if query not in usual else _rarest([word for word in order if word != query], count, rank)
        if 0 < len(gold) < len(document) - 1:
            yield query, gold


def _rarest(order: Sequence[int], count: Mapping[int, int], rank: int) -> list[int]:
    """Return the first `rank` words of an order by count, and those that tie with the last of them, ascending."""
    if not order:
        return []
    most = count[order[min(rank, len(order)) - 1]]
    return sorted(takewhile(lambda word: count[word] <= most, order))


def _count(word: str, counts: Mapping[str, int]) -> int | None:
    """Return the count of a word, 0 where it is not on the list, None for one without a letter."""
    form = word.lower() if word.lower() in counts else form_of(word)
    known = counts.get(_CLITICS.get(form, form))
    return known if known is not None else 0 if any(map(str.isalpha, form)) else None


@lru_cache(maxsize=2)
def word_counts(path: Path) -> Mapping[str, int]:
    """Read a list of word counts; CorpusError for a line that is not one."""
    counts: dict[str, int] = {}
    for number, line in filled_lines(path):
        word, _, text = line.rpartition(" ")
        if not word or (count := number_in(text)) is None:
            raise CorpusError(f"{path}:{number}: expected a word, a blank and its count, got {line!r}")
        counts[word] = count
    return counts
