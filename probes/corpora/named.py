"""The corpora of annotated text that are known by name: where they lie, what they hold, whose they are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from mha.cache import cache_folder as cache_folder
from mha.messages import nearest_name
from probes.corpora.line_reader import CorpusError, shortened


@dataclass(frozen=True)
class Named:
    """A corpus that is known by name."""

    path: str
    "Below the folder HEADSCOPE_DATA; a file, or a folder of files."
    title: str
    licence: str
    "As its own repository states it."
    source: str
    "Whose it is, and where it can be had."


_TERMS = "research terms of its authors (SOURCE.txt)"
_FROM = "github.com/mfaruqui/eval-word-vectors"

NAMED_RATINGS = {
    "men": Named("wordsim/EN-MEN-TR-3k.txt", "MEN: relatedness of 3,000 pairs", _TERMS, f"Bruni et al. 2014, {_FROM}"),
    "simlex": Named(
        "wordsim/EN-SIMLEX-999.txt", "SimLex-999: similarity, not relatedness", _TERMS, f"Hill et al. 2015, {_FROM}"
    ),
    "simverb": Named(
        "wordsim/EN-SimVerb-3500.txt", "SimVerb-3500: similarity of verbs", _TERMS, f"Gerz et al. 2016, {_FROM}"
    ),
}
"""Ratings that are known by name. As a corpus of a run they give a made sentence a pair; as [relatedness] ratings they
are looked up in the sentences of another corpus."""

_UD = "Universal Dependencies, github.com/UniversalDependencies/"

PUD = {
    **{"English": "en", "German": "de", "Spanish": "es", "Russian": "ru"},
    **{"Finnish": "fi", "Turkish": "tr", "Chinese": "zh"},
}
"Languages of the PUD treebanks known by name, and their codes: the same 1,000 sentences, with the same ids."


def _pud(language: str, code: str) -> Named:
    return Named(
        f"ud_{language.lower()}_pud/{code}_pud-ud-test.conllu",
        f"UD {language} PUD: trees; the same sentences in every language",
        f"CC BY-SA {'4.0' if language == 'Finnish' else '3.0'}",
        f"{_UD}UD_{language}-PUD",
    )


_GUM = "CC BY-NC-SA 4.0 (texts by genre)"


def _english(name: str, split: str, what: str, licence: str) -> Named:
    path = f"ud_english_{name}/en_{name}-ud-{split}.conllu"
    return Named(path, f"UD English {name.upper()}, {split}: {what}", licence, f"{_UD}UD_English-{name.upper()}")


NAMED = {
    **{f"ewt-{split}": _english("ewt", split, "trees", "CC BY-SA 4.0") for split in ("train", "dev")},
    **{f"gum-{split}": _english("gum", split, "trees, coreference", _GUM) for split in ("train", "dev")},
    **{f"pud-{language.lower()}": _pud(language, code) for language, code in PUD.items()},
    "litbank": Named(
        "litbank",
        "LitBank: coreference in literature, CoNLL-2012",
        "CC BY 4.0",
        "Bamman et al. 2020, github.com/dbamman/litbank",
    ),
    "gap": Named(
        "gap/gap-development.tsv",
        "GAP, development: ambiguous pronouns and two names",
        "Apache-2.0",
        "Webster et al. 2018, github.com/google-research-datasets/gap-coreference",
    ),
    "winogender": Named(
        "winogender/all_sentences.tsv",
        "Winogender: pronouns, occupations and participants",
        "MIT",
        "Rudinger et al. 2018, github.com/rudinger/winogender-schemas",
    ),
    "opensesame-groups": Named(
        "opensesame",
        "open-sesame: verbs and reflexives with distractors, as noun groups",
        "Apache-2.0",
        "Lin, Tan and Frank 2019, github.com/yongjie-lin/bert-opensesame",
    ),
    **NAMED_RATINGS,
}
"Corpora of annotated text that are known by name."


def data_folder() -> Path:
    """Return where named corpora lie: HEADSCOPE_DATA, or a folder in the user's cache."""
    return Path(os.environ.get("HEADSCOPE_DATA") or cache_folder() / "data").expanduser()


UD_ARCHIVE: Final = "https://github.com/UniversalDependencies/UD_{treebank}/archive/refs/tags/{release}.tar.gz"

_TREEBANK: Final = re.compile(r"ud:(?P<treebank>[A-Za-z_]+-[A-Za-z0-9]+)@(?P<release>r\d+\.\d+)(/(?P<split>[a-z]+))?")


@dataclass(frozen=True)
class ReleasedTreebank:
    """A treebank of Universal Dependencies in one release, called such as ud:English-EWT@r2.15, or one split of it."""

    treebank: str
    release: str
    split: str = ""

    @classmethod
    def named(cls, name: str) -> Self | None:
        """Return the treebank of a name; None for names of other kinds, CorpusError for a malformed one.

        >>> ReleasedTreebank.named("ud:German-PUD@r2.15/test")
        ReleasedTreebank(treebank='German-PUD', release='r2.15', split='test')
        """
        if not name.startswith("ud:"):
            return None
        if not (found := _TREEBANK.fullmatch(name)):
            raise CorpusError(f"treebank {name!r}: expected ud:LANGUAGE-NAME@RELEASE, such as ud:German-PUD@r2.15/test")
        return cls(found["treebank"], found["release"], found["split"] or "")

    @property
    def name(self) -> str:
        """How it is called, without a split."""
        return f"ud:{self.treebank}@{self.release}"

    @property
    def folder(self) -> str:
        """Below the folder of named corpora."""
        return f"ud/{self.treebank}-{self.release}"

    @property
    def url(self) -> str:
        """The archive of the release."""
        return UD_ARCHIVE.format(treebank=self.treebank, release=self.release)

    def takes(self, name: str) -> bool:
        """Return whether a file of the release is kept: trees, licence and description."""
        return name.endswith(".conllu") or name.startswith(("LICENSE", "README"))

    def path(self) -> Path:
        """Return the file of the split, or the only one; raises CorpusError where it is not there."""
        folder = data_folder() / self.folder
        if not folder.is_dir():
            raise CorpusError(f"treebank {self.name} is not at {folder}; run `headscope fetch {self.name}`")
        there = {path.stem.rpartition("-")[2]: path for path in sorted(folder.glob("*-ud-*.conllu"))}
        chosen = self.split or (next(iter(there)) if len(there) == 1 else "")
        if chosen not in there:
            text = ", ".join(f"{self.name}/{split}" for split in there) or "none"
            raise CorpusError(f"treebank {self.name}: no split {self.split!r}; there are: {text}")
        return there[chosen]


def lacking(kind: str, name: str, path: Path, wanted: str) -> CorpusError:
    """Return the error of a named corpus that is not where it should be, with what to do."""
    return CorpusError(
        f"{kind} at {path}; set HEADSCOPE_DATA to the folder that holds {wanted}, or run `headscope fetch {name}`"
    )


def corpus_path(name: str) -> Path:
    """Return the file of a named corpus; raises CorpusError for unknown names and missing files, with what to do."""
    if treebank := ReleasedTreebank.named(name):
        return treebank.path()
    if name not in NAMED:
        hint = nearest_name(name, [*NAMED, "grammar", "senses", "agreement", "reactions"])
        paths = 'a file is given by its path, in a config as path = "..."; texts in Python as a list'
        raise CorpusError(f"unknown corpus {shortened(name)}; {hint} ({paths})")
    path = data_folder() / NAMED[name].path
    if not path.exists():
        raise lacking(f"corpus {name!r} is not", name, path, NAMED[name].path)
    return path
