"""The verbs of open-sesame as a corpus of agreement: does and do in the place of its modals, by construction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from probes.constructions.template import Template
from probes.corpora.conllu import CorpusError
from probes.corpora.line_reader import filled_lines
from probes.corpora.open_sesame import Marked, open_sesame_item
from probes.minimal_pairs import MinimalPair
from probes.records import Document

TEMPLATES = (
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
    none of TEMPLATES, or whose subject is not the marked one.
    """
    files = sorted(folder.glob("agr.*.tsv"))
    if not files:
        raise CorpusError(f"{folder}: no file agr.*.tsv, the sentences of open-sesame that ask for a verb")
    for file in files:
        for number, line in islice(filled_lines(file), first):
            where, place = f"{file}:{number}", f"{file.stem}:{number}"
            item = open_sesame_item(line, file.stem, place, where)
            if isinstance(item, MinimalPair):
                yield _document(item, Marked.read(line, where), place, where)


def _document(pair: MinimalPair, marked: Marked, place: str, where: str) -> Document:
    for template in TEMPLATES:
        filled = template.fill(pair.good, marked.query)
        if filled is not None and filled.head("S") == marked.subject[-1]:
            return filled.document("open-sesame", place)
    raise CorpusError(f"{where}: a sentence of no known construction, {' '.join(pair.good)!r}")
