"""Documents cut into windows that a model can read at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from probes.corpora.annotation.antecedents import choices
from probes.records import Document, Sentence


@dataclass(frozen=True, slots=True)
class Cut:
    """What the borders between the windows of a document take away; one mention may count as both."""

    mentions: int = 0
    "Mentions whose words lie in more than one window; they are left out."
    anaphors: int = 0
    "Mentions that have an antecedent (an earlier head word of the same entity) in the document but none in a window."
    pronouns: int = 0
    "Pronouns that have two noun phrases to choose from (`antecedents`) in the document but not in a window."

    def __add__(self, other: Cut) -> Cut:
        """Return the losses of two documents together."""
        both = (self.mentions, other.mentions), (self.anaphors, other.anaphors), (self.pronouns, other.pronouns)
        return Cut(*map(sum, both))


def windows(document: Document, max_words: int) -> Iterator[Document]:
    """Cut a document into windows of exactly `max_words` words, the last one shorter.

    Borders fall wherever the count falls, also within a sentence, so no word is lost and no sentence is too long. A
    sentence at a border becomes two (or more) with the same id; a word whose head is on the other side gets head -1 and
    the relation "", unlike a root, which keeps its relation. A mention belongs to a window if all its words do,
    otherwise it is left out; `cut` counts all that. A document that fits is yielded as it is. Pairs of texts are never
    cut: each is a window, however long it is.

    With 100 words this gives GUM dev its 2,638 mentions that have an antecedent in their window (an earlier head word
    of the same entity), where whole sentences packed up to 100 words give 2,615.
    """
    if max_words < 1:
        raise ValueError(f"max_words is {max_words}, expected at least 1")
    if any(sentence.second for sentence in document.sentences):
        yield from document.split_sentences()
        return
    if len(document) <= max_words:
        yield document
        return
    for begin in range(0, len(document), max_words):
        end = begin + max_words
        pieces = (
            _piece(sentence, begin - int(start), end - int(start))
            for sentence, start in zip(document.sentences, document.starts, strict=True)
            if start < end and start + len(sentence) > begin
        )
        yield Document(document.id, tuple(pieces))


def cut(document: Document, max_words: int) -> Cut:
    """Count what `windows` with the same arguments takes away."""
    if len(document) <= max_words or any(sentence.second for sentence in document.sentences):
        return Cut()
    mentions = document.mentions
    inside = [mention for mention in mentions if mention.words[0] // max_words == mention.words[-1] // max_words]
    anaphors = _later([(mention.entity, mention.head) for mention in mentions])
    asked = _later([((mention.head // max_words, mention.entity), mention.head) for mention in inside])
    pronouns = {one.pronoun for one in choices(document)}
    for start, window in zip(range(0, len(document), max_words), windows(document, max_words), strict=True):
        pronouns -= {start + one.pronoun for one in choices(window)}
    return Cut(len(mentions) - len(inside), anaphors - asked, len(pronouns))


def _later(heads: Sequence[tuple[Hashable, int]]) -> int:
    """Count the heads, which ascend, that have a smaller one with the same key."""
    first: dict[Hashable, int] = {}
    return sum(first.setdefault(key, head) < head for key, head in heads)


def _piece(sentence: Sentence, begin: int, end: int) -> Sentence:
    """Return the words from `begin` up to `end` of a sentence, which may reach beyond it; all of it unchanged."""
    begin, end = max(begin, 0), min(end, len(sentence))
    if (begin, end) == (0, len(sentence)):
        return sentence
    heads = sentence.heads[begin:end]
    inside = (heads >= begin) & (heads < end)
    kept = inside | (heads < 0)
    return Sentence(
        id=sentence.id,
        words=sentence.words[begin:end],
        heads=np.where(inside, heads - begin, -1),
        deprels=tuple(deprel if keep else "" for deprel, keep in zip(sentence.deprels[begin:end], kept, strict=True)),
        upos=sentence.upos[begin:end],
        feats=sentence.feats[begin:end],
        mentions=tuple(
            mention.shifted(-begin)
            for mention in sentence.mentions
            if begin <= mention.words[0] and mention.words[-1] < end
        ),
        kind=sentence.kind,
        language=sentence.language,
        space_after=sentence.space_after[begin:end],
        remarks=sentence.remarks if begin == 0 else (),
    )
