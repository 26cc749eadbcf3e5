"""Plain text opened as a corpus: with words alone, or with the trees of a pipeline."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial

from probes.corpora.corpus import LAYOUT, Corpus
from probes.plain.raw_text import RawText
from probes.plain.spacy_pipeline import annotate
from probes.plain.spacy_words import spacy_version


def open_plain(source: RawText, *, annotator: str | None = None, first: int | None = None) -> Corpus:
    """Open texts as they were written; `first` takes that many sentences of them all.

    With an `annotator`, "spacy:NAME", their words and trees are those of that pipeline. Raises CorpusError where there
    is no text, or nothing that says what its words are.
    """
    if annotator:
        found = annotate(source, annotator, first)
        corpus = Corpus.read(found.path, name=source.name, raw=True)
        return replace(corpus, notes=found.notes, annotated=found.path)
    content, rules = source.counted.fingerprint, f"{spacy_version()} {source.language}"
    next(source.documents(first=1), None)  # says what lacks
    fingerprint = hashlib.sha256(f"{LAYOUT} {first} {rules} {content}".encode()).hexdigest()
    return Corpus(source.name, partial(source.documents, first), fingerprint, stored=True, notes=source.notes())
