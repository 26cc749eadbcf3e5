"""The verbs of the embedded grammar as a corpus of agreement, by the construction that its trees say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from probes.constructions.template import singular
from probes.grammar import generate
from probes.records import Document, Sentence, basic
from probes.syntax.agreement import Agreement, agreements
from probes.syntax.clause import relative_pronouns

CLAUSES = {"ccomp": "in a sentential complement", "advcl": "in an adverbial clause"}
"Relation of a clause to the one above it -> the construction of its verb."


def grammar_verbs(documents: int, seed: int) -> Iterator[Document]:
    """Yield every verb of the wide grammar that shows the number of a noun, in its sentence.

    Subjects that are personal pronouns or coordinated have no construction, and are left out. A sentence with several
    verbs comes once for each. Other verbs' subjects are "dep" there, so that they are not asked for.
    """
    for document in generate(documents, seed, wide=True):
        for text in document.split_sentences():
            (sentence,) = text.sentences
            for found in agreements(text):
                if kind := construction(text, found):
                    noun = found.subject if found.noun is None else found.noun
                    alone = _alone(sentence, found, kind)
                    yield Document(f"grammar: {kind}: {singular(sentence.words[noun].lower())}", (alone,))


def _alone(sentence: Sentence, found: Agreement, kind: str) -> Sentence:
    """Return a sentence in which one verb alone has a subject."""
    deprels = tuple(
        "dep" if basic(relation) == "nsubj" and i != found.subject else relation
        for i, relation in enumerate(sentence.deprels)
    )
    return replace(sentence, id=f"{sentence.id}:{found.verb}", deprels=deprels, kind=kind)


def construction(text: Document, agreement: Agreement) -> str:
    """Return the construction of a verb, "" where its subject is a personal pronoun or coordinated.

    First whether it is a question, then what stands between the two ("across"), then the clause of the verb ("in").
    """
    if text.upos[agreement.subject] == "PRON" and agreement.noun is None:
        return ""
    hanging = [i for i in range(len(text)) if text.heads[i] == agreement.subject and text.deprels[i] != "det"]
    if any(basic(text.deprels[i]) == "conj" for i in hanging):
        return ""
    if agreement.verb < agreement.subject:
        return "question"
    between = {text.deprels[i]: i for i in hanging if agreement.subject < i < agreement.verb}
    if "acl:relcl" in between:
        return f"across {_relative(text, between['acl:relcl'])}"
    for relation, named in (("nmod", "a prepositional phrase"), ("appos", "an apposition")):
        if relation in between:
            return f"across {named}"
    owner = int(text.heads[agreement.verb]) if basic(text.deprels[agreement.verb]) in ("aux", "cop") else agreement.verb
    if text.deprels[owner] == "acl:relcl":
        return f"in {_relative(text, owner)}"
    return CLAUSES.get(basic(text.deprels[owner]), "simple")


def _relative(text: Document, verb: int) -> str:
    """Return which kind of relative clause a verb heads, by the role of the relative pronoun."""
    pronouns = [word for word, _ in relative_pronouns(text) if text.heads[word] == verb]
    role = basic(text.deprels[pronouns[0]]) if pronouns else ""
    named = {"nsubj": "a subject relative", "obj": "an object relative", "": "a reduced object relative"}
    return named.get(role, "a relative clause of place")
