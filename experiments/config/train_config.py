"""The [train] table of a config: texts, tokenizer, encoder, and how it is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from experiments.config.section import GRAMMAR as GRAMMAR
from experiments.config.section import ConfigTable
from mha.causal.fixed_patterns import PATTERNS
from probes.corpora.corpus import NAMED as CORPORA
from probes.corpora.corpus import corpus_path
from probes.training.texts import NAMED_TEXTS, texts_path


class TextsSection(ConfigTable):
    """Where texts come from: one of name, path and dataset."""

    name: str | None = None
    '"grammar", a corpus of `headscope list corpora`, or named texts such as "text_pretrain".'
    path: tuple[Path, ...] | None = None
    "Files of plain text or folders of *.txt, relative to the config file; one or several."
    dataset: str | None = None
    'A data set of `datasets`: a folder, relative to the config file, or "hub:owner/name".'
    unit: Literal["sentence", "document", "verb", "line", "file"] | None = None
    """What one text is: sentence (default), document or verb (its number, then the words before it) of a corpus; line
    (default) or file of plain text."""
    documents: int = Field(default=4000, ge=1)
    "Number of documents of the grammar."
    seed: int = 0
    "Seed of the grammar."
    subset: str | None = None
    "Of a data set: its configuration."
    split: str = "train"
    "Of a data set."
    column: str = "text"
    "Of a data set: the column that holds the text; of pairs of texts it has to be named, for one text is read."
    revision: str | None = None
    "Of a data set: a commit or tag, so that others get the same."
    streaming: bool = False
    "Of a data set: whether it is read while training, for one that fits on no disk."

    @model_validator(mode="before")
    @classmethod
    def _one_path_is_several(cls, found: object) -> object:
        if isinstance(found, dict) and isinstance(found.get("path"), str | Path):
            return {**found, "path": [found["path"]]}
        return found

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if [self.name, self.path, self.dataset].count(None) != 2:
            raise ValueError("texts have either a name, a path or a dataset")
        if self.name is not None and self.name not in (GRAMMAR, *CORPORA, *NAMED_TEXTS):
            texts_path(self.name)  # says which name was meant
        return self

    @model_validator(mode="after")
    def _nothing_unheard(self) -> Self:
        of_dataset = ("subset", "split", "column", "revision", "streaming")
        unheard = (() if self.name == GRAMMAR else ("documents", "seed")) + (() if self.dataset else of_dataset)
        for key in unheard:
            if getattr(self, key) != TextsSection.model_fields[key].default:
                raise ValueError(f"{key!r} is for {'a dataset' if key in of_dataset else 'the grammar'}")
        of_corpus = self.name == GRAMMAR or self.name in CORPORA
        units = ("sentence", "document", "verb") if of_corpus else () if self.dataset else ("line", "file")
        if self.unit is not None and self.unit not in units:
            raise ValueError(f"unit {self.unit!r} is not for these texts; known are {', '.join(units) or 'none'}")
        return self

    def missing(self) -> None:
        """Raise CorpusError where named texts are not on this machine."""
        if self.name in CORPORA:
            corpus_path(str(self.name))
        elif self.name in NAMED_TEXTS:
            texts_path(str(self.name))


class TokenizerSection(ConfigTable):
    """How the vocabulary is learnt, see `mha.training.vocabulary.VocabularySettings`, or whose it is."""

    size: int = Field(default=8192, ge=6)
    kind: Literal["wordpiece", "bpe"] = "wordpiece"
    lowercase: bool = True
    characters: int = Field(default=500, ge=1)
    first: int | None = Field(default=None, ge=1)
    "Learn from that many texts only; a stream is given 100,000 where nothing is said."
    folder: Path | None = None
    "A folder with tokenizer.json, relative to the config file, instead of learning one."


class EncoderSection(ConfigTable):
    """The shape of the encoder, see `mha.EncoderConfig`."""

    layers: int = Field(default=4, ge=1)
    "Layers of attention."
    heads: int = Field(default=8, ge=1)
    model: int = Field(default=256, ge=1)
    feed_forward: int | None = Field(default=None, ge=1)
    "4 x model where nothing is said."
    positions: int | None = Field(default=None, ge=3)
    "Longest input in pieces; the length of the rows where nothing is said."
    norm: Literal["post", "pre"] = "post"
    causal: bool = False
    """Whether tokens attend to none after themselves: a decoder without cross-attention, which learns to predict the
    next piece of every piece instead of masked ones."""
    activation: str = "gelu"
    "Of the feed-forward net."
    dropout: float = Field(default=0.1, ge=0, lt=1)
    "Share of values that are dropped after the embeddings and each block, in training."
    attention_dropout: float = Field(default=0.1, ge=0, lt=1)
    "Share of attention weights that are dropped, in training."
    scale: bool = True
    """Whether scores are divided by sqrt(head_dim). Checkpoints of an encoder that does not divide hold query
    projections times that number, so that every reader of BERT's weights gets the same maps; training.json says so."""


class MaskingSection(ConfigTable):
    """Which pieces are to be predicted, see `mha.training.masking.Masking`."""

    rate: float = Field(default=0.15, gt=0, lt=1)
    hidden: float = Field(default=0.8, ge=0, le=1)
    random: float = Field(default=0.1, ge=0, le=1)
    whole_word: bool = False
    answers: tuple[str, ...] = ()


class ArcsSection(ConfigTable):
    """A term of the loss for attention on the trees of the training texts, see `mha.training.arcs.ArcTerm`."""

    weight: float
    "In nats: above 0 attention between a word and its head or dependents is rewarded, below 0 punished."
    first_step: int = Field(default=1, ge=1)
    "First step in which the term counts."
    last_step: int | None = Field(default=None, ge=1)
    "Last step in which it counts; to the end where nothing is said."
    relations: tuple[str, ...] | None = Field(default=None, min_length=1)
    'Relations whose arcs count, as the corpus writes them ("nsubj"); all where nothing is said.'
    control: bool = False
    "Random arcs at the distances of these in the place of them, as a control, see `mha.training.arcs.control_arcs`."


class CheckpointsSection(ConfigTable):
    """When checkpoints are written, see `mha.training.checkpoints.Schedule`, and which of them stay."""

    per_doubling: int = Field(default=2, ge=0)
    every: int = Field(default=0, ge=0)
    safety: int = Field(default=1000, ge=0)
    keep: int = Field(default=0, ge=0)
    "Number of checkpoints that stay, the last ones; 0 for all of the schedule."
    states: int = Field(default=1, ge=1)
    "Number of checkpoints that training can go on from."


class StartSection(ConfigTable):
    """A model of the BERT family whose shape and tokenizer a training takes, and whose weights it begins with."""

    name: str
    'A short name, a folder (relative to the config file) or "hub:owner/name".'
    fresh: bool = False
    "Whether weights are fresh all the same: what the training alone gives."


class TrainSection(ConfigTable):
    """A training, see `mha.training.settings.TrainingSettings`."""

    data: TextsSection
    held_out: TextsSection | None = None
    "Texts for the evaluation loss; without it a share of the training texts is held out."
    held_out_share: float = Field(default=0.01, gt=0, lt=0.5)
    "Share of the texts that are held out, by a hash of each."
    held_out_texts: int = Field(default=1000, ge=1)
    "Number of first texts that are held out of a stream."
    start: StartSection | None = None
    "The model that is trained further, instead of a new one with a tokenizer of its own."
    tokenizer: TokenizerSection = TokenizerSection()
    encoder: EncoderSection = EncoderSection()
    masking: MaskingSection = MaskingSection()
    arcs: ArcsSection | None = None
    "Whether attention on the arcs of trees is a term of the loss; for the grammar and corpora that have trees."
    fixed: tuple[str, ...] = ()
    """Fixed patterns of the first heads of every layer (`mha.causal.fixed_patterns.PATTERNS`), which nothing learns;
    checkpoints hold the weights alone, and who reads them has to fix the heads again."""
    checkpoints: CheckpointsSection = CheckpointsSection()
    seeds: tuple[int, ...] = Field(default=(0,), min_length=1)
    "One training a seed: of the first weights, the order of the rows, masks and dropout."
    length: int = Field(default=128, ge=3)
    "Pieces a row, into which texts are packed; longer ones are cut."
    steps: int | None = Field(default=None, ge=1)
    "Steps of the optimiser."
    tokens: int | None = Field(default=None, ge=1)
    "Pieces to be read, padding not counted, instead of steps."
    rows: int = Field(default=64, ge=1)
    accumulation: int = Field(default=1, ge=1)
    learning_rate: float = Field(default=5e-4, gt=0)
    warmup: int = Field(default=500, ge=0)
    decay: Literal["linear", "cosine"] = "linear"
    floor: float = Field(default=0.0, ge=0, lt=1)
    weight_decay: float = Field(default=0.01, ge=0)
    "Of AdamW."
    beta1: float = Field(default=0.9, ge=0, lt=1)
    "Of AdamW: how slowly the mean of gradients forgets."
    beta2: float = Field(default=0.98, ge=0, lt=1)
    "Of AdamW: how slowly the mean of their squares forgets."
    epsilon: float = Field(default=1e-6, gt=0)
    "Of AdamW, added to the root of that mean."
    clip: float = Field(default=1.0, gt=0)
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    evaluate_every: int = Field(default=500, ge=1)
    evaluation_rows: int = Field(default=512, ge=1)
    log_every: int = Field(default=10, ge=1)
    threads: int | None = Field(default=None, ge=1)
    "Of torch, on a CPU: the last bits of numbers depend on it; torch's own number where nothing is said."
    trackers: tuple[str, ...] = ()

    def _refuse_both_sides(self) -> None:
        """Raise ValueError for what a causal encoder has no use for."""
        if self.encoder.norm != "post":
            raise ValueError("encoder: a causal one has norm = 'post': no family of models that we write has another")
        for name, value in (("masking", MaskingSection()), ("arcs", None), ("fixed", ())):
            if getattr(self, name) != value:
                raise ValueError(f"{name!r} is for encoders that attend to both sides, not for a causal one")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.steps is None) == (self.tokens is None):
            raise ValueError("a training has either steps or tokens")
        if len({*self.seeds}) < len(self.seeds) or min(self.seeds) < 0:
            raise ValueError("seeds are different numbers, 0 or more")
        if self.start is not None and (self.tokenizer, self.encoder) != (TokenizerSection(), EncoderSection()):
            raise ValueError("'tokenizer' and 'encoder' are those of 'start': leave them out")
        if self.encoder.causal:
            self._refuse_both_sides()
        of_trees = self.data.name is not None and self.data.name not in NAMED_TEXTS
        if self.arcs is not None and not (of_trees and self.data.unit in (None, "sentence")):
            raise ValueError("'arcs' needs the trees of sentences: data.name is the grammar or a corpus, unit sentence")
        if unknown := set(self.fixed) - set(PATTERNS):
            raise ValueError(f"fixed: unknown pattern {min(unknown)!r}; known are {', '.join(PATTERNS)}")
        heads = self.encoder.heads
        if len(self.fixed) > heads and self.start is None:
            raise ValueError(f"fixed: {len(self.fixed)} patterns are too many for {heads} heads in a layer")
        positions = self.encoder.positions
        if positions is not None and positions < self.length:
            raise ValueError(f"rows of {self.length} pieces are too long for {positions} positions")
        return self
