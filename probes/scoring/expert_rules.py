"""Rules of an expert for agreement and coreference: what grammar finds that knows words and trees, but no model.

Where the right kind of word does not stand in the text, nothing is attended to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Final

import numpy as np

from probes.chemistry.reaction_text import ReactionSides, carried_along_bonds, same_neighbourhood
from probes.records import Document, Mention, basic, form_of
from probes.scoring.baseline_texts import Rows, Shown, candidate_words, one_hot
from probes.scoring.baselines import Baseline, Untaught, nearest
from probes.scoring.tag_rule import TagRule
from probes.syntax.agreement import NOUNS, morphology, number_verbs
from probes.targets import Items
from probes.words.agreement_features import Features, of_mention


@dataclass(frozen=True)
class Text:
    """A text, and what rules need of it."""

    document: Document
    _features: dict[int, Features] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def nouns(self) -> list[int]:
        """Nouns and pronouns."""
        return [i for i, tag in enumerate(self.document.upos) if tag in NOUNS]

    @cached_property
    def verbs(self) -> list[int]:
        """Verbs that show number."""
        return number_verbs(self.document)

    @cached_property
    def longest(self) -> dict[int, Mention]:
        """The head words of mentions, and of several mentions with one head the longest."""
        return {mention.head: mention for mention in sorted(self.document.mentions, key=lambda one: len(one.words))}

    @cached_property
    def mentions(self) -> dict[int, Features]:
        """The head words of mentions with their features."""
        return {head: of_mention(self.document, head, mention.words) for head, mention in self.longest.items()}

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The relation of every word to its head, without subtypes."""
        return tuple(map(basic, self.document.deprels))

    @cached_property
    def sides(self) -> ReactionSides:
        """The atoms of a reaction."""
        return ReactionSides.of(self.document)

    @cached_property
    def carried(self) -> dict[int, int]:
        """The atoms of a reaction, each with that of the other side which bonds lead to."""
        sides = self.sides
        both = ((sides.product, sides.reactants), (sides.reactants, sides.product))
        return {atom: other for here, there in both for atom, other in carried_along_bonds(sides, here, there).items()}

    def features(self, word: int) -> Features:
        """Return person, number and gender of a word: of a verb those that it shows, of a conjunct those of all."""
        if word not in self._features:
            self._features[word] = self._find_features(word)
        return self._features[word]

    def _find_features(self, word: int) -> Features:
        if word in self.verbs:
            shown = morphology(self.document.feats[word])
            return Features(shown.get("Person", ""), shown.get("Number", ""), "")
        conjuncts = [dependent for dependent, head in self.document.arcs("conj") if head == word]
        return self.mentions.get(word) or of_mention(self.document, word, [word, *conjuncts])

    def agreeing(self, query: int, words: Iterable[int]) -> list[int]:
        """Return those of some words that agree with the query; what is not known agrees."""
        mine = self.features(query)
        return [word for word in words if self.features(word).fits(mine)]


Groups = Sequence[Iterable[int]]
"Words in groups, those that a rule prefers first."

Rule = Callable[[Text, int], Groups]
"Given a text and the query, the words that it names."


def follow(rule: Rule, items: Items, shown: Shown, *, first: bool = False) -> Rows:
    """Attend to the nearest candidate of the first group that has one: before the query, else after it.

    With `first` not the nearest candidate is chosen but the first of the text.
    """
    texts = shown.each(Text)
    item, key = candidate_words(items, shown)
    starts = np.searchsorted(item, np.arange(len(items) + 1))
    chosen = np.full(len(items), -1)
    groups = cache(lambda text, query: rule(texts[text], query))  # an item stands once for each of its labels
    for i, (text, query) in enumerate(zip(items.text.tolist(), items.query.tolist(), strict=True)):
        allowed = {*key[starts[i] : starts[i + 1]].tolist()} - {query}
        for group in groups(text, query):
            if named := allowed.intersection(group):
                chosen[i] = min(named) if first else nearest(query, named)
                break
    return one_hot(chosen, shown.keys)


def nouns(text: Text, query: int) -> Groups:
    """Name all nouns and pronouns."""
    return [text.nouns]


def agreeing_nouns(text: Text, query: int) -> Groups:
    """Name the nouns and pronouns that agree with a verb or reflexive, else all."""
    return [text.agreeing(query, text.nouns), text.nouns]


def verbs(text: Text, query: int) -> Groups:
    """Name the verbs that show number: those after the query, else those before it."""
    return _after_first(query, text.verbs)


def agreeing_verbs(text: Text, query: int) -> Groups:
    """Name the verbs that agree with a subject, those after it first, else all verbs that show number."""
    return [*_after_first(query, text.agreeing(query, text.verbs)), *verbs(text, query)]


def all_verbs(text: Text, query: int) -> Groups:
    """Name all verbs that show number."""
    return [text.verbs]


def agreeing_mentions(text: Text, query: int) -> Groups:
    """Name the mentions before that agree in person, number and gender, then those after.

    None that holds the query ("her" is not "her dog"), unless the query is an apposition in it. Of a pronoun first
    those that show the same three: for "she" another "she", or a woman. Then for "he" and "she" names rather than
    nouns, for "it" nouns rather than names; and where none agrees, all mentions.
    """
    mine = text.features(query)
    appos = text.roles[query] == "appos"
    others = [head for head, mention in text.longest.items() if appos or query not in mention.words]
    agree = [head for head in others if text.mentions[head].fits(mine)]
    if text.document.upos[query] != "PRON":
        return _before_first(query, agree)
    same = [head for head in agree if _shows_the_same(text, query, head)]
    likely = [head for head in agree if _is_likely(text, head, mine.gender)]
    return [*_before_first(query, same, likely, agree), others]


def _shows_the_same(text: Text, query: int, head: int) -> bool:
    """Return whether a mention shows all that a pronoun shows; nouns without gender may stand for other things."""
    theirs = text.mentions[head]
    shows = text.document.upos[head] == "PRON" or theirs.gender != ""
    return shows and theirs == text.features(query)


def _is_likely(text: Text, head: int, gender: str) -> bool:
    """Return whether a mention is rather a person for "he" and "she", rather a thing for "it"."""
    known, upos = text.mentions[head].gender != "", text.document.upos[head]
    return known or (upos == "PROPN" if gender in ("Masc", "Fem") else upos != "PROPN" if gender else True)


def same_word_or_agreeing(text: Text, query: int) -> Groups:
    """Name the mentions with the same head word, where the query is no pronoun, and then those that agree.

    In the manner of the sieves of Lee et al. 2011 and of Clark et al. 2019, section 4.3. Those before come first.
    """
    if text.document.upos[query] == "PRON":
        return agreeing_mentions(text, query)
    words = text.document.words
    same = [head for head in text.mentions if form_of(words[head]) == form_of(words[query])]
    agree = [head for group in agreeing_mentions(text, query) for head in group]
    return _before_first(query, same, agree)


def _before_first(query: int, *groups: Iterable[int]) -> Groups:
    """Return the words of all groups that stand before the query, then those of all that stand after it."""
    listed = [list(group) for group in groups]
    before = [[word for word in group if word < query] for group in listed]
    return [*before, *([word for word in group if word > query] for group in listed)]


def _after_first(query: int, words: Iterable[int]) -> Groups:
    """Return the words that stand after the query, then those that stand before it."""
    return [*reversed(_before_first(query, words))]


def subjects(text: Text, query: int) -> Groups:
    """Name the mentions that are subjects (Webster et al. 2018, section 4)."""
    return [[head for head in text.mentions if text.roles[head] in ("nsubj", "csubj")]]


def same_role(text: Text, query: int) -> Groups:
    """Name the mentions in the grammatical role of the query (parallelism; Webster et al. 2018, section 4)."""
    return [[head for head in text.mentions if text.roles[head] == text.roles[query] != ""]]


def same_neighbours(text: Text, query: int, bonds: int) -> Groups:
    """Name the atom of the other side of a reaction that has the same elements around it, up to some bonds away."""
    return same_neighbourhood(text.sides, query, bonds)


def along_bonds(text: Text, query: int) -> Groups:
    """Name the atom that the neighbourhoods and bonds of a reaction lead to, then those with the same neighbourhood."""
    found = text.carried.get(query)
    return [() if found is None else (found,), *same_neighbours(text, query, bonds=4)]


_LINKING: Final = (
    "of to with by from in for at on about against over than and or as between after before under into through during "
    "without via near"
)
LINKING: Final = frozenset(_LINKING.split())
"Prepositions and conjunctions that stand before noun phrases which are no subjects."


def likely_subjects(text: Text, query: int) -> Groups:
    """Name the mentions that look like subjects, those first whose words occur most often, and then all others so.

    What a reader of words alone can do where a text has no tree: a subject stands after no preposition or conjunction
    of English, and before a word that is none and no punctuation.
    """
    words = [form_of(word) for word in text.document.words]
    often = Counter(words)
    groups: dict[tuple[bool, int], list[int]] = {}
    for head, mention in text.longest.items():
        before, after = min(mention.words) - 1, max(mention.words) + 1
        follows = after < len(words) and words[after].isalpha() and words[after] not in LINKING
        likely = follows and not (before >= 0 and words[before] in LINKING)
        groups.setdefault((not likely, -max(often[words[word]] for word in mention.words)), []).append(head)
    return [groups[place] for place in sorted(groups)]


def _expert(rule: Rule, *, first: bool = False) -> Callable[[], Baseline]:
    return partial(Untaught, partial(follow, rule, first=first))


BY_TAGS: Final[dict[str, Callable[[], Baseline]]] = {
    "nearest word of a tag set": TagRule,
    "nearest noun or pronoun": _expert(nouns),
    "nearest noun that agrees": _expert(agreeing_nouns),
    "first noun or pronoun": _expert(nouns, first=True),
    "next verb": _expert(verbs),
    "next verb that agrees": _expert(agreeing_verbs),
    "first verb": _expert(all_verbs, first=True),
}
"Rules that go by parts of speech, and find nothing in texts without."

RULES: Final = BY_TAGS | {
    "nearest mention that agrees": _expert(agreeing_mentions),
    "same head word or mention that agrees": _expert(same_word_or_agreeing),
    "nearest subject": _expert(subjects),
    "nearest mention of the same role": _expert(same_role),
    "likely subject, most mentioned": _expert(likely_subjects),
    "same neighbours": _expert(partial(same_neighbours, bonds=1)),
    "same neighbourhood": _expert(partial(same_neighbours, bonds=4)),
    "same neighbourhood, then bonds": _expert(along_bonds),
}
"Rules by name: of grammar, the nearest word of a tag set and those of experts; of chemistry, atoms by their bonds."
