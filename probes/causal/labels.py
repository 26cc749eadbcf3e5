"""What a model's own classifier decides of labelled rows: labels of a text or of its words, a choice, or a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mha.device import device_of, moved
from mha.encoder.encoder import Entry
from mha.messages import OneLineError
from mha.models.folders import find_model, read_model_config
from mha.models.hub import HeadMissingError
from mha.models.masked_prediction import with_head
from mha.models.model import Model, typed
from mha.models.packages import ModelError
from mha.pieces import CLS, SEP, Pieces, align
from probes.causal.ablation import measure
from probes.causal.ablation_table import measures
from probes.causal.behaviours import Behaviour, BehaviourError, Prompt
from probes.causal.decisions import Choices, Labels, Regression, Score, SeveralLabels
from probes.corpora.line_reader import shortened
from probes.evidence.question import Effort
from probes.minimal_pairs import Kind, LeftOut
from probes.plain.text_tables import group_of, second_of, table_rows
from probes.scoring.hashed_random import draws
from reports.tables.shared_columns import ACCURACY, SCORE

NO_LABEL: Final = -100
"The label of a word that counts for nothing, as in training data of `transformers`; None is one too."


class LabelError(OneLineError):
    """A row that has no text or no label of the model."""


@dataclass(frozen=True)
class LabelledRow:
    """A text, a pair of texts or words, and what the model should say of it."""

    text: str
    pair: str | None
    words: tuple[str, ...]
    "With a label each; none where the text has one label."
    label: Any
    "Of a text a name or number, or several; one for each word; or which of the choices is right, from 0."
    group: str = field(repr=False)  # what is drawn does not depend on it
    "Rows of a group depend on each other; none where each row stands for itself."
    place: str = field(repr=False)  # where it stands decides nothing
    "Where it stands, for errors."
    choices: tuple[str, ...] = field(default=(), repr=False)
    "Second texts, of which the model is to choose one."


def has_labels(path: Path) -> bool:
    """Return whether a file is one of labelled rows: .csv, or .jsonl whose first row has a label."""
    suffix = path.suffix.lower()
    if suffix != ".jsonl" or not path.is_file():
        return suffix == ".csv" and path.is_file()
    _, row = next(table_rows(path), ("", None))
    return isinstance(row, Mapping) and "label" in row


def labelled_rows(table: pd.DataFrame | Path) -> list[LabelledRow]:
    """Return the rows of a data frame, or of a .jsonl or .csv file; raises LabelError where one is none.

    Columns are text (with text_pair, if there is one, the second text) and label, or words and label with a label for
    each word; as strings both are divided at blanks. A text may have a list of labels, or a list of choices, of which
    label is the number of the right one, from 0. Rows with one group, or else pairs with one first text, are a cluster.
    """
    return [_row(place, row) for place, row in table_rows(table)]


def _row(place: str, row: Any) -> LabelledRow:
    columns = dict(row) if isinstance(row, Mapping) else {}
    text, words, label, choices = map(columns.get, ("text", "words", "label", "choices"))
    pair = second_of(columns)
    group = group_of(columns) or str(text) * isinstance(pair, str)
    choices = _several(choices) if isinstance(choices, Iterable) and not isinstance(choices, str) else ()
    alone = choices or isinstance(words, str | Iterable) or not isinstance(text, str)
    if pair is not None and (alone or not isinstance(pair, str)):
        raise LabelError(f"{place}: expected text_pair as a text, beside text alone; got {shortened(str(pair))}")
    if isinstance(label, list | tuple | np.ndarray) and isinstance(text, str):
        label = _several(label)
    if isinstance(words, str | Iterable):
        words, labels = _several(words), _several(label)
        if len(words) == len(labels) and all(isinstance(word, str) for word in words):
            return LabelledRow(" ".join(words), None, words, labels, group, place)
        raise LabelError(f"{place}: {len(labels)} labels of {len(words)} words")
    if isinstance(text, str) and isinstance(label, str | int | float | np.number | np.bool_ | tuple) and label == label:
        return LabelledRow(text, pair, (), label, group, place, choices)
    raise LabelError(f"{place}: expected text and label, or words and a label for each; got {shortened(str(row))}")


def _several(value: Any) -> tuple[Any, ...]:
    """Return words, or their labels: of a string divided at blanks, of a list or an array as they are."""
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(np.asarray(value, dtype=object).tolist()) if isinstance(value, Iterable) else (value,)


WORDS, CHOICES, TEXTS = "TokenClassification", "MultipleChoice", "SequenceClassification"
"Heads that decide rows with a label for each word, rows with choices, and others."


def head_for(rows: Sequence[LabelledRow]) -> str:
    """Return the head that decides rows: WORDS, CHOICES or TEXTS."""
    return WORDS if any(row.words for row in rows) else CHOICES if any(row.choices for row in rows) else TEXTS


def _one_choice(forward: Callable[..., Any], **given: Tensor) -> Any:
    """Run a model for multiple choice on texts [batch, piece], as if each were the only choice: a logit each."""
    return forward(**{name: one[:, None] for name, one in given.items()})


@dataclass(frozen=True)
class Classifier:
    """A model with the head of its folder for classes of texts or words, choices, or numbers: a `ModelReader`."""

    model: Model
    module: nn.Module
    "A model of `transformers`, as what it is in a run of `Model.module`, with its head."
    labels: tuple[str, ...]
    "Names of the labels, in the order of the logits; of a regression those of its numbers, of choices none."

    @classmethod
    def of(cls, model: Model, kind: str, seed: int = 0) -> Classifier:
        """Return the classifier of a model, of WORDS, CHOICES or TEXTS; `seed` is that of the model where it has one.

        Raises ModelError for a model without such a head.
        """
        try:
            _refuse_other(model, kind)
            module = with_head(model, kind, seed)
        except HeadMissingError as error:
            rows = {WORDS: "a label for each word", CHOICES: "choices", TEXTS: "one label"}[kind]
            raise ModelError(f"{model.name}: no head for rows with {rows}, as ...For{kind} has ({error})") from error
        config: Any = module.config
        if config.pad_token_id is None:
            raise ModelError(f"{model.name}: config.json has no pad_token_id, so transformers reads single texts alone")
        if kind == CHOICES:
            module.forward = partial(_one_choice, module.forward)
            return cls(model, module, ())
        found = cls(model, module, tuple(str(config.id2label[number]) for number in range(config.num_labels)))
        return found if found._pads() else replace(found, model=replace(model, padding=None))

    @torch.no_grad()
    def _pads(self) -> bool:
        """Whether a text keeps its logits where padding follows: a head that reads the last piece (XLNet) does not."""
        ids = torch.tensor([self.model.tokenizer.encode("a").ids])
        real = torch.tensor([[True] * ids.numel() + [False]])
        alone = self.read(ids, None, None)
        padded = self.read(F.pad(ids, (0, 1), value=self.model.padding or 0), real, None)
        return torch.allclose(alone, padded if padded.ndim == 2 else padded[:, :-1], atol=1e-5, rtol=1e-4)

    @property
    def described(self) -> str:
        """What the head is, in words."""
        numbers = "a number" if len(self.labels) == 1 else f"{len(self.labels)} numbers"
        labels = numbers if self.regression else f"labels {', '.join(self.labels)}"
        return f"the model's own head ({type(self.module).__name__}: {labels if self.labels else 'a choice'})"

    @property
    def regression(self) -> bool:
        """Whether what it gives are numbers: one alone, or several where config.json says "regression"."""
        config: Any = self.module.config
        return len(self.labels) == 1 or (bool(self.labels) and config.problem_type == "regression")

    @property
    def several(self) -> bool:
        """Whether each label is decided by itself, so that a text can have several."""
        config: Any = self.module.config
        return bool(config.problem_type == "multi_label_classification")

    def types(
        self, ids: Int[Tensor, "batch piece"], real: Bool[Tensor, "batch piece"] | None
    ) -> Int[Tensor, "batch piece"] | None:
        """Return the type (segment) of every piece, as the model is given it."""
        return self.model.types(ids, real)

    def arithmetic(self) -> AbstractContextManager[object]:
        """Return the context in which it computes, that of its model."""
        return self.model.arithmetic()

    def read(
        self,
        ids: Int[Tensor, "batch piece"],
        real: Bool[Tensor, "batch piece"] | None,
        selected: Int[Tensor, " chosen"] | None,
        entry: Entry | None = None,
    ) -> Float[Tensor, "... label"]:
        """Return the logits of each text, or of the `selected` pieces of the flattened batch; `entry` is not heard."""
        device = device_of(self.module)
        ids, real, selected = ids.to(device), moved(device, real), moved(device, selected)
        seen = torch.ones_like(ids) if real is None else real.long()
        types = typed(self.types(ids, real))
        with self.arithmetic():
            logits: Tensor = self.module(input_ids=ids, attention_mask=seen, **types).logits
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return logits if selected is None else logits.flatten(0, 1).index_select(0, selected)

    def cut(self, row: LabelledRow) -> Pieces:
        """Return the pieces of a row as the tokenizer cuts it; raises LabelError for a pair that cannot be read.

        Of a row without words, every piece that is not special counts as one.
        """
        if row.words:
            return align(self.model.tokenizer, [row.words])[0]
        if row.pair is not None and self.model.pairs.refused:
            raise LabelError(f"{row.place}: {self.model.pairs.refused}")
        encoding = self.model.tokenizer.encode(row.text, row.pair)
        ids, own = np.array(encoding.ids, np.int32), np.array(encoding.special_tokens_mask, bool)
        word = np.where(own, SEP, np.cumsum(~own) - 1)
        word[(np.cumsum(~own) == 0) & own] = CLS
        return Pieces(ids, word.astype(np.int32), int((~own).sum()))

    def labels_of(self, row: LabelledRow) -> tuple[int, ...]:
        """Return the numbers of the labels of a text that may have several; a string is one, or some with blanks."""
        one = isinstance(row.label, str) and row.label in self.labels
        return tuple({self.label(label, row.place) for label in ((row.label,) if one else _several(row.label))})

    def label(self, label: Any, place: str) -> int:
        """Return the number of a label, given by its name, or by its number where no name is one; raises LabelError."""
        if (name := str(label)) in self.labels:
            return self.labels.index(name)
        number = np.nan if isinstance(label, tuple) else pd.to_numeric(label, errors="coerce")
        named = pd.to_numeric(pd.Series(self.labels), errors="coerce").tolist()
        numbers: Sequence[float] = range(len(named)) if np.isnan(named).all() else named  # 1.0 is called "1"
        if number == number and number in numbers:
            return numbers.index(number)
        there = ", ".join(self.labels) + f", or 0 to {len(named) - 1}" * (numbers is not named)
        raise LabelError(f"{place}: {label!r} is no label of {self.model.name}, which has {there}")


def _refuse_other(model: Model, kind: str) -> None:
    """Raise HeadMissingError for a folder that `transformers` wrote of a model with another head, or without."""
    import transformers

    (named, *_) = read_model_config(find_model(model.name)).get("architectures") or [kind]
    if hasattr(transformers, named) and not named.endswith(kind):
        raise HeadMissingError(f"it is a {named}")


@dataclass(frozen=True)
class LabelLead:
    """How often a classifier is right, beside one that always gives the most frequent gold label; shares in [0, 1]."""

    accuracy: float
    frequent: float
    label: str
    "The most frequent one."
    low: float
    high: float
    "95 % interval of `accuracy` - `frequent`, paired by row."


def label_lead(behaviour: Labels, effort: Effort) -> LabelLead:
    """Return how often the classifier of a behaviour is right: without a lead there is nothing to take by ablation."""
    assert isinstance(behaviour.reader, Classifier)
    wanted = [one.wanted for one in behaviour.prompts]
    ((label, _),) = Counter(chain.from_iterable(wanted)).most_common(1)
    accuracy = next(one for one in measures(behaviour, measure(behaviour, [()]).numpy()) if one.name == ACCURACY)
    always = np.array([own.count(label) for own in wanted]) * len(wanted) / sum(map(len, wanted))
    both = replace(accuracy, values=np.stack([accuracy.values[0], always]))
    low, high = both.interval(both.cost, effort)[:, 0].tolist()
    right, frequent = both.values.mean(1).tolist()
    return LabelLead(right, frequent, behaviour.reader.labels[label], low, high)


def labels(
    classifier: Classifier,
    name: str,
    rows: Sequence[LabelledRow],
    items: int | None = None,
    score: Score | None = None,
) -> Behaviour:
    """Return what a classifier decides of at most so many rows, those with the smallest hash, as a behaviour.

    An item is a row, and so is a cluster but where rows have a group. Of rows with words the value is a sum over its
    words divided by the mean number of words, so that the mean over rows is that over words. `score` takes the place of
    the log-probability of one label, of a text or of each word. Raises LabelError for labels that the model does not
    have, and BehaviourError where it can read no row.
    """

    def drawn(one: tuple[int, LabelledRow]) -> tuple[object, int]:
        return draws("row", repr(one[1]), *one[1].choices), one[0]

    asked: list[Prompt] = []
    clusters: list[str] = []
    left_out: list[LeftOut] = []
    for _, row in nsmallest(items or len(rows), enumerate(rows), key=drawn):
        prompts, reasons = _prompts(classifier, row, len(clusters))
        asked += prompts
        clusters += [f"group {row.group}" if row.group else str(len(clusters))] * bool(prompts)
        left_out += [LeftOut(row.place, Kind(), reason) for reason in reasons]
    title = f"labels of {name}"
    if not asked:
        raise BehaviourError(f"{title}: no row can be read" + f" ({left_out[0].reason})" * bool(left_out))
    about: dict[str, Any] = {"clusters": tuple(clusters), "left_out": tuple(left_out)}
    if score and (classifier.several or classifier.regression or not classifier.labels):
        raise LabelError(
            f"score: it takes rows with one label each, and {classifier.model.name} has {classifier.described}"
        )
    if not classifier.labels:
        return Choices(title, "nats a choice", classifier, asked, **about)
    if classifier.regression:
        return Regression(title, "squared error", classifier, asked, **about)
    if classifier.several:
        return SeveralLabels(title, "nats a label", classifier, asked, **about)
    return Labels(title, SCORE if score else "nats a label", classifier, asked, score=score, **about)


def _prompts(classifier: Classifier, row: LabelledRow, item: int) -> tuple[list[Prompt], list[str]]:
    """Return what the model is asked of a row, and why it, or some words of it, are left out."""
    if not classifier.labels:
        return _choices(classifier, row, item)
    cut = classifier.cut(row)
    if reasons := [*_unfit(classifier.model, row, cut)]:
        return [], reasons
    if classifier.regression:
        return [Prompt(cut, item, numbers=_numbers(row, len(classifier.labels)))], []
    if classifier.several:
        return [Prompt(cut, item, wanted=classifier.labels_of(row))], []
    gold, reasons = _gold(classifier, row, cut)
    wanted, places = tuple(gold.values()), tuple(gold) if row.words else ()
    return [Prompt(cut, item, places, wanted, (1.0,) * len(wanted))] * bool(gold), reasons


def _choices(classifier: Classifier, row: LabelledRow, item: int) -> tuple[list[Prompt], list[str]]:
    """Return a prompt for each choice of a row, of which the right one wants something; raises LabelError."""
    right = pd.to_numeric(row.label, errors="coerce")
    if len(row.choices) < 2 or right not in range(len(row.choices)):
        raise LabelError(f"{row.place}: expected two choices or more, and as label the right one's number, from 0")
    each = [replace(row, pair=choice) for choice in row.choices]
    cuts = [classifier.cut(one) for one in each]
    reasons = [reason for one, cut in zip(each, cuts, strict=True) for reason in _unfit(classifier.model, one, cut)]
    if reasons:
        return [], reasons[:1]
    return [Prompt(cut, item, wanted=(1,) * (number == right)) for number, cut in enumerate(cuts)], []


def _gold(classifier: Classifier, row: LabelledRow, cut: Pieces) -> tuple[dict[int, int], list[str]]:
    """Return the place of each labelled word's first piece -> its label, and why labels of words are left out.

    Of a row without words the place is 0.
    """
    if not row.words:
        return {0: classifier.label(row.label, row.place)}, []
    known = {word: label for word, label in enumerate(row.label) if label is not None and label != NO_LABEL}
    lost = known.keys() & {*cut.missing()}
    gold = {
        int(np.flatnonzero(cut.word == word)[0]): classifier.label(label, row.place)
        for word, label in known.items()
        if word not in lost
    }
    return gold, ["a word has no piece of its own"] * len(lost) + ["no word has a label"] * (not known)


def _numbers(row: LabelledRow, count: int) -> tuple[float, ...]:
    """Return the numbers of a row, of which a string holds one, or several with blanks; raises LabelError."""
    told = _several(row.label)
    known = [one if isinstance(one, str | float | int | np.number) else None for one in told]
    found = pd.to_numeric(pd.Series(known, dtype=object), errors="coerce")
    if len(found) != count or not np.isfinite(found).all():
        wanted = "the number" if count == 1 else f"the {count} numbers"
        raise LabelError(f"{row.place}: {row.label!r}, expected {wanted} that the model should give")
    return tuple(found.tolist())


def _unfit(model: Model, row: LabelledRow, cut: Pieces) -> Iterator[str]:
    """Yield why a model cannot read a row."""
    if cut.words == 0:
        yield "no text"
    elif len(cut) > model.max_pieces:
        yield f"longer than the model ({model.max_pieces} pieces)"
    else:
        special = {model.tokenizer.id_to_token(piece) for role, piece in model.special.items() if role != "unk"}
        found = sorted(token for token in special if token in f"{row.text} {row.pair or ''}")
        yield from (f"{token!r} is a special token to the model, not a word" for token in found[:1])
