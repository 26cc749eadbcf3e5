"""Corpora of minimal pairs by name, by file or folder, and from the embedded grammar."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from mha.messages import nearest_name
from mha.models.folders import HUB
from probes.corpora.annotation.written_words import unescaped
from probes.corpora.conllu import CorpusError
from probes.corpora.corpus import Named, data_folder
from probes.corpora.named import lacking
from probes.minimal_pairs import Item, LeftOut, MinimalPair
from probes.pairs.grammar_anaphors import pronoun_corpus, reflexive_corpus
from probes.pairs.grammar_pairs import grammar_pairs
from probes.pairs.negation_and_roles import negation_pairs, role_pairs
from probes.pairs.readers import READERS, read_pairs, reader_of

GENERATED_PAIRS: Mapping[str, Callable[[int], Iterator[MinimalPair]]] = {
    "grammar": grammar_pairs,
    "grammar-reflexives": reflexive_corpus,
    "grammar-pronouns": pronoun_corpus,
    "negation": negation_pairs,
    "role-reversal": role_pairs,
}
"Name of an embedded corpus, which is generated -> what yields its pairs from a seed; of the grammar without end."

GRAMMAR_PAIRS = 2000
"Pairs that are generated where no number is asked for."

NAMED_PAIRS = {
    "blimp": Named(
        "blimp",
        "BLiMP: 67 paradigms of minimal pairs",
        "CC BY 4.0",
        "Warstadt et al. 2020, github.com/alexwarstadt/blimp",
    ),
    "linzen": Named(
        "linzen/subj_agr_filtered.text",
        "Linzen et al. 2016, filtered: agreement pairs",
        "CC BY-NC 4.0",
        "Linzen et al. 2016, github.com/facebookresearch/colorlessgreenRNNs",
    ),
    "goldberg": Named(
        "bert_syntax_goldberg/generated.tab",
        "Goldberg 2019: agreement in nonce sentences of Gulordava et al. 2018",
        "Apache-2.0",
        "Goldberg 2019, github.com/yoavg/bert-syntax",
    ),
    "marvin-linzen": Named(
        "marvin_linzen",
        "Marvin and Linzen 2018, as CLAMS ships them: agreement, reflexives and polarity items by construction",
        "MIT, Apache-2.0",
        "Marvin and Linzen 2018; Mueller et al. 2020, github.com/aaronmueller/clams",
    ),
    "opensesame": Named(
        "opensesame",
        "Lin et al. 2019: agreement and reflexive pairs with distractors",
        "Apache-2.0",
        "Lin, Tan and Frank 2019, github.com/yongjie-lin/bert-opensesame",
    ),
}
"Corpora of minimal pairs that are known by name."


@dataclass(frozen=True)
class PairCorpus:
    """Minimal pairs that can be streamed again and again."""

    name: str
    stream: Callable[[], Iterator[Item]]

    def count(self) -> tuple[int, str]:
        """Read everything once: return how many items there are, and a fingerprint that changes with any of them."""
        digest, items = hashlib.sha256(), 0
        for item in self.stream():
            digest.update(repr(item).encode())
            items += 1
        return items, digest.hexdigest()


def open_pairs(name: str, *, first: int | None = None, seed: int = 0) -> PairCorpus:
    """Open one of GENERATED_PAIRS or NAMED_PAIRS, a file or folder, or a file of the hub (`pairs_path`).

    `first` takes that many items of each paradigm of a file, and of the grammar, whose pairs `seed` decides. A file's
    suffix says what it holds (`probes.pairs.readers.READERS`). Raises CorpusError for unknown names and
    missing files, with what to do.
    """
    if generate := GENERATED_PAIRS.get(name):
        return PairCorpus(name, lambda: islice(generate(seed), first or GRAMMAR_PAIRS))
    files = pair_files(pairs_path(name))
    return PairCorpus(pairs_name(name), partial(_read, files, first))


def pairs_name(name: str) -> str:
    """Return what pairs are called that are given so: a name, a file or folder by its stem, or a file of the hub.

    >>> pairs_name("blimp"), pairs_name("texts/sea.tsv"), pairs_name("hub:jumelet/multiblimp/deu/data.tsv@main")
    ('blimp', 'sea', 'multiblimp-deu-data')
    """
    if name.startswith(HUB):
        return "-".join(Path(name.partition("@")[0]).with_suffix("").parts[1:])
    return name if name in (*GENERATED_PAIRS, *NAMED_PAIRS) else Path(name).stem


def _read(files: list[Path], first: int | None) -> Iterator[Item]:
    for file in files:
        empty, seen, taken = True, set[tuple[str, ...]](), Counter[str]()
        for item in read_pairs(file):
            empty = False
            taken[item.kind.paradigm] += 1
            if first is None or taken[item.kind.paradigm] <= first:
                yield _checked(item, seen) if isinstance(item, MinimalPair) else item
        if empty:
            raise CorpusError(f"{file}: no pair in the file ({file.stat().st_size} bytes)")


def _checked(pair: MinimalPair, seen: set[tuple[str, ...]]) -> Item:
    """Return a pair with the characters that escapes stand for, or left out where its reverse was `seen` before."""
    good, bad = unescaped(pair.good), unescaped(pair.bad)
    if (pair.kind.paradigm, *bad, "", *good) in seen:
        return LeftOut(pair.source, pair.kind, "the same two sentences, the other way round, are a pair before it")
    seen.add((pair.kind.paradigm, *good, "", *bad))
    return replace(pair, good=good, bad=bad)


def pairs_path(name: str) -> Path:
    """Return the file or folder of a corpus of pairs, named, given as a path, or hub:OWNER/NAME/FILE[@REVISION].

    The last is a file of a data set of the hub, which is fetched once. Raises CorpusError.
    """
    if name.startswith(HUB):
        return _hub_file(name)
    if name in NAMED_PAIRS:
        path = data_folder() / NAMED_PAIRS[name].path
        if not path.exists():
            raise lacking(f"pairs {name!r} are not", name, path, NAMED_PAIRS[name].path)
        return path
    path = Path(name).expanduser()
    if path.exists():
        return path
    hint = nearest_name(name, [*GENERATED_PAIRS, *NAMED_PAIRS])
    raise CorpusError(f"unknown minimal pairs {name!r}; {hint} (or a file or folder, which this is not)")


def _hub_file(name: str) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    found = re.fullmatch(r"([\w.-]+/[\w.-]+)/([^@]+)(?:@(.+))?", name.removeprefix(HUB))
    if found is None:
        raise CorpusError(f"pairs {name!r}: expected a file of a data set, as hub:jumelet/multiblimp/deu/data.tsv")
    try:
        return Path(hf_hub_download(found[1], found[2], repo_type="dataset", revision=found[3]))
    except LocalEntryNotFoundError as error:
        hint = "unset HF_HUB_OFFLINE where it is set, check the network, or give the file itself"
        raise CorpusError(f"pairs {name!r}: not in the cache, and the hub is not reachable; {hint}") from error
    except Exception as error:  # of the hub, of the disk
        why = str(error).strip().partition("\n")[0] or type(error).__name__
        raise CorpusError(f"pairs {name!r}: the hub did not give it: {why}") from error


def pair_files(path: Path) -> list[Path]:
    """Return a file, or the files of a folder by name: those with the first suffix of READERS that it has.

    Names in capitals (SOURCE.txt, README.txt) are about the corpus. Raises CorpusError where there is none.
    """
    if not path.is_dir():
        reader_of(path)
        return [path]
    for suffix in READERS:
        if files := sorted(file for file in path.glob(f"[!.]*{suffix}") if not file.stem.isupper()):
            return files
    raise CorpusError(f"{path}: no file of minimal pairs in the folder, expected names ending in {', '.join(READERS)}")
