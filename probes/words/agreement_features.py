"""Person, number and gender of words, as far as their form and their annotation tell them; "" where they do not."""

from __future__ import annotations

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
        ours, theirs = (self.person, self.number, self.gender), (other.person, other.number, other.gender)
        return all(one == two or not one or not two for one, two in zip(ours, theirs, strict=True))


_FORMS: Final = {form: Features(*told) for forms, told in _PRONOUNS.items() for form in forms.split()}


@lru_cache(maxsize=1 << 16)
def features(word: str, upos: str, feats: str) -> Features:
    """Return the features of a word: a pronoun's by its form, those of others by their morphology and a short list."""
    form, shown = word.lower(), morphology(feats)
    if form in _FORMS:
        return _FORMS[form]
    gender = shown.get("Gender") or _GENDERS.get(form, "")
    return Features("3" if upos != "PRON" else shown.get("Person", ""), shown.get("Number", ""), gender)


def of_mention(document: Document, head: int, words: tuple[int, ...]) -> Features:
    """Return the features of a mention by its head word; titles tell a gender, and coordinated heads are plural."""
    own = features(document.words[head], document.upos[head], document.feats[head])
    if document.words[head].lower() in _FORMS:
        return own
    title = next((_GENDERS[form] for i in words if (form := document.words[i].lower()) in _GENDERS and i < head), "")
    joined = any(int(document.heads[i]) == head and document.deprels[i] == "conj" for i in words)
    return Features(own.person, PLURAL if joined else own.number, own.gender or title)
