"""Rules of an expert for agreement and coreference: what grammar finds that knows words and trees, but no model.

Where the right kind of word does not stand in the text, nothing is attended to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np

from probes.records import Document, basic
from probes.scoring.baseline_texts import Rows, Shown, candidate_words, one_hot
from probes.scoring.baselines import Baseline, nearest
from probes.scoring.tag_rule import TagRule
from probes.syntax.agreement import NOUNS, morphology, shows_number
from probes.targets import Items
from probes.words.agreement_features import Features, features, of_mention


@dataclass(frozen=True)
class Text:
    """A text, and what rules need of it."""

    document: Document

    @cached_property
    def nouns(self) -> list[int]:
        """Nouns and pronouns."""
        return [i for i, tag in enumerate(self.document.upos) if tag in NOUNS]

    @cached_property
    def verbs(self) -> list[int]:
        """Verbs that show number."""
        known = zip(self.document.words, self.document.upos, self.document.feats, strict=True)
        return [i for i, word in enumerate(known) if shows_number(*word)]

    @cached_property
    def mentions(self) -> dict[int, Features]:
        """The head words of mentions with their features; of several mentions with one head those of the longest."""
        longest_last = sorted(self.document.mentions, key=lambda mention: len(mention.words))
        return {mention.head: of_mention(self.document, mention.head, mention.words) for mention in longest_last}

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The relation of every word to its head, without subtypes."""
        return tuple(map(basic, self.document.deprels))

    def features(self, word: int) -> Features:
        """Return person, number and gender of a word."""
        known = self.mentions.get(word)
        return known or features(
            *(column[word] for column in (self.document.words, self.document.upos, self.document.feats))
        )

    def agree(self, noun: int, verb: int) -> bool:
        """Return whether a noun fits the person and number that a verb shows; what is not shown fits."""
        shown = morphology(self.document.feats[verb])
        return self.features(noun).fits(Features(shown.get("Person", ""), shown.get("Number", ""), ""))


Groups = Sequence[Iterable[int]]
"Words in groups, those that a rule prefers first."

Rule = Callable[[Text, int], Groups]
"Given a text and the query, the words that it names."


class ExpertRule:
    """Attends to the nearest candidate of the first group that has one: before the query, else after it."""

    def __init__(self, rule: Rule, *, first: bool = False) -> None:
        """Take the rule; with `first` not the nearest candidate is chosen but the first of the text."""
        self.rule, self.first = rule, first

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row."""
        texts = [Text(document) for document in shown.documents]
        item, key = candidate_words(items, shown)
        starts = np.searchsorted(item, np.arange(len(items) + 1))
        chosen = np.full(len(items), -1)
        for i, (text, query) in enumerate(zip(items.text.tolist(), items.query.tolist(), strict=True)):
            allowed = {*key[starts[i] : starts[i + 1]].tolist()} - {query}
            for group in self.rule(texts[text], query):
                if named := allowed.intersection(group):
                    chosen[i] = min(named) if self.first else nearest(query, named)
                    break
        return one_hot(chosen, shown.keys)


def nouns(text: Text, query: int) -> Groups:
    """Name all nouns and pronouns; of a noun, the verbs that show number."""
    return [text.verbs if text.document.upos[query] in NOUNS else text.nouns]


def fitting_nouns(text: Text, query: int) -> Groups:
    """Name the nouns and pronouns that fit the person and number of a verb; of a noun, the verbs that fit it."""
    if text.document.upos[query] in NOUNS:
        return [[verb for verb in text.verbs if text.agree(query, verb)]]
    return [[noun for noun in text.nouns if text.agree(noun, query)]]


def fitting_mentions(text: Text, query: int) -> Groups:
    """Name the mentions that agree in person, number and gender.

    Of a pronoun first those before it that show the same three (for "she" another "she", or a woman), then as of other
    words those of which none differs.
    """
    mine = text.features(query)
    fit = [head for head, theirs in text.mentions.items() if theirs.fits(mine)]
    if text.document.upos[query] != "PRON":
        return [fit]
    return [[head for head in fit if head < query and text.mentions[head] == mine], fit]


def sieve(text: Text, query: int) -> Groups:
    """Name the mentions before with the same head word, where the query is no pronoun, and then those that agree.

    In the manner of the sieves of Lee et al. 2011 and of Clark et al. 2019, section 4.3.
    """
    if text.document.upos[query] == "PRON":
        return fitting_mentions(text, query)
    words = text.document.words
    same = [head for head in text.mentions if head < query and words[head].lower() == words[query].lower()]
    return [same, *fitting_mentions(text, query)]


def subjects(text: Text, query: int) -> Groups:
    """Name the mentions that are subjects (Webster et al. 2018, section 4)."""
    return [[head for head in text.mentions if text.roles[head] in ("nsubj", "csubj")]]


def same_role(text: Text, query: int) -> Groups:
    """Name the mentions in the grammatical role of the query (parallelism; Webster et al. 2018, section 4)."""
    return [[head for head in text.mentions if text.roles[head] == text.roles[query] != ""]]


RULES: Final[dict[str, Callable[[], Baseline]]] = {
    "tag rule": TagRule,
    "nearest noun": partial(ExpertRule, nouns),
    "nearest noun that fits": partial(ExpertRule, fitting_nouns),
    "first noun": partial(ExpertRule, nouns, first=True),
    "nearest mention that fits": partial(ExpertRule, fitting_mentions),
    "same head word or fits": partial(ExpertRule, sieve),
    "nearest subject": partial(ExpertRule, subjects),
    "same role": partial(ExpertRule, same_role),
}
"Rules of grammar by name: the nearest word of a tag set, and those of experts."
