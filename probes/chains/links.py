"""Coreference chains of one head: every mention is linked to the preceding one that the head attends to most.

The chains of a text are what its links join. Rules and chains that take no choice at all are baselines that go
through the same scorer (`probes.chains.scores`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from mha.batches import Batch
from probes.records import Document, IntArray
from probes.scoring.aligned import name_of
from probes.scoring.expert_rules import Groups, Rule, Text, agreeing_mentions, same_word_or_agreeing, subjects
from probes.scoring.hashed_random import draws, random_bits
from probes.scoring.scorer import TINY
from probes.scoring.tally import Numbers
from probes.targets import Items


def mentions_before(text: Text, query: int) -> Groups:
    """Name all mentions."""
    return [text.mentions]


def match_or_pronoun(text: Text, query: int) -> Groups:
    """Name the mentions before with the same head word, and for pronouns alone those that agree."""
    groups = same_word_or_agreeing(text, query)
    return groups if text.document.upos[query] == "PRON" else groups[:1]


RULES: Final[Mapping[str, Rule]] = {
    "nearest mention": mentions_before,
    "nearest mention that agrees": agreeing_mentions,
    "same head word or mention that agrees": same_word_or_agreeing,
    "same head word, pronouns agree": match_or_pronoun,
    "nearest subject": subjects,
}

BASELINES: Final = (*RULES, "one chain", "single mentions")
"Rules, and what takes no choice: all mentions of a text in one chain, and each in a chain of its own."


@dataclass(frozen=True)
class Mentions:
    """The mentions of a text, one a head word: of several with the same one the longest, as the rules have it."""

    text: Text
    words: IntArray
    "[mention] Their head words, ascending."
    entity: IntArray
    "[mention] Number of the gold chain, from 0."

    @classmethod
    def of(cls, document: Document) -> Mentions:
        """Return the mentions of a text."""
        longest_last = sorted(document.mentions, key=lambda mention: len(mention.words))
        entity_of = {mention.head: mention.entity for mention in longest_last}
        words = sorted(entity_of)
        entity = np.unique([entity_of[word] for word in words], return_inverse=True)[1]
        return cls(Text(document), np.array(words, np.int64), entity.astype(np.int64))

    def __len__(self) -> int:
        """Return the number of mentions."""
        return len(self.words)

    def baselines(self) -> tuple[IntArray, Numbers]:
        """Return the antecedents of BASELINES and their strengths, [mention, baseline] each (see `Links`)."""
        antecedent, strength = np.full((len(self), len(BASELINES)), -1), np.ones((len(self), len(BASELINES)))
        antecedent[:, BASELINES.index("one chain")] = np.arange(len(self)) - 1
        for column, rule in enumerate(RULES.values()):
            for mention in range(1, len(self)):
                antecedent[mention, column], strength[mention, column] = self._choose(rule, mention)
        return antecedent, strength

    def _choose(self, rule: Rule, mention: int) -> tuple[int, float]:
        """Return the nearest mention before that the rule names, -1 for none, and how sure the rule is."""
        query, before = int(self.words[mention]), {*self.words[:mention].tolist()}
        for preference, group in enumerate(rule(self.text, query)):
            if named := before.intersection(group):
                return int(np.searchsorted(self.words, max(named))), 1 / (query - max(named)) - preference
        return -1, 0.0


@dataclass(frozen=True)
class Links:
    """One text: the antecedent of each mention by every method, which is linked if it is strong enough."""

    document: str
    entity: IntArray
    "[mention] Number of the gold chain."
    antecedent: IntArray
    "[mention, method] Index of the mention before, -1 for none."
    strength: Numbers
    """[mention, method] Of a head its attention from the one head word to the other. Of a rule one divided by their
    distance in words, less one for each group of mentions that the rule prefers: the nearest of the first are linked
    first. Of other baselines 1."""

    def chains(self, least: Numbers) -> IntArray:
        """Return [mention, method], the chain of each mention if links are at least `least` [method] strong."""
        linked = (self.antecedent >= 0) & (self.strength >= least)
        found, methods = np.zeros(linked.shape, np.int64), np.arange(linked.shape[1])
        for mention, before in enumerate(self.antecedent):
            found[mention] = np.where(linked[mention], found[before, methods], mention)
        return found


class Linker:
    """Has every head link the mentions of the texts that a model reads, baselines behind them (an Observer).

    Candidates are the head words of the mentions before, as in the variant "preceding mention heads" of the probe
    `coreference`. Of equally attended ones one is taken at random, so that a head that attends to all alike gets no
    credit for order; one without attention on any links nothing.
    """

    def __init__(self, layers: int, heads: int, *, baselines: bool = True) -> None:
        """Look at heads of that many layers; `baselines` says whether those of BASELINES link too."""
        self.shape, self.baselines = (layers, heads), baselines
        self.texts: list[Links] = []
        "Of all texts with a mention."

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items] = ()) -> LinkObservation:
        """Lay out the mentions of a batch."""
        return LinkObservation(documents, self.shape, baselines=self.baselines)

    def add(self, observation: LinkObservation) -> None:
        """Take in a batch."""
        self.texts += observation.links()


class LinkObservation:
    """The links of one batch, layer after layer."""

    def __init__(self, documents: Sequence[Document], shape: tuple[int, int], *, baselines: bool) -> None:
        """Lay out the pairs of a mention and one before it; `shape` is (layers, heads)."""
        self.names, self.shape, self.baselines = [document.id for document in documents], shape, baselines
        self.mentions = [Mentions.of(document) for document in documents]
        pairs = [_pairs(number, mentions) for number, mentions in enumerate(self.mentions)]
        self.pairs: IntArray = np.concatenate(pairs, 1) if pairs else np.zeros((5, 0), np.int64)
        "[5, pair] Text, word of the mention, word of the candidate, and the places of both among the mentions."
        text, _, _, mention, _ = self.pairs
        self.first = np.flatnonzero(np.diff(text, prepend=-1) | np.diff(mention, prepend=-1))
        "[mention with candidates] Its first pair."
        self.antecedent = np.full((len(self.first), *shape), -1)
        self.strength = np.zeros((len(self.first), *shape))

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Take the choices of the heads of a layer."""
        if not len(self.first):
            return
        text, query, key, _, candidate = map(torch.from_numpy, self.pairs)
        values = maps[text, :, query, key].cpu().double().numpy()
        best = np.maximum.reduceat(values, self.first)
        of_pair = np.repeat(np.arange(len(self.first)), np.diff(self.first, append=len(values)))
        place = np.where(values == best[of_pair], np.arange(len(values))[:, None], len(values))
        chosen = candidate.numpy()[np.minimum.reduceat(place, self.first)]
        self.antecedent[:, layer], self.strength[:, layer] = np.where(best >= TINY, chosen, -1), best

    def links(self) -> list[Links]:
        """Return the links of every text with a mention."""
        found = []
        for number, mentions in enumerate(self.mentions):
            antecedent, strength = self._of_heads(number)
            if self.baselines:
                others = mentions.baselines()
                antecedent, strength = np.hstack([antecedent, others[0]]), np.hstack([strength, others[1]])
            if len(mentions):
                found.append(Links(self.names[number], mentions.entity, antecedent, strength))
        return found

    def _of_heads(self, number: int) -> tuple[IntArray, Numbers]:
        """Return the antecedents of the mentions of a text and their strengths, [mention, layer * head] each."""
        shape = (len(self.mentions[number]), *self.shape)
        antecedent, strength = np.full(shape, -1), np.zeros(shape)
        here = self.pairs[0][self.first] == number
        mention = self.pairs[3][self.first][here]
        antecedent[mention], strength[mention] = self.antecedent[here], self.strength[here]
        heads = self.shape[0] * self.shape[1]
        return antecedent.reshape(len(antecedent), heads), strength.reshape(len(strength), heads)


def _pairs(number: int, mentions: Mentions) -> IntArray:
    """Return the pairs of text `number` as `LinkObservation` has them, the candidates of a mention in random order."""
    document = mentions.text.document
    mention, candidate = np.tril_indices(len(mentions), -1)
    drawn = np.array(draws("links", document.id, name_of(document), document.words)[:1], np.uint64)
    order = np.lexsort((random_bits(drawn, mention, candidate), mention))
    mention, candidate = mention[order], candidate[order]
    places = (mentions.words[mention], mentions.words[candidate], mention, candidate)
    return np.stack([np.full(len(mention), number), *places])
