"""One corpus of agreement of several sets: a sentence a verb, its construction known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mha.nearest_name import nearest_name
from probes.constructions.grammar_verbs import grammar_verbs
from probes.constructions.marvin_linzen import read_marvin_linzen
from probes.constructions.open_sesame_verbs import read_open_sesame_verbs
from probes.corpora.conllu import CorpusError
from probes.pairs.corpora import pairs_path
from probes.records import Document

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
