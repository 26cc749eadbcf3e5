"""Which sentence of each minimal pair a masked language model prefers.

Three methods. `masked`: where the sentences differ in one piece, that place is masked and the log-probabilities of the
two pieces are compared (Goldberg 2019). `pll`: the pseudo-log-likelihood of a sentence is the sum over its pieces of
the log-probability of each while it alone is masked; those of the two sentences are compared (Salazar et al. 2020).
`auto` takes the first where it can be taken, else the second. `cloze`, whatever was asked for, where the pair names a
word that both sentences share: it is masked, and its log-probabilities in the two are compared (Ettinger 2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

import numpy as np
import torch

from mha.batches import padded, plan
from mha.models.masked_prediction import MaskedLM
from mha.parallel import in_order
from mha.pieces import Pieces, align
from probes.minimal_pairs import Item, Kind, LeftOut, MinimalPair

MASKED, PLL, AUTO, CLOZE = "masked", "pll", "auto", "cloze"

METHODS = (AUTO, MASKED, PLL)

CHUNK = 256
"Pairs that are tokenised, and divided into batches, at a time."

NEAR = 1e-5
"Nats by which a decision may be turned over by another batch size or machine."


@dataclass(frozen=True, slots=True)
class Decision:
    """What a model says about one pair."""

    source: str
    kind: Kind
    method: str
    "MASKED, PLL or CLOZE."
    good: float
    """Log-probability in nats of the right form, or of the shared word in the right sentence, or pseudo-log-likelihood
    of the right sentence."""
    bad: float

    @property
    def credit(self) -> float:
        """1 where the right sentence is preferred, 0 where the wrong one is, 0.5 where both are equal."""
        return 0.5 + 0.5 * float(np.sign(self.good - self.bad))

    @property
    def near(self) -> bool:
        """Whether the two differ by no more than NEAR."""
        return abs(self.good - self.bad) <= NEAR


@dataclass
class Decisions:
    """What a model says about the pairs of one corpus, and what it could not be asked."""

    made: list[Decision] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


@dataclass(frozen=True)
class MaskedQuestion:
    """One text with one piece masked, and the pieces whose log-probabilities at that place are wanted."""

    text: Pieces
    place: int
    wanted: tuple[int, ...]


@dataclass(frozen=True)
class PromptedPair:
    """A pair as questions to a model: one of two answers, one for each sentence, or one for each of their pieces."""

    pair: MinimalPair
    method: str
    good: tuple[MaskedQuestion, ...]
    bad: tuple[MaskedQuestion, ...]
    "Empty for MASKED, whose one question is in `good`."

    def weighted(self) -> Iterator[tuple[MaskedQuestion, tuple[float, ...]]]:
        """Yield every question with what its answers count in good - bad."""
        for question in self.good:
            yield question, (1.0, -1.0) if self.method == MASKED else (1.0,)
        for question in self.bad:
            yield question, (-1.0,)

    def decision(self, answers: Iterator[tuple[float, ...]]) -> Decision:
        """Take the answers to the questions of `good`, then of `bad`, and return what they amount to."""
        good = [next(answers) for _ in self.good]
        bad = [next(answers) for _ in self.bad]
        totals = good[0] if self.method == MASKED else (sum(x for (x,) in good), sum(x for (x,) in bad))
        return Decision(self.pair.source, self.pair.kind, self.method, totals[0], totals[1])


def decide(
    lm: MaskedLM,
    items: Iterable[Item],
    *,
    method: str = AUTO,
    batch_pieces: int = 4096,
    step: Callable[[int], None] = lambda items: None,
) -> Decisions:
    """Let a model decide every pair; `step` is told how many items were done.

    `batch_pieces` is the most pieces of a batch, padding included. No number depends on the order of the pairs; on
    `batch_pieces` only by rounding. Pairs that the model cannot be asked are left out with the reason: too long for
    it, told apart by an unknown word or not at all, or different in more than one piece where `method` is MASKED; of
    those that ask for a shared word those in which it is unknown or has several pieces.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; expected one of {', '.join(METHODS)}")
    decisions = Decisions()
    rest = iter(items)
    while chunk := list(islice(rest, CHUNK)):
        asked = []
        for one in prompted_pairs(lm, chunk, method):
            if isinstance(one, LeftOut):
                decisions.left_out.append(one)
            else:
                asked.append(one)
        questions = [question for one in asked for question in (*one.good, *one.bad)]
        answers = iter(_answers(lm, questions, batch_pieces))
        decisions.made += [one.decision(answers) for one in asked]
        step(len(chunk))
    return decisions


def prompted_pairs(lm: MaskedLM, items: Sequence[Item], method: str) -> Iterator[PromptedPair | LeftOut]:
    """Yield each pair as questions to the model, or left out with the reason; `method` as in `decide`."""
    pairs = [item for item in items if isinstance(item, MinimalPair)]
    cut = align(lm.model.tokenizer, [words for pair in pairs for words in (pair.good, pair.bad)])
    texts = zip(cut[::2], cut[1::2], strict=True)
    for item in items:
        if isinstance(item, LeftOut):
            yield item
            continue
        good, bad = next(texts)
        reason = _unfit(lm, item, good, bad, method)
        yield LeftOut(item.source, item.kind, reason) if reason else _questions(lm, item, good, bad, method)


def _unfit(lm: MaskedLM, pair: MinimalPair, good: Pieces, bad: Pieces, method: str) -> str:
    """Return why a model cannot be asked about a pair; "" where it can."""
    if max(len(good), len(bad)) > lm.model.max_pieces:
        return f"longer than the model ({lm.model.max_pieces} pieces)"
    if good.misread(lm.model.special) or bad.misread(lm.model.special):
        return "with a word that is a special token to the model"
    if any(lm.unknown in _apart(one, other) for one, other in ((good, bad), (bad, good))):
        return "told apart by a word that the vocabulary lacks"
    if good.ids.tolist() == bad.ids.tolist():
        return "the same pieces in both sentences"
    if pair.shared is not None:
        places = [np.flatnonzero(text.word == pair.shared) for text in (good, bad)]
        if any(len(one) != 1 for one in places):
            return "the word that is asked for has several pieces"
        if lm.unknown == good.ids[places[0][0]]:
            return "asks for a word that the vocabulary lacks"
    elif method == MASKED and _only_difference(good, bad) is None:
        return "not different in exactly one piece"
    return ""


def _apart(one: Pieces, other: Pieces) -> list[int]:
    """Return the pieces of `one` between what both texts begin with and what both end with."""
    mine: list[int] = one.ids.tolist()
    theirs: list[int] = other.ids.tolist()
    shorter = min(len(mine), len(theirs))
    start = next((i for i in range(shorter) if mine[i] != theirs[i]), shorter)
    most = shorter - start
    end = next((i for i in range(most) if mine[-1 - i] != theirs[-1 - i]), most)
    return mine[start : len(mine) - end]


def _only_difference(good: Pieces, bad: Pieces) -> int | None:
    """Return the one place in which two texts of equal length differ, None where there is no such place."""
    if len(good) != len(bad):
        return None
    places = np.flatnonzero(good.ids != bad.ids)
    return int(places[0]) if len(places) == 1 else None


def _questions(lm: MaskedLM, pair: MinimalPair, good: Pieces, bad: Pieces, method: str) -> PromptedPair:
    if pair.shared is not None:
        return PromptedPair(pair, CLOZE, *((_shared(text, pair.shared, lm.mask),) for text in (good, bad)))
    place = _only_difference(good, bad)
    if place is not None and method != PLL:
        forms = int(good.ids[place]), int(bad.ids[place])
        return PromptedPair(pair, MASKED, (MaskedQuestion(_masked(good, place, lm.mask), place, forms),), ())
    return PromptedPair(pair, PLL, *(tuple(_every(text, lm.mask)) for text in (good, bad)))


def _shared(text: Pieces, word: int, mask: int) -> MaskedQuestion:
    place = int(np.flatnonzero(text.word == word)[0])
    return MaskedQuestion(_masked(text, place, mask), place, (int(text.ids[place]),))


def _every(text: Pieces, mask: int) -> Iterator[MaskedQuestion]:
    for place in np.flatnonzero(text.word >= 0).tolist():
        yield MaskedQuestion(_masked(text, place, mask), place, (int(text.ids[place]),))


def _masked(text: Pieces, place: int, mask: int) -> Pieces:
    ids = text.ids.copy()
    ids[place] = mask
    return replace(text, ids=ids)


def _answers(lm: MaskedLM, questions: Sequence[MaskedQuestion], budget: int) -> list[tuple[float, ...]]:
    texts = [question.text for question in questions]
    batches = plan(texts, [""] * len(texts), budget, pads=lm.model.padding is not None) if texts else []
    found: list[tuple[float, ...]] = [()] * len(questions)
    answer = partial(_answer, lm)
    for batch, answers in zip(batches, in_order(answer, ([questions[i] for i in b] for b in batches)), strict=True):
        for i, values in zip(batch, answers, strict=True):
            found[i] = values
    return found


def _answer(lm: MaskedLM, questions: Sequence[MaskedQuestion]) -> list[tuple[float, ...]]:
    ids, real = padded([question.text for question in questions], lm.model.padding)
    place = torch.tensor([question.place for question in questions])
    wanted = torch.tensor([(question.wanted[0], question.wanted[-1]) for question in questions])
    all_pieces = lm.log_probabilities(ids, real, place)
    found = all_pieces.gather(1, wanted.to(all_pieces.device)).tolist()
    return [tuple(row[: len(question.wanted)]) for row, question in zip(found, questions, strict=True)]
