"""One corpus of agreement of several sets: a sentence a verb, which stands with its subject as its construction says.

The sets are the minimal pairs of Marvin and Linzen (2018), as CLAMS ships them, the verbs of open-sesame with does and
do in the place of its modals, and those of the embedded grammar, whose trees say the construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from mha.messages import nearest_name
from probes.corpora.line_reader import CorpusError, filled_lines
from probes.corpora.open_sesame import Marked, open_sesame_item
from probes.grammar import generate
from probes.minimal_pairs import MinimalPair
from probes.pairs.corpora import pairs_path
from probes.pairs.readers import read_true_false
from probes.pairs.template import Filled, Template, singular
from probes.records import Document, Sentence, basic
from probes.syntax.agreement import Agreement, agreements
from probes.syntax.clause import relative_pronouns

_SUBJECT_RELATIVE = "R dep v, N obj v, v acl:relcl S"
_ACROSS = "N dep v, v acl:relcl S"
_IN = "N dep v, V acl:relcl N"

_MARVIN_LINZEN = {
    "simple_agrmt": Template("simple", "D S V *"),
    "sent_comp": Template("in a sentential complement", "D N past D S V *", "N dep past, V ccomp past"),
    "prep": Template("across a prepositional phrase", "D S P D N V *", "P case N, N nmod S"),
    "subj_rel": Template("across a subject relative", "D S R v D N V *", _SUBJECT_RELATIVE),
    "obj_rel_across": Template("across an object relative", "D S R D N v V *", f"R obj v, {_ACROSS}"),
    "obj_rel_no_comp_across": Template("across a reduced object relative", "D S D N v V *", _ACROSS),
    "obj_rel_within": Template("in an object relative", "D N R D S V v *", f"R obj V, {_IN}"),
    "obj_rel_no_comp_within": Template("in a reduced object relative", "D N D S V v *", _IN),
    "vp_coord": Template("VP coordination", "D S v * and V *", "V conj v"),
    "long_vp_coord": Template("long VP coordination", "D S v * and V *", "V conj v"),
}
"File, without the kind of its nouns -> its template; the other files are of reflexives and polarity items."

_BY_NOUNS = ("prep", "obj_rel_across", "obj_rel_no_comp_across", "obj_rel_within", "obj_rel_no_comp_within")
"Files of which there are two, with animate and with inanimate subjects."

MARVIN_LINZEN: Final[Mapping[str, Template]] = {
    f"{name}{nouns}": template
    for name, template in _MARVIN_LINZEN.items()
    for nouns in (("_anim", "_inanim") if name in _BY_NOUNS else ("",))
}
"Name of a file without its suffix -> the template of its sentences."


def read_marvin_linzen(folder: Path, first: int | None = None) -> Iterator[Document]:
    """Yield the right sentences of all files of agreement, with the verb in which they differ from the wrong ones.

    `first` takes that many pairs of each file. Raises CorpusError for a file that is not there, and for a sentence that
    is none of its file's template.
    """
    if missing := [f"{name}.txt" for name in MARVIN_LINZEN if not (folder / f"{name}.txt").is_file()]:
        raise CorpusError(f"{folder}: no {', '.join(missing)}; expected a file for each construction of agreement")
    for name, template in MARVIN_LINZEN.items():
        for number, pair in enumerate(islice(read_true_false(folder / f"{name}.txt"), first)):
            place = f"{name}:{2 * number + 1}"
            filled = _filled(pair, template, f"{folder}/{name}.txt:{2 * number + 1}")
            yield filled.document("Marvin-Linzen", place)


def _filled(pair: MinimalPair, template: Template, where: str) -> Filled:
    differ = [i for i, (one, other) in enumerate(zip(pair.good, pair.bad, strict=False)) if one != other]
    if len(differ) != 1 or len(pair.good) != len(pair.bad):
        raise CorpusError(f"{where}: expected two sentences that differ in the verb alone, got {differ} as its places")
    filled = template.fill(pair.good, differ[0])
    if filled is None or not filled.agrees:
        lacks = "in which subject and verb agree" if filled else f"of the slots {template.slots!r}"
        raise CorpusError(f"{where}: expected a sentence {lacks}, got {' '.join(pair.good)!r}")
    return filled


OPEN_SESAME = (
    Template("simple", "D S V *"),
    Template("across a prepositional phrase", "D S P D N V *", "P case N, N nmod S"),
    Template("across a subject relative", "D S R modal bare V *", "R dep bare, modal aux bare, bare acl:relcl S"),
    Template(
        "across a subject relative",
        "D S R modal bare D N V *",
        "R dep bare, modal aux bare, N obj bare, bare acl:relcl S",
    ),
    Template(
        "across an object relative",
        "D S R D N modal bare V *",
        "R obj bare, N dep bare, modal aux bare, bare acl:relcl S",
    ),
)
"The constructions of the files agr.N."


def read_open_sesame_verbs(folder: Path, first: int | None = None) -> Iterator[Document]:
    """Yield the sentences of the files agr.*.tsv with does or do as their verb, as `open_sesame_item` makes them.

    `first` takes that many lines of each file. Sentences that no pair can be made of are left out: those with a noun
    whose form does not say its number ("fish"). Raises CorpusError where there is no file, and for a sentence that is
    none of OPEN_SESAME, or whose subject is not the marked one.
    """
    files = sorted(folder.glob("agr.*.tsv"))
    if not files:
        raise CorpusError(f"{folder}: no file agr.*.tsv, the sentences of open-sesame that ask for a verb")
    for file in files:
        for number, line in islice(filled_lines(file), first):
            where, place = f"{file}:{number}", f"{file.stem}:{number}"
            item = open_sesame_item(line, file.stem, place, where)
            if isinstance(item, MinimalPair):
                yield _marked(item, Marked.read(line, where), place, where)


def _marked(pair: MinimalPair, marked: Marked, place: str, where: str) -> Document:
    for template in OPEN_SESAME:
        filled = template.fill(pair.good, marked.query)
        if filled is not None and filled.head("S") == marked.subject[-1]:
            return filled.document("open-sesame", place)
    raise CorpusError(f"{where}: a sentence of no known construction, {' '.join(pair.good)!r}")


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


GRAMMAR_SET: Final = "grammar"
"The set that is generated."

READERS: Final = {"marvin-linzen": read_marvin_linzen, "opensesame": read_open_sesame_verbs}
"Set, by the name of its minimal pairs -> what reads its folder."

SETS: Final = (*READERS, GRAMMAR_SET)
"Sets of sentences that are known by name."


def agreement_sentences(
    sets: Sequence[str], *, first: int | None = None, documents: int = 400, seed: int = 0
) -> Iterator[Document]:
    """Yield the sentences of some of SETS as documents, in which one verb has a subject.

    A document's id, its cluster, is set, construction and the nouns of subject and attractor (in the grammar the
    subject's alone), so that errors are of templates and words. `Sentence.kind` is the construction. `first` takes that
    many sentences of each file; `documents` and `seed` are the grammar's. Raises CorpusError for an unknown set, and
    where a set is not under HEADSCOPE_DATA.
    """
    for name in sets:
        if name == GRAMMAR_SET:
            yield from grammar_verbs(documents, seed)
        elif name in READERS:
            yield from READERS[name](pairs_path(name), first)
        else:
            raise CorpusError(f"unknown set of agreement {name!r}; {nearest_name(name, SETS)}")
