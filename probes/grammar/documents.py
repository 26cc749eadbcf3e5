"""The embedded corpus: a generator of English with gold trees, agreement with attractors, and coreference.

Documents have a cast whose members come back as pronouns, names and definite nouns. A pronoun is used only where one
entity alone, of all that the sentence so far and the one before have mentioned, agrees with it in gender, number and
animacy; so its antecedent can be known, although the nearest mention is mostly another one. Up to three nouns stand
between a subject and its verb, in prepositional phrases and relative clauses, mostly of the other number. Relations
and morphology are those of Universal Dependencies for English, with Animacy and Gender added to nouns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from probes.grammar.clauses import Clauses
from probes.grammar.discourse import Discourse, Entity
from probes.grammar.phrases import Phrase, Word, joined, sentence
from probes.grammar.predicates import VERBS, Predicate
from probes.grammar.wide import WIDE, Kind
from probes.records import Document

_SUBJECTS = ("person",) * 7 + ("animal", "object", "text", "place", "vehicle", "furniture", "food")
_LINKS = ("when", "because", "while", "although")


def generate(documents: int, seed: int, *, wide: bool = False) -> Iterator[Document]:
    """Yield documents of 4 to 7 sentences; the i-th, `grammar-<seed>-<i>`, depends on the seed and on i only.

    The wide style (`grammar-wide-<seed>-<i>`) has more constructions, see `probes.grammar.wide`.
    """
    if documents < 0:
        raise ValueError(f"documents is {documents}, expected 0 or more")
    for i in range(documents):
        yield _document(f"grammar-wide-{seed}-{i}", _PLAIN + WIDE) if wide else _document(f"grammar-{seed}-{i}", _PLAIN)


def _document(name: str, kinds: Sequence[Kind]) -> Document:
    """Return the document of a name, which is the seed of its random choices, with sentences of some kinds."""
    random = Random(name)
    discourse = Discourse(random)
    clauses = Clauses(discourse, past=random.random() < 0.35)
    _cast(discourse)
    sentences = []
    for number in range(1, random.randint(4, 7) + 1):
        discourse.next_sentence()
        phrase, mark = discourse.pick(kinds)(clauses)
        words = [*phrase.words, Word(mark, "PUNCT").under(phrase.head, "punct")]
        sentences.append(sentence(f"{name}-{number}", words, discourse.mentions))
    return Document(name, tuple(sentences))


def _cast(discourse: Discourse) -> None:
    """Choose who comes back: a man and a woman, some others, and two things or animals."""
    discourse.new("person", plural=False, gender="Masc")
    discourse.new("person", plural=False, gender="Fem")
    for kind in ("person", discourse.pick(("animal", "person")), discourse.pick(("text", "object", "vehicle"))):
        discourse.new(kind)


def _subject(discourse: Discourse) -> Entity:
    """Return what a clause is to be about."""
    return discourse.choose((discourse.pick(_SUBJECTS),), (), new=0.12)


def _simple(clauses: Clauses) -> tuple[Phrase, str]:
    """Return one main clause."""
    return clauses.clause(_subject(clauses.discourse)), "."


def _asked(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a question."""
    return clauses.clause(_subject(clauses.discourse), question=True), "?"


def _together(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a clause about two people."""
    return clauses.group_clause(), "."


def _subordinate(clauses: Clauses) -> Phrase:
    """Return an adverbial clause."""
    discourse = clauses.discourse
    clause = clauses.clause(_subject(discourse), embedded=True)
    event = clause.head.upos == "VERB" and "Fin" in clause.head.feats
    options = (*_LINKS, "before", "after", "if" if clauses.present else "when") if event else _LINKS
    clause.words.insert(0, Word(discourse.pick(options), "SCONJ").under(clause.head, "mark"))
    return clause


def _preceded(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a main clause after an adverbial clause."""
    first = _subordinate(clauses)
    first.words.append(Word(",", "PUNCT").under(first.head, "punct"))
    main = clauses.clause(_subject(clauses.discourse))
    return Phrase([*first.under(main.head, "advcl"), *main.words], main.head), "."


def _followed(clauses: Clauses) -> tuple[Phrase, str]:
    """Return a main clause before an adverbial clause."""
    main = clauses.clause(_subject(clauses.discourse))
    return Phrase([*main.words, *_subordinate(clauses).under(main.head, "advcl")], main.head), "."


def _joined(clauses: Clauses) -> tuple[Phrase, str]:
    """Return two main clauses with a conjunction."""
    discourse = clauses.discourse
    first = clauses.clause(_subject(discourse))
    second = clauses.clause(_subject(discourse))
    return joined(first, second, discourse.pick(("and", "but"))), "."


def _shared(clauses: Clauses) -> tuple[Phrase, str]:
    """Return two verb phrases with one subject."""
    discourse = clauses.discourse
    subject = discourse.choose(("person",), (), new=0.2)
    verb = discourse.pick(VERBS["affects", "person"])
    first = clauses.clause(subject, Predicate("affects", verb))
    return Phrase([*first.words, *clauses.shared(subject, (verb,)).under(first.head, "conj")], first.head), "."


_PLAIN: tuple[Kind, ...] = (
    *(_simple,) * 11,
    *(_preceded,) * 4,
    *(_followed,) * 3,
    *(_joined,) * 3,
    *(_shared,) * 3,
    *(_asked,) * 2,
    *(_together,) * 2,
)
