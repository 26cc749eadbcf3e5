"""What a model's own classifier decides of labelled rows: labels of a text or of its words, a choice, or a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from heapq import nsmallest
from itertools import chain
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn

from mha.device import device_of, moved
from mha.encoder.encoder import Entry
from mha.models.folders import find_model, has_sigmoid, outer_folder, read_model_config
from mha.models.hub import HeadMissingError
from mha.models.masked_prediction import with_head
from mha.models.model import Model, OfModel, typed
from mha.models.packages import ModelError
from mha.pieces import CLS, SEP, Pieces, align
from probes.causal.ablation import measure
from probes.causal.ablation_table import measures
from probes.causal.behaviours import Behaviour, BehaviourError, Prompt
from probes.causal.decisions import Choices, Labels, Regression, Score, SeveralLabels
from probes.causal.labelled_rows import LabelError, LabelledRow, number_of, several
from probes.evidence.question import Effort
from probes.minimal_pairs import Kind, LeftOut
from probes.scoring.hashed_random import draws
from reports.tables.shared_columns import ACCURACY, SCORE

NO_LABEL: Final = -100
"The label of a word that counts for nothing, as in training data of `transformers`; None is one too."

WORDS, CHOICES, TEXTS = "TokenClassification", "MultipleChoice", "SequenceClassification"
"Heads that decide rows with a label for each word, rows with choices, and others."


def head_for(rows: Sequence[LabelledRow]) -> str:
    """Return the head that decides rows: WORDS, CHOICES or TEXTS."""
    return WORDS if any(row.words for row in rows) else CHOICES if any(row.choices for row in rows) else TEXTS


def _one_choice(forward: Callable[..., Any], **given: Tensor) -> Any:
    """Run a model for multiple choice on texts [batch, piece], as if each were the only choice: a logit each."""
    return forward(**{name: one[:, None] for name, one in given.items()})


@dataclass(frozen=True)
class Classifier(OfModel):
    """A model with the head of its folder for classes of texts or words, choices, or numbers: a `ModelReader`."""

    module: nn.Module
    "A model of `transformers`, as what it is in a run of `Model.module`, with its head."
    labels: tuple[str, ...]
    "Names of the labels, in the order of the logits; of a regression those of its numbers, of choices none."
    sigmoid: bool = False
    "Whether its one number is read behind a sigmoid, as a CrossEncoder of sentence-transformers gives it."
    numbered: bool = False
    "Whether rows give labels by their numbers, which have names."

    @classmethod
    def of(cls, model: Model, kind: str) -> Classifier:
        """Return the classifier of a model, of WORDS, CHOICES or TEXTS.

        Raises ModelError for a model without such a head.
        """
        try:
            _refuse_other(model, kind)
            module = with_head(model, kind)
        except HeadMissingError as error:
            rows = {WORDS: "a label for each word", CHOICES: "choices", TEXTS: "one label"}[kind]
            raise ModelError(f"{model.name}: no head for rows with {rows}, as ...For{kind} has ({error})") from error
        config: Any = module.config
        if config.pad_token_id is None:
            raise ModelError(f"{model.name}: config.json has no pad_token_id, so transformers reads single texts alone")
        if kind == CHOICES:
            module.forward = partial(_one_choice, module.forward)
            return cls(model, module, ())
        if sorted(config.id2label) != [*range(config.num_labels)]:
            numbers = ", ".join(map(str, config.id2label))
            wanted = f"0 to {config.num_labels - 1}, the places of its logits"
            raise ModelError(f"{model.name}: config.json has id2label of {numbers}: expected {wanted}")
        names = tuple(str(config.id2label[number]) for number in range(config.num_labels))
        found = cls(model, module, names)
        found = found if found._pads() else replace(found, model=replace(model, padding=None))
        one = found.regression and len(names) == 1
        return replace(found, sigmoid=one and has_sigmoid(outer_folder(model.name), config))

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
        behind = ", behind a sigmoid" * self.sigmoid
        numbers = f"a number{behind}" if len(self.labels) == 1 else f"{len(self.labels)} numbers"
        names = [f"{number} {name}" for number, name in enumerate(self.labels)] if self.numbered else self.labels
        labels = numbers if self.regression else f"labels {', '.join(names)}" + ", as rows number them" * self.numbered
        return f"the model's own head ({type(self.module).__name__}: {labels if self.labels else 'a choice'})"

    @property
    def regression(self) -> bool:
        """Whether what it gives are numbers: one alone, or several where config.json says "regression"."""
        config: Any = self.module.config
        one = len(self.labels) == 1 and not self.several
        return one or (bool(self.labels) and config.problem_type == "regression")

    @property
    def several(self) -> bool:
        """Whether each label is decided by itself, so that a text can have several."""
        config: Any = self.module.config
        return bool(config.problem_type == "multi_label_classification")

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
        logits = logits.sigmoid() if self.sigmoid else logits
        return logits if selected is None else logits.flatten(0, 1).index_select(0, selected)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """That of the model, which takes the special tokens that stand in a text for such, as `transformers` does."""
        return Tokenizer.from_str(self.model.tokenizer.to_str())

    def cut(self, row: LabelledRow) -> Pieces:
        """Return the pieces of a row as the tokenizer cuts it; raises LabelError for a pair that cannot be read.

        Of a row without words, every piece that is not special counts as one.
        """
        if row.words:
            return align(self.tokenizer, [row.words])[0]
        if row.pair is not None and self.model.pairs.refused:
            raise LabelError(f"{row.place}: {self.model.pairs.refused}")
        encoding = self.tokenizer.encode(row.text, row.pair)
        ids, own = np.array(encoding.ids, np.int32), np.array(encoding.special_tokens_mask, bool)
        word = np.where(own, SEP, np.cumsum(~own) - 1)
        word[(np.cumsum(~own) == 0) & own] = CLS
        return Pieces(ids, word.astype(np.int32), int((~own).sum()))

    def labels_of(self, row: LabelledRow) -> tuple[int, ...]:
        """Return the numbers of the labels of a text that may have several; raises LabelError.

        They are given by names or numbers, or by a 0 or 1 for each label as `transformers` is trained on; a string is
        one, or some with blanks.
        """
        told = (row.label,) if str(row.label) in self.labels else several(row.label)
        marks = pd.to_numeric(pd.Series(told, dtype=object), errors="coerce").tolist()
        if told and len(told) == len(self.labels) and {*marks} <= {0, 1}:
            if len({*marks}) == 2 == len(marks):
                raise LabelError(f"{row.place}: {row.label!r} may be two numbers, or say no and yes: name the labels")
            return tuple(number for number, mark in enumerate(marks) if mark)
        found = tuple(self.label(label, row.place) for label in told)
        if len({*found}) == len(found):
            return found
        wrong = f"has a label twice, and is no 0 or 1 for each of {len(self.labels)}"
        raise LabelError(f"{row.place}: {row.label!r} {wrong}")

    def label(self, label: Any, place: str) -> int:
        """Return the number of a label, given by its name, or by its number where no name is one; raises LabelError.

        True and False are the labels called so, in whatever case, else 1 and 0.
        """
        if (named := self._named(label)) is not None:
            return named
        number = number_of(label)
        numbers: Sequence[float] = range(len(self.labels)) if self._by_place else self._called
        if number in numbers:
            return numbers.index(number)
        there = ", ".join(self.labels) + f", or 0 to {max(1, len(self.labels) - 1)}" * self._by_place
        raise LabelError(f"{place}: {label!r} is no label of {self.model.name}, which has {there}")

    def _named(self, label: Any) -> int | None:
        """Return the number of the label that is called so, True and False in whatever case; None where none is."""
        truth = isinstance(label, bool | np.bool_)
        names = [name.lower() for name in self.labels] if truth else self.labels
        name = str(label).lower() if truth else str(label)
        return names.index(name) if name in names else None

    @cached_property
    def _called(self) -> list[float]:
        """The numbers that labels are called, as 1.0 is called "1"; NaN for those that are called otherwise."""
        return pd.to_numeric(pd.Series(self.labels), errors="coerce").astype(float).tolist()

    @property
    def _by_place(self) -> bool:
        """Whether a number is the place of a label, for no label is called a number."""
        return bool(np.isnan(self._called).all())

    def by_place(self, row: LabelledRow) -> bool:
        """Return whether a row gives a label by its place among those of the model, which are called otherwise."""
        if len(self.labels) == 1 or not self._by_place or self._named(row.label) is not None:
            return False
        numbers = [number_of(one) for one in several(row.label) if self._named(one) is None]
        marks = self.several and len(numbers) == len(self.labels) and {*numbers} <= {0, 1}
        return not marks and any(number >= 0 for number in numbers)


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

    An item is a row; the rows of a group are one cluster. Of rows with words the value is a sum over its
    words divided by the mean number of words, so that the mean over rows is that over words. `score` takes the place of
    the log-probability of one label, of a text or of each word. Raises LabelError for labels that the model does not
    have, and BehaviourError where it can read no row.
    """

    def drawn(one: tuple[int, LabelledRow]) -> tuple[object, int]:
        return draws("row", repr(one[1]), *one[1].choices), one[0]

    chosen = [row for _, row in nsmallest(items or len(rows), enumerate(rows), key=drawn)]
    if not classifier.regression and any(map(classifier.by_place, chosen)):
        classifier = replace(classifier, numbered=True)
    asked: list[Prompt] = []
    clusters: list[str] = []
    left_out: list[LeftOut] = []
    for row in chosen:
        prompts, reasons = _prompts(classifier, row, len(clusters))
        asked += prompts
        clusters += [row.group] * bool(prompts)
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
        return [Prompt(cut, item, numbers=_numbers(row, classifier))], []
    if classifier.several:
        return [Prompt(cut, item, wanted=classifier.labels_of(row))], []
    gold, reasons = _gold(classifier, row, cut)
    wanted, places = tuple(gold.values()), tuple(gold) if row.words else ()
    return [Prompt(cut, item, places, wanted, (1.0,) * len(wanted))] * bool(gold), reasons


def _choices(classifier: Classifier, row: LabelledRow, item: int) -> tuple[list[Prompt], list[str]]:
    """Return a prompt for each choice of a row, of which the right one wants something; raises LabelError."""
    right = number_of(row.label)
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
    given = enumerate(row.label)
    known = {word: one for word, one in given if one is not None and pd.to_numeric(one, errors="coerce") != NO_LABEL}
    lost = known.keys() & {*cut.missing()}
    gold = {
        int(np.flatnonzero(cut.word == word)[0]): classifier.label(label, row.place)
        for word, label in known.items()
        if word not in lost
    }
    return gold, ["a word has no piece of its own"] * len(lost) + ["no word has a label"] * (not known)


def _numbers(row: LabelledRow, classifier: Classifier) -> tuple[float, ...]:
    """Return the numbers of a row, of which a string holds one, or several with blanks; raises LabelError."""
    told, count = several(row.label), len(classifier.labels)
    known = [one if isinstance(one, str | float | int | np.number) else None for one in told]
    found = pd.to_numeric(pd.Series(known, dtype=object), errors="coerce")
    if len(found) != count or not np.isfinite(found).all():
        wanted = "the number" if count == 1 else f"the {count} numbers"
        raise LabelError(f"{row.place}: {row.label!r}, expected {wanted} that the model should give")
    if classifier.sigmoid and not found.between(0, 1).all():
        raise LabelError(
            f"{row.place}: {row.label!r}, but the model's number is behind a sigmoid, between 0 and 1: scale "
            "labels as in its training (those of STS-B are divided by 5)"
        )
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
