"""Person, number and gender of words, as far as their form and their annotation tell them; "" where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from probes.records import Document
from probes.syntax.agreement import morphology

SINGULAR, PLURAL = "Sing", "Plur"

_PRONOUNS: Final = {
    "i me my mine myself": ("1", SINGULAR, ""),
    "we us our ours ourselves": ("1", PLURAL, ""),
    "you your yours yourself yourselves": ("2", "", ""),
    "he him his himself": ("3", SINGULAR, "Masc"),
    "she her hers herself": ("3", SINGULAR, "Fem"),
    "it its itself": ("3", SINGULAR, "Neut"),
    "they them their theirs themselves": ("3", PLURAL, ""),
    "themself": ("3", "", ""),
}

_MEN: Final = (
    "man men boy boys father fathers son sons brother brothers husband husbands uncle uncles king kings mr mr. sir "
    "lord gentleman gentlemen prince princes grandfather nephew nephews actor waiter dad guy guys boyfriend"
)
_WOMEN: Final = (
    "woman women girl girls mother mothers daughter daughters sister sisters wife wives aunt aunts queen queens mrs "
    "mrs. ms ms. miss lady ladies princess princesses grandmother niece nieces actress waitress mom madam girlfriend"
)
_GENDERS: Final = {**dict.fromkeys(_MEN.split(), "Masc"), **dict.fromkeys(_WOMEN.split(), "Fem")}
"Nouns and titles that say a gender."


@dataclass(frozen=True, slots=True)
class Features:
    """What a pronoun and its antecedent agree in."""

    person: str
    '"1", "2" or "3".'
    number: str
    '"Sing" or "Plur"; "" also for `you`.'
    gender: str
    '"Masc", "Fem" or "Neut".'

    def fits(self, other: Features) -> bool:
        """Return whether no feature that both have differs."""
        return (
            _agree(self.person, other.person)
            and _agree(self.number, other.number)
            and _agree(self.gender, other.gender)
        )


def _agree(one: str, two: str) -> bool:
    return one == two or not one or not two


_FORMS: Final = {form: Features(*told) for forms, told in _PRONOUNS.items() for form in forms.split()}

_OTHER_PRONOUNS: Final = {
    "this that something anything everything nothing": Features("3", SINGULAR, "Neut"),
    "these those": Features("3", PLURAL, ""),
    "someone anyone everyone somebody anybody everybody nobody": Features("3", SINGULAR, ""),
}
_OTHER_FORMS: Final = {form: told for forms, told in _OTHER_PRONOUNS.items() for form in forms.split()}

_POSSESSIVES: Final = ("'s", "\N{RIGHT SINGLE QUOTATION MARK}s", "'", "\N{RIGHT SINGLE QUOTATION MARK}")


@lru_cache(maxsize=1 << 16)
def features(word: str, upos: str, feats: str) -> Features:
    """Return the features of a word: a pronoun's by its form, those of others by their morphology and a short list."""
    form, shown = word.lower(), morphology(feats)
    if form in _FORMS:
        return _FORMS[form]
    gender = shown.get("Gender") or _GENDERS.get(form, "")
    return Features("3" if upos != "PRON" else shown.get("Person", ""), shown.get("Number", ""), gender)


def of_referent(word: str, upos: str, feats: str) -> Features:
    """Return the features of what a word stands for: demonstratives and the like are of the third person, as "it" is.

    Relative pronouns are not: they have the features of their nouns.
    """
    if upos == "PRON" and "PronType=Rel" not in feats:
        return _OTHER_FORMS.get(word.lower()) or features(word, upos, feats)
    return features(word, upos, feats)


def of_mention(document: Document, head: int, words: Sequence[int]) -> Features:
    """Return the features of a mention by its head word; titles before it give a gender, possessors give none.

    Coordinated heads are plural, have no gender, and are of the lowest person among them ("you and I" of the first).
    """
    joined = [i for i in words if int(document.heads[i]) == head and document.deprels[i] == "conj"]
    own, *others = (
        of_referent(*(column[i] for column in (document.words, document.upos, document.feats))) for i in (head, *joined)
    )
    if others:
        return Features(min(one.person for one in (own, *others)), PLURAL, "")
    if document.words[head].lower() in _FORMS or own.gender:
        return own
    titles = {_GENDERS.get(document.words[i].lower(), "") for i in words if _may_be_title(document, i, head)} - {""}
    return Features(own.person, own.number, titles.pop() if len(titles) == 1 else "")


def _may_be_title(document: Document, word: int, head: int) -> bool:
    """Return whether a word may be a title of a head: it is before it, hangs on it (in a tree), and owns nothing."""
    between = (form.lower() for form in document.words[word + 1 : head])
    hangs = not document.deprels[word] or int(document.heads[word]) == head
    return word < head and hangs and not any(form in _POSSESSIVES for form in between)
