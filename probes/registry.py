"""Which probes exist, and what each of them promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from mha.messages import nearest_name
from probes.records import Document
from probes.targets import Targets

RANDOM, PERMUTED, WORDS = "random weights", "permuted weights", "shuffled word order"
CONTROLS = (RANDOM, PERMUTED, WORDS)
"""What the best head reaches when it should reach nothing: randomly initialised weights of the same architecture; the
model's own weights, permuted within each matrix; the words of every sentence in another order."""

NEEDS = {
    "words": "words",
    "trees": "trees",
    "subjects": "verbs that show number (FEATS with Number) and their subjects (nsubj)",
    "mentions": "mentions",
    "pairs": "pairs of texts",
    "candidates": "mentions, or candidates for pronouns",
    "noun groups": "noun groups: mentions and subjects",
    "senses": "ambiguous nouns and what decides their sense",
    "atom maps": "reactions with maps of their atoms",
    "frequencies": "a list of word frequencies, wordfreq/en_50k.txt under HEADSCOPE_DATA",
    "answers": "sentences that its function or table answers",
}
"What a corpus, or beside it the user, must have for a probe to find questions."


@runtime_checkable
class Probe(Protocol):
    """A question about heads: it says what would be right and never sees attention."""

    name: ClassVar[str]
    variants: ClassVar[tuple[str, ...]]
    "Names of the ways in which the question is put; each has rows of its own in the scores."
    scope: ClassVar[str]
    '"sentence" if the model reads one sentence at a time, "window" if it reads windows of a document.'
    baselines: ClassVar[tuple[str, ...]]
    "Names of the baselines that make sense for it, in `probes.scoring.baselines.BASELINES`."
    rules: ClassVar[tuple[str, ...]]
    "Names of the rules of grammar that answer it, in `probes.scoring.expert_rules.RULES`."
    controls: ClassVar[tuple[str, ...]]
    "Names of the controls that make sense for it, in CONTROLS."
    needs: ClassVar[str]
    "What there must be, a key of NEEDS."
    source: ClassVar[str]
    "Paper and section that it follows."

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return the questions about one text for every variant; a text without any gives empty targets."""
        ...

    def pool(self, label: str) -> Sequence[str]:
        """Return the labels towards which an item of `label` counts, that label first unless it is only a part."""
        ...


class TreeProbe:
    """What probes of syntactic trees have in common, unless they say otherwise."""

    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = ("offset", "likeliest distance", "previous word", "uniform")
    rules: ClassVar[tuple[str, ...]] = ("nearest word of a tag set",)
    controls: ClassVar[tuple[str, ...]] = CONTROLS
    needs: ClassVar[str] = "trees"

    def pool(self, label: str) -> Sequence[str]:
        """An item counts by its label, and among all."""
        return (label, "all")


@runtime_checkable
class Selective(Protocol):
    """A probe that says what of a text it could have asked about and does not."""

    def left_out(self, document: Document) -> Iterator[str]:
        """Yield why for each occurrence, in the form of `Sentence.remarks`."""
        ...


Make = TypeVar("Make", bound=Callable[[], Probe])
"What makes a probe: its class, which can be called without arguments."

_registry: dict[str, Callable[[], Probe]] = {}


class UnknownProbeError(ValueError):
    """A probe of that name does not exist."""


def register(probe: Make) -> Make:
    """Add a probe class to the registry under its `name`, in the place of one that the same module had before."""
    name = probe().name
    if name in _registry and _registry[name].__module__ != probe.__module__:
        raise ValueError(f"two probes are called {name!r}; one is of {_registry[name].__module__}")
    _registry[name] = probe
    return probe


def registered_by(load: Callable[[], object]) -> list[str]:
    """Return the names of the probes that are registered while `load` runs, also of those that were there before."""
    before = dict(_registry)
    load()
    return [name for name, make in _registry.items() if before.get(name) is not make]


def probe_names() -> list[str]:
    """Return the names of all probes, in the order of the files they stand in, whichever was imported first."""
    return sorted(_registry, key=lambda name: _registry[name].__module__.rpartition(".")[2])


def get_probe(name: str) -> Probe:
    """Return the probe of that name; raises UnknownProbeError with the nearest one."""
    if name not in _registry:
        raise UnknownProbeError(f"unknown probe {name!r}; {nearest_name(name, _registry)}")
    return _registry[name]()
