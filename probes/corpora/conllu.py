"""CoNLL-U files as documents: trees, morphology and the coreference of `Entity=` (Universal Dependencies, CorefUD)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from probes.corpora.conllu_block import NEWDOC, ConlluBlock, ConlluLayout
from probes.corpora.line_reader import CorpusError as CorpusError
from probes.corpora.line_reader import UniqueIds, numbered_lines
from probes.records import Document, Sentence

_OF_FILE = re.compile(rf"{NEWDOC.pattern}|#\s*global\.")
"Comments that are not about one sentence: they count for the next one where no words follow them."


APART = "an entity of an earlier sentence, but no # newdoc joins them: each sentence is a document"
UNREAD = "its document is named by doc_id, which is not read: # newdoc id = ... opens a document"
"Remarks."


def read_conllu(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read the documents of a CoNLL-U file one after the other, or of CoNLL-U Plus (`# global.columns`).

    A `# newdoc` line opens a document, unless it repeats the id of the open one; sentences before the first such line
    are documents of their own. Empty nodes (8.1) are not words, nor are multiword ranges (1-2), in whose place their
    words are read. A mention's head is its first word whose head lies outside the mention; in a sentence without a tree
    (all heads `_`) that of `probes.corpora.spans.head_of`. `Bridge=` and `SplitAnte=` are ignored. What is odd but can
    be read is a remark of its sentence. `first` stops after that many sentences, which may cut the last document.
    Raises `CorpusError` for a broken file, when iteration reaches the place.
    """
    document: str | None = None
    gathered: list[Sentence] = []
    layout = ConlluLayout.of(path)
    empty, entities = True, set[str]()
    sentences, documents = UniqueIds("sentence"), UniqueIds("document")
    for block in islice(_blocks(path), first):
        empty = False
        layout = replace(layout, **block.declared())
        sentence = block.sentence(layout)
        sentences.add(sentence.id, f"{path}:{block.start}")
        opens = "newdoc" in block.metadata and not (gathered and block.metadata["newdoc"] == document)
        if opens or document is None:
            if gathered:
                yield Document(document or "", tuple(gathered))
                gathered = []
            if opens:
                document = block.metadata["newdoc"] or block.place(block.start)
                documents.add(document, f"{path}:{block.start}")
        if document is None:
            named = {mention.entity for mention in sentence.mentions}
            remarks = [APART] * bool(named & entities) + [UNREAD] * ("doc_id" in block.metadata)
            sentence = replace(sentence, remarks=(*sentence.remarks, *remarks))
            entities |= named
            documents.add(sentence.id, f"{path}:{block.start}")
            yield Document(sentence.id, (sentence,))
        else:
            gathered.append(sentence)
    if empty:
        raise CorpusError(f"{path}: no sentence in the file ({path.stat().st_size} bytes)")
    if gathered:
        yield Document(document or "", tuple(gathered))


def _blocks(path: Path) -> Iterator[ConlluBlock]:
    """Cut a file at its blank lines; of blocks of nothing but comments those of the file go on to the next."""
    lines: list[tuple[int, str]] = []
    for number, line in numbered_lines(path):
        if line.strip():
            lines.append((number, line))
        elif all(text.startswith("#") for _, text in lines):
            lines = [(at, text) for at, text in lines if _OF_FILE.match(text)]
        else:
            yield ConlluBlock(path, lines)
            lines = []
    if not all(text.startswith("#") for _, text in lines):
        yield ConlluBlock(path, lines)
