"""The population of the sandbox: a model whose heads' roles are known, and its counts on a corpus of the grammar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np

from experiments.config.sections import ControlsSection
from mha.models.model import Model
from mha.planted.heads import word_model
from probes import Corpus, Probe, get_probe
from probes.corpora.corpus import Texts
from probes.evidence.control_heads import best_heads
from probes.evidence.planted import Follows, Head, Knows, Planted, RandomGold, planted_changes
from probes.evidence.results import pooled_sums
from probes.evidence.simulation import GRADES, Pool, stacked
from probes.registry import RANDOM
from probes.scoring.prepared import PreparedTargets
from probes.scoring.score import Settings, learn_baselines, score_corpus
from probes.scoring.tally import Pooled, Question

ROLES: dict[str, Question] = {
    "previous word": ("position", "other words", "previous"),
    "subject of the verb": ("agreement", "verb->subject", "all"),
    "object's verb": ("dependency", "dependent->head", "obj"),
    "antecedent": ("coreference", "preceding mention heads", "all"),
}
"What planted heads know, and the question that should find them."

DECOYED = ("det", "amod", "nsubj", "obj", "case", "aux")
"Relations (dependent->head) whose best offset is followed by decoys."

MARGINS = (0.05, 0.08, 0.1, 0.15, 0.2, 0.3)
"Leads over the strongest of all baselines up to a grade at which heads are planted, where accuracy allows."

SPREAD = 0.2
"How far the strength of a planted head in one document may lie from its strength over all."

STRONGEST = 0.95
"Planted heads know no more, so that there is room for documents to differ."

FAITHFUL = (1.0, 0.9, 0.75)
"Shares of words in which decoys follow their offset; in the others they attend to a random word."

BYSTANDERS = 24
"Heads of random weights in the planted model."

UNTRAINED = 24
"Untrained models, of which a run draws its own."

LAYERS, WIDTH, POSITIONS = 5, 17, 130

QUESTIONS: tuple[Question, ...] = (
    *ROLES.values(),
    *(("dependency", "dependent->head", label) for label in (*DECOYED, "obl", "nmod", "advmod") if label != "obj"),
)


Place = tuple[str, int, float]
"Role, grade, and lead over the strongest of all baselines up to that grade."


@dataclass(frozen=True)
class RoleLayout:
    """Which head of the sandbox model does what; numbers are flat indices."""

    planted: dict[Place, int]
    "Place -> head."
    decoys: tuple[int, ...]
    roles: dict[int, Knows | Follows]

    @property
    def bystanders(self) -> tuple[int, ...]:
        """Heads of random weights."""
        return tuple(range(BYSTANDERS))

    @property
    def by_head(self) -> Planted:
        """Layer and head -> role."""
        return {head_of(number): role for number, role in self.roles.items()}


def head_of(number: int) -> Head:
    """Return layer and head of a flat index."""
    return number // WIDTH, number % WIDTH


@dataclass(frozen=True)
class Sandbox:
    """A corpus, models of random weights, and the layout of the heads that are planted into the first."""

    corpus: Corpus
    model: Model
    others: tuple[Model, ...]
    "Untrained models: of random weights, too."
    layout: RoleLayout
    documents: int
    seed: int
    _untrained: dict[tuple[str, ...], Pooled] = field(default_factory=dict, repr=False)
    "By the names of probes, what the untrained models reach: it does not depend on the layout."

    @classmethod
    def build(cls, documents: int, seed: int) -> Sandbox:
        """Plant heads at MARGINS for every role, and decoys; what strength that takes is measured on the corpus."""
        corpus = Corpus.generated(documents, seed)
        words = {word for text in corpus.stream() for word in text.words}
        model, *others = (
            word_model(words, layers=LAYERS, heads=WIDTH, head_dim=8, positions=POSITIONS, seed=seed + number)
            for number in range(1 + UNTRAINED)
        )
        blank = cls(corpus, model, tuple(others), RoleLayout({}, (), {}), documents, seed)
        return replace(blank, layout=_layout(blank))

    def pool(self) -> Pool:
        """Return the counts of every head on QUESTIONS."""
        names = dict.fromkeys(probe for probe, _, _ in QUESTIONS)
        return self._joined_reads([get_probe(name) for name in names]).only(QUESTIONS)

    def random_pool(self, drawings: int) -> Pool:
        """Return the counts on the questions of the roles with permuted gold, drawn so many times."""
        probes = [
            [RandomGold.of(get_probe(probe), variant, number) for probe, variant, _ in ROLES.values()]
            for number in range(drawings)
        ]
        every = self._joined_reads([probe for of_drawing in probes for probe in of_drawing])
        names = [{probe.name for probe in of_drawing} for of_drawing in probes]
        asked = [[question for question in every.heads if question[0] in drawn] for drawn in names]
        return stacked([_named(every.only(questions)).only([*ROLES.values()]) for questions in asked])

    def _joined_reads(self, probes: Sequence[Probe]) -> Pool:
        """Return the counts of probes of any scope."""
        scopes = [[probe for probe in probes if probe.scope == scope] for scope in ("sentence", "window")]
        return _joined([self._read(part) for part in scopes if part])

    def offsets(self) -> dict[str, int]:
        """Return the best offset of every relation in DECOYED."""
        seen: dict[str, Counter[int]] = {label: Counter() for label in DECOYED}
        for text in self.corpus.stream():
            for word, (head, label) in enumerate(zip(text.heads.tolist(), text.deprels, strict=True)):
                if label in seen:
                    seen[label][head - word] += 1
        return {label: counts.most_common(1)[0][0] for label, counts in seen.items()}

    def _read(self, probes: Sequence[Probe]) -> Pool:
        """Return the counts of probes of one scope."""
        texts = self.corpus.sentences() if probes[0].scope == "sentence" else self.corpus.windows(100)
        names = sorted({name for probe in probes for name in (*probe.baselines, *probe.rules)})
        baselines = learn_baselines(texts, probes, names)
        changes = partial(planted_changes, self.layout.by_head)
        outcome = score_corpus(self.model, texts, probes, baselines, Settings(), changes=changes)
        heads, beaten = pooled_sums(outcome, probes)
        sample = round(self.documents * ControlsSection().sample_words / self.corpus.size()["words"])
        asked = tuple(probe.name for probe in probes)
        if asked not in self._untrained:
            self._untrained[asked] = self.untrained(texts, probes)
        return Pool(self.documents, heads, beaten, {RANDOM: self._untrained[asked]}, sample)

    def untrained(self, texts: Texts, probes: Sequence[Probe], count: int = UNTRAINED, workers: int = 0) -> Pooled:
        """Return the sums of the best heads of as many untrained models, [document, model]."""
        asked = PreparedTargets.of(self.model, texts, probes, {}, Settings(workers=workers))
        return best_heads([asked.put(one, hits_alone=True) for one in self.others[:count]])


def _layout(blank: Sandbox) -> RoleLayout:
    """Return heads for all roles, grades and margins, and decoys after them."""
    planted: dict[Place, int] = {}
    roles: dict[int, Knows | Follows] = {}
    for place, strength in _strengths(blank).items():
        planted[place] = number = BYSTANDERS + len(roles)
        roles[number] = Knows(ROLES[place[0]], strength, number, SPREAD)
    first = BYSTANDERS + len(roles)
    followed = [(offset, share) for offset in sorted(set(blank.offsets().values())) for share in FAITHFUL]
    decoys = range(first, first + len(followed))
    roles |= {number: Follows(*how, seed=number) for number, how in zip(decoys, followed, strict=True)}
    assert decoys.stop <= LAYERS * WIDTH
    return RoleLayout(planted, tuple(decoys), roles)


def _strengths(blank: Sandbox) -> dict[Place, float]:
    """Return the strength at which a head of each role has each margin at each grade.

    Grades without a baseline, and margins that would take more than STRONGEST, are left out.

    A head that knows nothing and one that knows all tell what it takes: accuracy grows in proportion to strength, and
    the baselines that it has to beat stay as they are.
    """
    ends = {(name, strength): BYSTANDERS + n for n, (name, strength) in enumerate(product(ROLES, (0.0, 1.0)))}
    roles: dict[int, Knows | Follows] = {head: Knows(ROLES[name], one) for (name, one), head in ends.items()}
    pool = replace(blank, layout=RoleLayout({}, (), roles)).pool()
    strengths = np.linspace(0, 1, 10_001)
    found = {}
    for name, question in ROLES.items():
        n, both = pool.heads[question].n.sum(), [ends[name, 0.0], ends[name, 1.0]]
        accuracy = np.interp(strengths, [0, 1], pool.heads[question].hits[:, both].sum(0) / n)
        others = pool.columns(range(BYSTANDERS)).truth(question)
        for grade, margin in product(GRADES, MARGINS):
            strongest = float(others.accuracy[0] - others.leads[grade - 1, 0])
            enough = np.flatnonzero(accuracy - strongest >= margin)
            if len(enough) and strengths[enough[0]] <= STRONGEST:
                found[name, grade, margin] = round(float(strengths[enough[0]]), 4)
    return found


def _named(pool: Pool) -> Pool:
    """Return the pool with the probes' own names where gold answers are random."""

    def renamed(pooled: Pooled) -> Pooled:
        return {(question[0].partition(",")[0], *question[1:]): sums for question, sums in pooled.items()}

    return pool.mapped(renamed)


def _joined(pools: Sequence[Pool]) -> Pool:
    """Return the pool of the questions of all, which are counts on the same documents."""

    def join(parts: Sequence[Pooled]) -> Pooled:
        return {question: sums for part in parts for question, sums in part.items()}

    names = {name for pool in pools for name in pool.baselines}
    return Pool(
        max(pool.documents for pool in pools),
        join([pool.heads for pool in pools]),
        {name: join([pool.baselines.get(name, {}) for pool in pools]) for name in sorted(names)},
        {RANDOM: join([pool.controls[RANDOM] for pool in pools])},
        pools[0].sampled,
    )
