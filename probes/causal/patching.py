"""Activation patching: how much of an answer comes back where one head gives what it gave in another sentence.

A sentence is read with its subject in the right number (clean) and in the other one (corrupted), the verb masked. In
the corrupted run the output of one head at one place, before W_O, is replaced by that of the clean run. The answer is
the logit of the right verb form less that of the wrong one (Vig et al. 2020, section 3, for heads and pairs of texts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from mha.batches import plan
from mha.causal.direct_logits import DirectLogitError, direct_logits, linear_readout
from mha.causal.interventions import Patch
from mha.causal.sweep import PIECES, Sweep, TextBatch, Variant, sweeping
from mha.hooks import watch
from mha.models.masked_prediction import MaskedLM
from mha.parallel import in_order
from mha.pieces import Pieces, align
from mha.watches import Seen
from probes.causal.behaviours import BATCH_PIECES, text_batch
from probes.evidence.leads import two_sided
from probes.evidence.question import Effort
from probes.evidence.results import named_heads
from probes.evidence.statistics import Bootstrap, Resamples, adjust, spearman
from probes.minimal_pairs import Kind, LeftOut
from probes.pairs.number_swaps import ROLES as WORD_ROLES
from probes.pairs.number_swaps import NumberSwap
from probes.records import IntArray, frozen_ints
from probes.scoring.tally import Numbers
from reports.tables.effects import ALL_PLACES

SPECIAL = "[CLS], [SEP]"

ROLES = (*WORD_ROLES, SPECIAL)
"What a piece is to the agreement that is asked about: the role of its word."


@dataclass(frozen=True)
class PatchItem:
    """A sentence in two versions, piece by piece, and the two forms of its masked verb."""

    source: str
    "The document, a cluster of the bootstrap."
    kind: Kind
    clean: Pieces
    "With the verb masked."
    corrupted: Pieces
    "The same, with the subject in the other number; each of its pieces belongs to the same word."
    place: int
    "The masked piece."
    forms: tuple[int, int]
    "Pieces of the right verb form, and of the wrong one."
    roles: IntArray
    "[piece] Index in ROLES of each piece."


def patch_items(lm: MaskedLM, swaps: Sequence[NumberSwap]) -> tuple[list[PatchItem], list[LeftOut]]:
    """Cut sentences into pieces; those that a model cannot be asked about are left out, with the reason."""
    clean, corrupted, wrong = (
        align(lm.model.tokenizer, [words(swap) for swap in swaps])
        for words in (lambda swap: swap.clean, lambda swap: swap.corrupted, _wrong)
    )
    items, left_out = [], []
    for swap, *texts in zip(swaps, clean, corrupted, wrong, strict=True):
        if reason := _unfit(lm, swap, *texts):
            left_out.append(LeftOut(swap.source, swap.kind, reason))
        else:
            items.append(_item(lm, swap, *texts))
    return items, left_out


def _wrong(swap: NumberSwap) -> tuple[str, ...]:
    return (*swap.clean[: swap.verb], swap.wrong, *swap.clean[swap.verb + 1 :])


def _unfit(lm: MaskedLM, swap: NumberSwap, clean: Pieces, corrupted: Pieces, wrong: Pieces) -> str:
    """Return why a model cannot be asked about a sentence; "" where it can."""
    if max(len(clean), len(corrupted)) > lm.model.max_pieces:
        return f"longer than the model ({lm.model.max_pieces} pieces)"
    if clean.word.tolist() != wrong.word.tolist() or (clean.word == swap.verb).sum() != 1:
        return "a verb form of several pieces"
    if clean.word.tolist() != corrupted.word.tolist():
        return "clean and corrupted pieces do not align"
    apart = [(one.ids[at], clean.ids[at]) for one in (corrupted, wrong) for at in [one.ids != clean.ids]]
    if any(lm.unknown in pieces for pair in apart for pieces in pair):
        return "told apart by a word that the vocabulary lacks"
    if not all(len(one) for one, _ in apart):
        return "the same pieces in both sentences"
    return ""


def _item(lm: MaskedLM, swap: NumberSwap, clean: Pieces, corrupted: Pieces, wrong: Pieces) -> PatchItem:
    place = int(np.flatnonzero(clean.word == swap.verb)[0])
    forms = int(clean.ids[place]), int(wrong.ids[place])
    roles = [SPECIAL if word < 0 else swap.roles[word] for word in clean.word.tolist()]
    hidden = np.arange(len(clean)) == place
    seen, changed = (replace(one, ids=np.where(hidden, lm.mask, one.ids)) for one in (clean, corrupted))
    return PatchItem(swap.source, swap.kind, seen, changed, place, forms, frozen_ints(list(map(ROLES.index, roles))))


@dataclass(frozen=True)
class Effects:
    """What patching does to each item, in logits of the right verb form less the wrong one."""

    clean: Float[Tensor, " item"]
    corrupted: Float[Tensor, " item"]
    whole: Float[Tensor, "item layer head"]
    "What is gained where a head gives what it gave in the clean run, at all places at once."
    placed: Float[Tensor, "item layer head role"]
    "The sum over the places of a role of what is gained where the head does so at that place alone."
    estimated: Float[Tensor, "item layer head role"]
    """The same to first order: the gradient at the head's output in the corrupted run times how far the clean output is
    from it, which is the gradient times the difference of what the head writes."""
    direct: Float[Tensor, "item layer head"] | None
    "What the head writes straight into the two logits, clean less corrupted; None where that cannot be told."
    why_not: str
    'Why `direct` is None; "" where it is not.'

    @property
    def gap(self) -> Float[Tensor, " item"]:
        """What there is to be restored."""
        return self.clean - self.corrupted


def measure_patching(
    lm: MaskedLM,
    items: Sequence[PatchItem],
    *,
    batch_pieces: int = BATCH_PIECES,
    side_by_side: int = PIECES,
    step: Callable[[int], None] = lambda items: None,
) -> Effects:
    """Patch every head of a model at every place of every item, and at all places at once.

    Neither `batch_pieces` nor `side_by_side` (pieces of a batch, and of its copies) change a number but by rounding.
    `step` is told how many items were done.
    """
    if not items:
        raise ValueError("there is no item to be patched")
    texts = [item.clean for item in items]
    batches = plan(texts, [item.source for item in items], batch_pieces, pads=lm.model.padding is not None)
    why_not = ""
    try:
        linear_readout(lm)
    except DirectLogitError as error:
        why_not = str(error)
    with sweeping(lm) as sweep:
        work = partial(_batch_effects, sweep, lm, side_by_side, not why_not)
        parts = []
        for part in in_order(work, ([items[i] for i in batch] for batch in batches)):
            parts.append(part)
            step(len(part[0]))
    order = torch.argsort(torch.tensor([i for batch in batches for i in batch]))
    clean, corrupted, whole, placed, estimated, direct = (torch.cat(one)[order] for one in zip(*parts, strict=True))
    return Effects(clean, corrupted, whole, placed, estimated, None if why_not else direct, why_not)


def _batch_effects(
    sweep: Sweep, lm: MaskedLM, side_by_side: int, direct: bool, items: Sequence[PatchItem]
) -> tuple[Tensor, ...]:
    """Return the fields of `Effects` for a batch, that of `direct` empty where it is not asked for."""
    forms = torch.tensor([item.forms for item in items])
    clean, corrupted = (_texts(lm, items, version) for version in ("clean", "corrupted"))
    with torch.inference_mode():
        one, other = sweep.trace(clean), sweep.trace(corrupted)
        variants = list(_variants([seen.tensor for seen in one.seen], corrupted.ids.shape[1]))
        gained = one.output.new_zeros(len(variants), len(items))
        before = _difference(other.output, forms)
        for numbers, output in sweep.run(corrupted, variants, other, pieces=side_by_side):
            gained[numbers] = _difference(output, forms) - before
    changed = [there.tensor - here.tensor for there, here in zip(one.seen, other.seen, strict=True)]
    role = _roles(items, corrupted.ids.shape[1]).to(gained)
    gained = gained.view(len(changed), -1, 1 + role.shape[1], len(items))
    first_order = (
        (gradient * difference).sum(-1)
        for gradient, difference in zip(_gradients(lm, corrupted, forms), changed, strict=True)
    )
    found = (
        _difference(one.output, forms),
        before,
        gained[:, :, 0].permute(2, 0, 1),
        torch.einsum("lhpb,bpr->blhr", gained[:, :, 1:], role),
        torch.einsum("lbhp,bpr->blhr", torch.stack(list(first_order)), role),
        direct_logits(lm, corrupted, changed, forms) if direct else before,
    )
    return tuple(one.cpu() for one in found)


def _variants(outputs: Sequence[Tensor], places: int) -> Iterator[Variant]:
    """Yield for each head the patch of all places, then that of every place; `outputs` are those of the clean run."""
    for layer, output in enumerate(outputs):
        batch, heads = output.shape[:2]
        at = torch.eye(places, dtype=torch.bool)[:, None].expand(-1, batch, -1)
        for head in range(heads):
            clean = output[:, head]
            yield (Patch(layer, head, clean),)
            for place in at:
                yield (Patch(layer, head, clean, place),)


def _gradients(lm: MaskedLM, texts: TextBatch, forms: Tensor) -> list[Tensor]:
    """Return, for every layer, the gradient of the difference of logits with respect to the heads' outputs."""
    added: dict[int, Tensor] = {}

    def add(seen: Seen) -> Tensor:
        added[seen.layer] = torch.zeros_like(seen.tensor).requires_grad_()
        return seen.tensor + added[seen.layer]

    with torch.enable_grad(), watch(lm.module, add, ["head_output"]):
        logits = lm.read(texts.ids, texts.real, texts.selected)
        return list(torch.autograd.grad(_difference(logits, forms).sum(), [added[layer] for layer in sorted(added)]))


def _difference(logits: Float[Tensor, "*variant batch vocab"], forms: Tensor) -> Float[Tensor, "*variant batch"]:
    row = torch.arange(len(forms))
    return logits[..., row, forms[:, 0]] - logits[..., row, forms[:, 1]]


def _texts(lm: MaskedLM, items: Sequence[PatchItem], version: str) -> TextBatch:
    """Return the clean or the corrupted sentences as the model reads them, which is asked at their verbs."""
    return text_batch([getattr(item, version) for item in items], [[item.place] for item in items], lm.model.padding)


def _roles(items: Sequence[PatchItem], width: int) -> Float[Tensor, "item piece role"]:
    found = torch.zeros(len(items), width, len(ROLES))
    for row, item in zip(found, items, strict=True):
        row[torch.arange(len(item.roles)), torch.tensor(item.roles)] = 1
    return found


def patch_table(items: Sequence[PatchItem], effects: Effects, effort: Effort) -> pd.DataFrame:
    """Return a row a role and head: the share of the answer that the head restores there.

    A share is the ratio of two sums over the items that have the role: what is gained, and the difference between clean
    and corrupted run; NaN where nothing is lost by the corruption. Intervals are those of a bootstrap over clusters;
    NaN where it is not sure that something is lost, for a ratio then has no bounds (Fieller 1954). p is
    that of `probes.evidence.leads.two_sided` of what is gained, corrected for all heads (`p_label`) and for all roles
    (`p_adjusted`).
    """
    shape = (effects.whole.shape[1], effects.whole.shape[2])
    frames = []
    for role in (ALL_PLACES, *ROLES):
        sums = _sums(items, effects, role)
        if not len(sums.clusters):
            continue
        gained, quick = (sums.ratio(one) for one in (sums.gained, sums.estimated))
        low, high = sums.interval(effort)
        p, p_label = two_sided(sums.items, sums.gained)
        told = {
            "role": role,
            "n": int(sums.items.sum()),
            "clusters": len(sums.clusters),
            "share": gained,
            "estimate": quick,
        }
        told |= {"ci_low": low, "ci_high": high, "p": p, "p_label": p_label}
        told |= {"direct": sums.ratio(sums.direct) if sums.direct is not None else np.nan}
        frames.append(pd.DataFrame(named_heads(shape) | told))
    adjusted = adjust([frame["p_label"].to_numpy() for frame in frames], dependent=False)
    frames = [frame.assign(p_adjusted=one) for frame, one in zip(frames, adjusted, strict=True)]
    return pd.concat(frames, ignore_index=True)


def agreements(items: Sequence[PatchItem], effects: Effects, effort: Effort) -> dict[str, float]:
    """Return how far quick measures of all heads agree with patching them at all places at once.

    The first-order estimate and, where that can be told, direct logit attribution: `rho` is Spearman's rank correlation
    over heads of their shares, with its interval, and `slope` the least-squares slope through the origin of the quick
    shares on the patched ones, 1 where they are equally large. NaN where one of both is constant.
    """
    sums = _sums(items, effects, ALL_PLACES)
    quick = {"estimate": sums.estimated} | ({} if sums.direct is None else {"direct": sums.direct})
    found = {name: _agreement(sums, one, effort) for name, one in quick.items()}
    return {f"{name}_{key}": number for name, numbers in found.items() for key, number in numbers.items()}


@dataclass(frozen=True)
class _Sums:
    """Sums over the items of each cluster."""

    clusters: Sequence[str]
    items: Numbers
    "[cluster]"
    gap: Numbers
    "[cluster]"
    gained: Numbers
    "[cluster, head], heads layer by layer; so are the others."
    estimated: Numbers
    direct: Numbers | None

    @property
    def known(self) -> bool:
        """Whether the corruption loses anything that could be restored."""
        return bool(self.gap.sum() > 0)

    def resamples(self, effort: Effort) -> Resamples:
        """Return resamples of the clusters, in which the gap is what items are elsewhere."""
        places = range(len(self.clusters))
        return Bootstrap.draw(places, effort.replicates, effort.seed).of(places, self.gap)

    def interval(self, effort: Effort) -> Numbers:
        """Return [2, head], the interval of the shares gained; NaN where more than a tail of resamples lose nothing."""
        resamples = self.resamples(effort)
        if len(resamples.n) < effort.replicates * (1 + resamples.level) / 2:
            return np.full((2, self.gained.shape[1]), np.nan)
        return resamples.interval(resamples.means(self.gained))

    def ratio(self, totals: Numbers) -> Numbers:
        """Return [head], the ratio of sums; NaN where nothing is lost."""
        return totals.sum(0) / self.gap.sum() if self.known else np.full(totals.shape[1], np.nan)


def _sums(items: Sequence[PatchItem], effects: Effects, role: str) -> _Sums:
    """Return the sums of the items that have a role; estimates of all places are those of all roles together."""
    if role == ALL_PLACES:
        chosen = np.ones(len(items), bool)
        gained, estimated = effects.whole, effects.estimated.sum(-1)
    else:
        place = ROLES.index(role)
        chosen = np.array([bool((item.roles == place).any()) for item in items])
        gained, estimated = effects.placed[..., place], effects.estimated[..., place]
    sources = [item.source for item, has in zip(items, chosen, strict=True) if has]
    clusters, member = np.unique(sources, return_inverse=True)

    def summed(values: object) -> Numbers:
        found = np.asarray(values, np.float64).reshape(len(items), -1)[chosen]
        totals = np.zeros((len(clusters), found.shape[1]))
        np.add.at(totals, member, found)
        return totals

    direct = summed(effects.direct) if role == ALL_PLACES and effects.direct is not None else None
    gap, count = summed(effects.gap)[:, 0], np.bincount(member).astype(np.float64)
    return _Sums(list(clusters), count, gap, summed(gained), summed(estimated), direct)


def _agreement(sums: _Sums, quick: Numbers, effort: Effort) -> dict[str, float]:
    true, told = sums.ratio(sums.gained), sums.ratio(quick)
    if not sums.known or np.ptp(true) == 0 or np.ptp(told) == 0:
        return dict.fromkeys(("rho", "low", "high", "slope"), np.nan)
    resamples = sums.resamples(effort)
    drawn = spearman(resamples.means(sums.gained), resamples.means(quick))
    low, high = resamples.interval(drawn[:, None])[:, 0]
    return {"rho": float(spearman(true, told)), "low": low, "high": high, "slope": float(true @ told / (true @ true))}
