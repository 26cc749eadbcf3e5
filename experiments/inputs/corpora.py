"""The corpora that a config or a command names, opened."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from experiments.config.config import GRAMMAR, Config, CorpusPart
from experiments.config.sections import AGREEMENT, GENERATED, REACTIONS, SENSES
from mha.models.folders import HUB
from probes import Corpus
from probes.chemistry.reactions import reaction_items
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import NAMED, corpus_path
from probes.evidence.results import SPLITS
from probes.pairs.agreement_corpus import GRAMMAR_SET, agreement_sentences
from probes.plain.raw_text import RawText, is_raw_text
from probes.plain.spacy_pipeline import open_plain
from probes.scoring.aligned import EXAMPLES, Dropped
from probes.words.senses import sense_items
from reports.formats import names

NAMES = 8
"How many details of a reason a note names."

REPEATED = 0.1
"The share of texts that stand in several documents from which on a note says so: short ones do in any corpus."


def open_corpora(config: Config) -> tuple[Corpus, Corpus]:
    """Return the corpora of the selection split and of the report split.

    Raises CorpusError where one corpus is to be divided, and it has one document.
    """
    section = config.corpus
    open_one = partial(open_part, raw=section.text == "raw", annotator=section.annotate, language=section.language)
    whole = open_one(section.select)
    if section.report is not None:
        return whole, open_one(section.report)
    select, report = whole.halves()
    if sum(half.size()["documents"] for half in (select, report)) == 1:
        raise CorpusError(
            f"{whole.name}: one document, and a split needs two: heads are selected on some documents and reported on "
            "others; divide it (# newdoc in CoNLL-U; in pairs another first text or group), or give a second corpus as "
            "[corpus] report"
        )
    return select, report


def corpus_notes(corpora: Sequence[Corpus]) -> Iterator[str]:
    """Yield what to know of the texts of a run: of each corpus its notes and `remark_notes`, and which are equal."""
    for split, corpus in zip(SPLITS, corpora, strict=True):
        yield from corpus.notes
        yield from remark_notes(f"{corpus.name} ({split})", corpus.sentences().remarks())
    selected, reported = (corpus.sentences().wordings() for corpus in corpora)
    known = {*selected}
    if both := sum(wording in known for wording in reported):
        yield (
            f"{both} of the {len(reported)} texts of the report split stand word for word in the selection "
            "split too: heads are evaluated on them by what selected them, so leave out what is in both"
        )
    stand_in: dict[int, set[str]] = {}
    for wording, name in zip(reported, corpora[1].sentences().ids(), strict=True):
        stand_in.setdefault(wording, set()).add(name)
    again = sum(len(stand_in[wording]) > 1 for wording in reported)
    if again > REPEATED * len(reported):
        yield (
            f"{again} of the {len(reported)} texts of the report split stand word for word in several of its "
            "documents, which count as independent: copies make intervals too narrow, so leave them out (what a "
            "grammar drew anew is no copy)"
        )


def remark_notes(what: str, remarks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each reason of remarks with the ids they are on: number, commonest details, first ids."""
    found, details = Dropped(), dict[str, Counter[str]]()
    for name, remark in remarks:
        reason, _, detail = remark.partition(": ")
        found.add(reason, name)
        details.setdefault(reason, Counter())[detail] += 1
    for reason, count in found.counts.items():
        yield f"{what}: {count} × {reason}{_shown(details[reason])}, in {_first(found, reason)}"


def _shown(details: Counter[str]) -> str:
    """Return the commonest details of a reason with their numbers, "" where it has none."""
    named = [f"{detail} {count}" for detail, count in details.most_common() if detail]
    return f" ({names(named, NAMES)})" if named else ""


def _first(found: Dropped, reason: str) -> str:
    some = found.examples[reason]
    return f"{', '.join(some)}{' and others' if found.counts[reason] > len(some) >= EXAMPLES else ''}"


def open_corpus(name: str) -> Corpus:
    """Return the corpus of a name (the grammar in its default size) or of a file or folder; CorpusError for others."""
    if name not in (*GENERATED, *NAMED) and os.path.exists(name):  # which knows that no file has so long a name
        return open_part(CorpusPart(path=Path(name)))
    if name not in GENERATED:
        corpus_path(name)  # says which name was meant
    return open_part(CorpusPart(name=name))


def open_part(part: CorpusPart, *, raw: bool = False, annotator: str | None = None, language: str = "en") -> Corpus:
    """Return the corpus that a table of a config names; raises CorpusError where it is not there.

    With `raw` its words are parted as they were written, where a file says it. Plain text is parsed by `annotator`
    (`probes.plain`), or has its words by the rules of its `language`.
    """
    if (plain := _plain(part, language)) is not None:
        return open_plain(plain, annotator=annotator, first=part.first)
    if annotator:
        raise CorpusError(f"{part.path or part.name}: is no plain text that could be parsed; leave out corpus.annotate")
    if part.path is not None:
        return Corpus.read(part.path, first=part.first, raw=raw)
    assert part.name is not None
    if part.name == GRAMMAR:
        return Corpus.generated(part.documents, part.seed, wide=part.wide)
    if part.name == SENSES:
        return Corpus.of(sense_items(part.documents, part.seed), f"{SENSES}-{part.seed}")
    if part.name == REACTIONS:
        return Corpus.of(reaction_items(part.documents, part.seed), f"{REACTIONS}-{part.seed}")
    if part.name == AGREEMENT:
        sets = part.sets or (GRAMMAR_SET,)
        sentences = agreement_sentences(sets, first=part.first, documents=part.documents, seed=part.seed)
        return Corpus.of(sentences, AGREEMENT)
    return Corpus.read(corpus_path(part.name), name=part.name, first=part.first, raw=raw)


def _plain(part: CorpusPart, language: str) -> RawText | None:
    """Return the plain text that a table of a config names; None where it names another corpus."""
    named = part.column or part.pair
    of_hub = part.name if part.name is not None and part.name.startswith(HUB) else None
    path = part.path if part.path is not None and (named or is_raw_text(part.path)) else None
    source = part.texts or of_hub or path
    if source is None:
        return None
    return RawText(source, part.column, part.pair, part.subset, part.split or "train", language)
