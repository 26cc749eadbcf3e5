"""The tables of a run's config; those of measures, [train] and [biographies] have files of their own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from experiments.config.section import ConfigTable, Placed, ProbeNames
from experiments.config.train_config import GRAMMAR
from mha.batches import REDUCTIONS
from mha.device import DEVICES
from mha.messages import nearest_name
from mha.models.folders import HUB
from mha.models.maps import MAPS
from mha.models.model import SOURCES
from probes.corpora.corpus import NAMED as CORPORA
from probes.corpora.corpus import corpus_path
from probes.evidence.statistics import MARGIN
from probes.pairs.agreement_corpus import SETS
from probes.pairs.corpora import GENERATED_PAIRS, NAMED_PAIRS, pairs_name, pairs_path
from probes.pairs.scores import METHODS
from probes.plain.text_tables import Entry
from probes.scoring.baselines import BASELINES

Precision = Literal["auto", "bf16", "fp32"]
"Those of `mha.device.PRECISIONS`."


class ModelSection(ConfigTable):
    """Which model is looked at."""

    name: str = "minilm"
    """A short name, a folder (relative to the config file) or "hub:owner/name"; of a checkpoint the folder of its
    training."""
    source: Literal["pretrained", "random", "permuted", "checkpoint", "train"] = "pretrained"
    """Weights as loaded, randomly initialised, or permuted within each matrix; those of a training's checkpoint; or
    trained as [train] says, the last checkpoint of its first seed."""
    step: int | None = Field(default=None, ge=0)
    "Of a checkpoint: the step; the last one where nothing is said."
    precision: Precision = "fp32"
    "Of the products of weight matrices, one of `mha.device.PRECISIONS`."
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where the model reads, one of `mha.device.DEVICES`; controls and checkpoints of biographies do so too. A training
    is placed by accelerate."""
    revision: str | None = None
    "Branch, tag or commit of a model of the hub; its newest where nothing is said."

    @property
    def reference(self) -> str:
        """The model as `mha.load_model` finds it: with its revision."""
        return self.name if self.revision is None else f"{self.name}@{self.revision}"

    @model_validator(mode="after")
    def _nothing_unheard(self) -> Self:
        if self.revision is not None and not self.name.startswith(HUB):
            raise ValueError(f"'revision' is for a model of the hub, called \"{HUB}owner/name\"")
        if self.step is not None and self.source not in ("checkpoint", "train"):
            raise ValueError('\'step\' is for source = "checkpoint" or "train"')
        if self.source == "train" and self.name != ModelSection.model_fields["name"].default:
            raise ValueError("'name' is not for source = \"train\": the model is that of [train]")
        return self


SENSES = "senses"
"The embedded corpus of ambiguous nouns (`probes.words.senses`)."

AGREEMENT = "agreement"
"The corpus of agreement by construction (`probes.pairs.agreement_corpus`)."

REACTIONS = "reactions"
"The corpus of reactions with maps of their atoms (`probes.chemistry.reactions`)."

GENERATED = (GRAMMAR, SENSES, AGREEMENT, REACTIONS)
"Embedded corpora, which are made and not read, and those of several sets."


class CorpusPart(ConfigTable):
    """A corpus by name or by file."""

    name: str | None = None
    """"grammar", "senses", "agreement", "reactions", a name of `headscope list corpora`, a split of a fetched treebank
    such as "ud:German-PUD@r2.15/test", or a data set of texts, "hub:owner/name"."""
    path: Path | None = None
    """A file or folder of annotated text (`probes.corpora.readers` says in which formats), or of plain text: .txt,
    .csv, .tsv, .jsonl, .json, .parquet, a data set that was saved to disk. Relative to the config file, or else to
    where the command is typed."""
    texts: tuple[Entry, ...] | None = Field(default=None, min_length=1)
    "Texts that stand here, without annotation, or pairs of texts, each as it was written or as a list of its words."
    column: str | None = None
    "Of a table or data set of plain text; without it the one called text or sentence."
    pair: str | None = None
    "Its column of second texts, read together with the first; without it the one called text_pair, if there is one."
    subset: str | None = None
    "Of a data set."
    split: str | None = None
    "Of a data set; train where nothing is said."
    first: int | None = Field(default=None, ge=1)
    "Take that many sentences of each file only."
    documents: int = Field(default=400, ge=1)
    "Number of documents of the grammar (of agreement too), or of sentences of senses and reactions."
    seed: int = 0
    "Seed of what is generated."
    wide: bool = False
    "Whether the grammar has more constructions, those of `probes.grammar.wide`; that of agreement always has."
    sets: tuple[Literal["marvin-linzen", "opensesame", "grammar"], ...] | None = Field(default=None, min_length=1)
    """What agreement is made of, the grammar where nothing is said; see `probes.pairs.agreement_corpus`. The
    others lie under HEADSCOPE_DATA."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if [self.name, self.path, self.texts].count(None) != 2:
            raise ValueError("a corpus has either a name, a path or texts")
        if self.name not in (None, *GENERATED, *CORPORA) and not str(self.name).startswith(HUB):
            corpus_path(str(self.name))  # says which name was meant
        return self

    @model_validator(mode="after")
    def _nothing_unheard(self) -> Self:
        unheard = _UNHEARD.get(str(self.name), ("documents", "seed", "wide", "sets"))
        for key in unheard:
            if getattr(self, key) != CorpusPart.model_fields[key].default:
                kinds = {"first": "a file; the grammar takes documents", "sets": "the corpus of agreement"}
                raise ValueError(f"{key!r} is for {kinds.get(key, 'the grammar; a file takes first')}")
        if self.name is not None and not self.name.startswith(HUB):
            for key in ("column", "pair", "subset", "split"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key!r} is for plain text, which a path or hub:owner/name gives")
        if self.sets and len({*self.sets}) < len(self.sets):
            raise ValueError("'sets' names a set twice")
        return self


_UNHEARD = {
    GRAMMAR: ("first", "sets"),
    **dict.fromkeys((SENSES, REACTIONS), ("first", "wide", "sets")),
    AGREEMENT: ("wide",),
}
"Embedded corpus -> the keys that say nothing of it."


class CorpusSection(ConfigTable):
    """The two splits: the best heads are selected on one and evaluated on the other."""

    select: CorpusPart
    report: CorpusPart | None = None
    """Without it the documents of `select` are divided between both splits by a hash of their ids: the one way for a
    corpus of one file or folder, such as litbank or gap."""
    annotate: str | None = None
    """"spacy:NAME" parses plain text with a pipeline of spaCy that is installed: its name, or its folder. Without it
    plain text has words and sentences alone."""
    language: str = "en"
    "Of plain text that nothing parses: whose rules of spaCy say what words and sentences are."
    text: Literal["words", "raw"] = "words"
    """How words become the text that the model reads: parted by single blanks, or as they were written, without a blank
    where the file says that there is none (SpaceAfter=No in CoNLL-U). In both the words of a multiword token are read
    in its place: without blanks in "raw" where they make its form in a row (do and n't), else parted by blanks. Plain
    text is always read as it was written."""

    @model_validator(mode="after")
    def _two_splits(self) -> Self:
        sentences = [part and part.model_dump(exclude={"first", "documents"}) for part in (self.select, self.report)]
        if sentences[0] == sentences[1]:
            raise ValueError(
                "'select' and 'report' are the same corpus, so heads would be evaluated on the texts that selected "
                "them; leave out 'report', and its documents are divided between both by a hash of their ids"
            )
        return self


def _known_baselines(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in BASELINES:
            raise ValueError(f"unknown baseline {name!r}; {nearest_name(name, BASELINES)}")
    return names


class ProbesSection(ConfigTable):
    """What is asked."""

    names: ProbeNames = ("position", "dependency", "agreement", "coreference")
    "Names of probes, each once."
    files: Annotated[tuple[str, ...] | None, Placed(())] = None
    """Files of probes of your own, relative to the config: Python with `@headscope.probe`, or tables of answers
    (.jsonl, .csv), called like their file. They are asked beside `names`, alone where there are none."""
    baselines: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_known_baselines)] | None = None
    """The baselines of a probe that heads are compared with, such as "offset" alone, as papers do; all where nothing is
    said. Controls, the lexical table and rules of grammar are compared with all the same."""
    trained: bool = False
    "Whether a logistic regression is trained for each head and relation, beside a control task."
    trained_pairs: int = Field(default=500, ge=20)
    "Arcs a label and split that the trained probe is given at the most."


class ScoringSection(ConfigTable):
    """How maps are read and numbers are made."""

    batch_pieces: int = Field(default=2048, ge=1)
    "Pieces a batch, padding included."
    reduce: Literal["mean", "first"] = "mean"
    "How the pieces of a word are reduced as queries."
    maps: Literal["weights", "norms", "rollout"] = "weights"
    """What is read of the heads, their controls too: attention; attention times the length of the transformed value; or
    attention to the input through the layers below, see `mha.models.maps.MAPS`. The attention statistics, parsers, what
    weights alone say, and matches of heads of two checkpoints or seeds are of attention whatever stands here."""
    window_words: int = Field(default=100, ge=2)
    "Words a window for probes that look beyond the sentence."
    replicates: int = Field(default=2000, ge=10)
    "Resamples of the bootstrap."
    kept_mb: int = Field(default=512, ge=0)
    """Megabytes of maps, at the most, that are kept of texts of one scope when heads are scored; the model reads other
    texts once more for each of trained probes and ensembles."""

    @model_validator(mode="before")
    @classmethod
    def _flips(cls, values: Any) -> Any:
        """Take configs of earlier versions, in which `flips` were the random signs of tests that are gone."""
        return {name: one for name, one in values.items() if name != "flips"} if isinstance(values, dict) else values


class ControlsSection(ConfigTable):
    """What goes the same way without the knowledge in question; 0 switches a kind off.

    What counts as a baseline is the level that 95 % of the untrained models of a kind stay below, and the mean over
    word orders; at least 2 of a kind show how much they vary.
    """

    random: int = Field(default=20, ge=0)
    "Number of models with randomly initialised weights of the same architecture, one a seed."
    permuted: int = Field(default=20, ge=0)
    "Number of models with the weights permuted within each matrix, one a seed."
    orders: int = Field(default=5, ge=0)
    "How often the model itself reads with the words of every sentence in another order."
    sample_words: int = Field(default=8000, ge=1)
    """Words of the report split, at the most, that each of these reads: whole texts, those with the smallest hash of
    their ids. The error of a level allows for how few they are."""
    precision: Precision = "fp32"
    """Of the models that read for controls, as in [model]. In bf16 they are read faster where the processor has
    instructions for it; accuracies of the model's heads stay, single grades may differ (docs/cost.md)."""

    @model_validator(mode="before")
    @classmethod
    def _switched_off(cls, values: Any) -> Any:
        """Take switches of earlier configs: words = false is orders = 0; what arcs = false names is gone."""
        if not isinstance(values, dict):
            return values
        off = {name for name in ("words", "arcs") if values.get(name) is False}
        orders = {"orders": 0} if "words" in off else {}
        return orders | {name: value for name, value in values.items() if name not in off}

    @model_validator(mode="after")
    def _enough(self) -> Self:
        for kind in ("random", "permuted", "orders"):
            if getattr(self, kind) == 1:
                raise ValueError(f"{kind} = 1: how much they vary takes 2 at least; 0 switches them off")
        return self


class VerdictSection(ConfigTable):
    """When a head has a grade on a question, see `probes.evidence.statistics.VerdictRule`."""

    alpha: float = Field(default=0.05, gt=0, lt=1)
    "The adjusted p must be below this."
    margin: float = Field(default=MARGIN, ge=0, le=1)
    "The lead that is tested: by more than this the head must significantly be ahead of every baseline."


class BehaviourSection(ConfigTable):
    """Which of two sentences a model with a masked-LM head prefers, and what is measured of a classifier's rows."""

    corpora: Annotated[tuple[str, ...], Placed((*GENERATED_PAIRS, *NAMED_PAIRS))] = ()
    """Names of minimal pairs of `headscope list corpora` ("grammar", "grammar-pronouns", "blimp"), or files and folders
    of such pairs, relative to the config file, or files of a data set of the hub, as
    "hub:jumelet/multiblimp/deu/data.tsv"; none where behaviour is not asked for."""
    first: int | None = Field(default=None, ge=1)
    "Take that many pairs of each paradigm of a file, and of the grammar, which else gives 2,000."
    method: Literal["auto", "masked", "pll"] = "auto"
    "How pairs are decided, see `probes.pairs.scores`."
    seed: int = 71
    "Seed of the grammar's pairs, which should be none of a grammar that the model was trained on."
    score: Path | None = None
    """A Python file, relative to the config, with a function `score(logits, gold)` that takes the place of the
    log-probability of labelled rows, as `score` of `headscope.ablate` does."""

    @model_validator(mode="after")
    def _there(self) -> Self:
        for name in self.corpora:
            if name not in (*GENERATED_PAIRS, *NAMED_PAIRS) and not name.startswith(HUB):
                pairs_path(name)  # raises for what is not there
        names = [*map(pairs_name, self.corpora)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"minimal pairs {name!r} are named twice")
        return self


class PageSection(ConfigTable):
    """What the page shows."""

    examples: int = Field(default=12, ge=0)
    "Number of heads that are shown at work on sentences; with 0 no text of the corpora is kept."
    sentences: int = Field(default=30, ge=0, le=30)
    "Of how many of these sentences the attention of every head is kept and shown, at the most."


assert set(SETS) == {"marvin-linzen", "opensesame", "grammar"}
assert set(SOURCES) == {"pretrained", "random", "permuted"}
assert set(DEVICES) == {"auto", "cpu", "cuda", "mps"}
assert set(REDUCTIONS) == {"mean", "first"}
assert set(MAPS) == {"weights", "norms", "rollout"}
assert set(METHODS) == {"auto", "masked", "pll"}


class BiographiesSection(ConfigTable):
    """What is asked at every checkpoint; the report corpus is read."""

    probes: ProbeNames = ("position", "dependency", "agreement")
    "Probes that are scored at every checkpoint."
    labels: Literal["all"] | tuple[str, ...] = "all"
    "Labels that are kept."
    steps: Literal["all"] | tuple[int, ...] = "all"
    "Steps whose checkpoints are scored, the first of them in the place of random weights; there must be two or more."
    first: int | None = Field(default=None, ge=1)
    "Take that many texts of the report corpus only."
    replicates: int = Field(default=200, ge=10)
    "Resamples of clusters (and seeds) for intervals."
    match_texts: int = Field(default=100, ge=0)
    "Sentences on which the maps of heads are compared; 0 to match no heads."
    within_layers: bool = False
    "Whether heads are matched within their layer only."

    @model_validator(mode="after")
    def _several_steps(self) -> Self:
        if isinstance(self.steps, tuple) and len(set(self.steps)) < 2:
            raise ValueError('steps: expected "all" or two steps or more')
        return self


def _checked(address: str) -> str:
    if not re.fullmatch(r"|local:[1-9][0-9]*|(tcp|tls)://.+|slurm", address):
        expected = "local:N for N processes, tcp://HOST:PORT, tls://HOST:PORT or slurm"
        raise ValueError(f"expected {expected}; got {address!r}")
    return address


class ClusterSection(ConfigTable):
    """The Dask workers that read controls and checkpoints of a run, or do the runs of a grid; else this process does.

    Numbers do not depend on it, so it is neither written into a run folder nor compared with one.
    """

    address: Annotated[str, AfterValidator(_checked)] = ""
    '"local:N" for N processes of this machine; the address of a Dask scheduler, "tcp://10.0.0.5:8786"; or "slurm".'
    threads: int = Field(default=0, ge=0)
    """Threads of torch in each worker; 0 stands for 1. Without an address those of an atlas in this process; 0 then
    stands for torch's own number."""
    retries: int = Field(default=2, ge=0)
    """How often work is begun again that a worker did not survive; of an atlas also a run that failed, but not by a
    mistake of the user."""
    jobs: int = Field(default=1, ge=1)
    "Jobs that slurm is asked for."
    slurm: dict[str, Any] = Field(default_factory=dict)
    "What dask_jobqueue.SLURMCluster is given, such as cores, memory, queue and walltime."

    @property
    def each_threads(self) -> int:
        """The threads of each worker; 0 in this process for torch's own number."""
        return self.threads or int(bool(self.address))
