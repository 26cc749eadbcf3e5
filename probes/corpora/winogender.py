"""Winogender: an occupation, a participant and a pronoun that means one of them (Rudinger et al. 2018)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from probes.corpora.line_reader import CorpusError, filled_lines, refuse_quoting
from probes.corpora.spans import blanks_after, word_spans
from probes.records import Document, Mention, Sentence

FILLED = ("sentid", "sentence")
TEMPLATES = ("occupation(0)", "other-participant(1)", "answer", "sentence")
"First lines of the two files: of sentences, and of templates that they are filled from."

ROLES = ("occupation", "participant")
"Entities of a sentence. Which of them the pronoun means (0 or 1) is the sentence's kind."

GENDERS = {
    "male": {"NOM": "he", "POSS": "his", "ACC": "him"},
    "female": {"NOM": "she", "POSS": "her", "ACC": "her"},
    "neutral": {"NOM": "they", "POSS": "their", "ACC": "them"},
}

SOMEONE = "someone"
"The other participant of every template."

_ARTICLES = ("the", "a", "an")
Row = tuple[str, str, str]
"Id, sentence, and the place of both in the file."


def read_winogender(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read filled sentences, or templates, each of which gives its six sentences; a sentence is a document.

    All sentences of an occupation have one document id, so that none of them is on another split than those that
    differ from it by a pronoun. `first` takes that many sentences. Raises `CorpusError` with the line.
    """
    lines = filled_lines(path)
    header = tuple(next(lines, (0, ""))[1].split("\t"))
    if header not in (FILLED, TEMPLATES):
        raise CorpusError(f"{path}:1: expected the columns {', '.join(FILLED)} or {', '.join(TEMPLATES)}, by tabs")
    rows = (row for number, line in lines for row in _rows(line, header, f"{path}:{number}"))
    yield from (_document(*row) for row in islice(rows, first))


def _rows(line: str, header: Sequence[str], where: str) -> Iterator[Row]:
    columns = line.split("\t")
    if len(columns) != len(header):
        raise CorpusError(f"{where}: {len(columns)} columns, expected {len(header)} parted by tabs")
    refuse_quoting(columns[-1], where)
    if header == FILLED:
        yield columns[0], columns[1], where
        return
    occupation, participant, answer, template = columns
    for name in ("$OCCUPATION", "$PARTICIPANT"):
        if template.count(name) != 1:
            raise CorpusError(f"{where}: expected one {name} in the template, got {template!r}")
    for other in (participant, SOMEONE):
        for gender, pronouns in GENDERS.items():
            sentence = _filled(template, occupation, other, gender, pronouns, where)
            yield f"{occupation}.{other}.{answer}.{gender}.txt", sentence, where


def _filled(template: str, occupation: str, participant: str, gender: str, pronouns: dict[str, str], where: str) -> str:
    """Return the sentence of a template; someone takes no article, they no "was"."""
    text = template.replace("$OCCUPATION", occupation)
    if participant == SOMEONE:
        text = re.sub(
            r"\b(The|the|A|a|An|an) \$PARTICIPANT", lambda m: "Someone" if m[1][0].isupper() else "someone", text
        )
    text = text.replace("$PARTICIPANT", participant)
    text, found = re.subn(r"\$(NOM|POSS|ACC)_PRONOUN", lambda m: pronouns[m[1]], text)
    if found != 1 or "$" in text:
        raise CorpusError(f"{where}: expected one of $NOM_PRONOUN, $POSS_PRONOUN, $ACC_PRONOUN, got {template!r}")
    return re.sub(r"\bthey was\b", "they were", text) if gender == "neutral" else text


def _document(name: str, text: str, where: str) -> Document:
    parts = name.split(".")
    if len(parts) != 5 or parts[2] not in ("0", "1") or parts[3] not in GENDERS or parts[4] != "txt":
        raise CorpusError(
            f"{where}: expected OCCUPATION.PARTICIPANT.0 or 1.{' or '.join(GENDERS)}.txt as id, got {name!r}"
        )
    spans = word_spans(text)
    forms = tuple(text[begin:end] for begin, end in spans)
    low = [form.lower() for form in forms]
    pronoun = _place(low, set(GENDERS[parts[3]].values()), f"a {parts[3]} pronoun", where)
    mentions = [Mention((pronoun,), pronoun, ROLES[int(parts[2])])]
    upos = ["PRON" if place == pronoun else "" for place in range(len(forms))]
    for role, noun in zip(ROLES, parts[:2], strict=True):
        head = _place(low, {noun}, f"the {role} {noun!r}", where)
        upos[head] = "PRON" if noun == SOMEONE else "NOUN"
        inside = (head - 1, head) if head and low[head - 1] in _ARTICLES else (head,)
        mentions.append(Mention(inside, head, role))
    n, kind = len(forms), f"{ROLES[int(parts[2])]} is meant"
    columns, blanks = (forms, np.full(n, -1), ("",) * n, tuple(upos)), blanks_after(text, spans)
    sentence = Sentence(name, *columns, mentions=tuple(mentions), kind=kind, space_after=blanks)
    return Document(parts[0], (sentence,))


def _place(words: Sequence[str], wanted: set[str], what: str, where: str) -> int:
    """Return where the one word of `wanted` stands."""
    found = [place for place, word in enumerate(words) if word in wanted]
    if len(found) != 1:
        raise CorpusError(f"{where}: expected {what} once in the sentence, found it {len(found)} times")
    return found[0]
