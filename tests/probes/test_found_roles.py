"""Every registered probe finds the head that was told its answers, and no other; fresh weights know nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pandas as pd
import pytest

from mha.planted.heads import word_model
from probes import get_probe, probe_names
from probes.corpora.corpus import Corpus, Texts
from probes.evidence.planted import Knows, Planted, planted_changes
from probes.evidence.question import Effort
from probes.evidence.results import Split, add_verdicts, pooled_sums, score_table
from probes.evidence.statistics import VerdictRule
from probes.grammar import generate
from probes.registry import Probe
from probes.scoring.score import Settings, learn_baselines, score_corpus
from probes.words.across import WAYS
from probes.words.senses import sense_items
from reports.tables.grades import POSITION
from tests.probes.reactions import chains
from tests.probes.text_pairs import reordered

LAYERS, HEADS, WINDOW = 2, 6, 60
STRENGTH = 0.95
CLEAR = 1e-3
"A head with a lower p among those of its label is found, whatever the number of labels."

FEW, HIGH = 50, 0.75
"On fewer items, or where a baseline is so often right, a head need not be clearly above it."

NOT_BY_ROW = {
    "antecedent": ["pronoun<-candidate"],
    "coreference": ["preceding mention heads by column"],
    "position": ["all tokens", "no key above a tenth"],
    "dependency": ["head<-dependent"],
}
"Variants about special tokens, about no word at all, or about columns: what rows of words cannot be told."

SAME_ANSWERS = {
    "all mention heads": "preceding mention heads",
    "all words": "preceding mention heads",
    "preceding mention heads without singletons": "preceding mention heads",
    "verb->subject among nouns": "verb->subject",
    "areas of other words": "other words",
    "among nominals": "reflexive->subject",
    "noun->cue or rival": "noun->cue",
    "noun groups": "head nouns",
}
"Variants with the answers of another one among other candidates, so that the head of that one is theirs as well."

LABELS = {"areas of other words": "within=2"}
"Labels that are asked about in the place of the most frequent one: that under which the answers are the same."

OF_ANY_WEIGHTS = ("all tokens", "same word", *(f"same-word-across: {way}" for way in WAYS))
"""Variants, some by their probe, that heads of random weights may do well: to prefer a special token to all others, or
equal vectors. Runs have randomly initialised and permuted weights as controls for them."""


def of_any_weights(probe: Probe, variant: str) -> bool:
    """Return whether heads of random weights may do it well."""
    return not {variant, f"{probe.name}: {variant}"}.isdisjoint(OF_ANY_WEIGHTS)


@pytest.fixture(scope="module")
def wide() -> list[Corpus]:
    """Return a selection and a report split in the wide style of the grammar, which has what most probes ask for."""
    return [Corpus.of(list(generate(60, seed=seed, wide=True))) for seed in (1, 2)]


@pytest.fixture(scope="module")
def senses() -> list[Corpus]:
    """Return a selection and a report split of ambiguous nouns."""
    return [Corpus.of(sense_items(200, seed)) for seed in (1, 2)]


@pytest.fixture(scope="module")
def reactions() -> list[Corpus]:
    """Return a selection and a report split of chains with their atoms on both sides."""
    return [Corpus.of(list(chains(120, seed))) for seed in (1, 2)]


@pytest.fixture(scope="module")
def text_pairs() -> list[Corpus]:
    """Return a selection and a report split of pairs of texts with the same words."""
    return [Corpus.of(list(reordered(60, seed))) for seed in (1, 2)]


@pytest.fixture
def corpora(probe: Probe, request: pytest.FixtureRequest) -> list[Corpus]:
    of_needs = {"senses": "senses", "atom maps": "reactions", "pairs": "text_pairs"}
    corpora: list[Corpus] = request.getfixturevalue(of_needs.get(probe.needs, "wide"))
    return corpora


@pytest.fixture(params=probe_names())
def probe(request: pytest.FixtureRequest, wide: Sequence[Corpus], list_words: Callable[[Iterable[str]], None]) -> Probe:
    list_words(word for corpus in wide for document in corpus.stream() for word in document.words)
    return get_probe(request.param)


def texts_of(corpus: Corpus, probe: Probe) -> Texts:
    return corpus.sentences() if probe.scope == "sentence" else corpus.windows(WINDOW)


def scores_of(corpora: Sequence[Corpus], probe: Probe, planted: Planted) -> pd.DataFrame:
    """The report split's rows of a model whose other weights are random, with verdicts and the chance of each row."""
    words = {word for corpus in corpora for document in corpus.stream() for word in document.words}
    model = word_model(words, layers=LAYERS, heads=HEADS, head_dim=8, positions=WINDOW + 2, seed=0)
    texts = [texts_of(corpus, probe) for corpus in corpora]
    baselines = learn_baselines(texts[0], [probe], probe.baselines, lexical=False)
    outcomes = [
        score_corpus(
            model,
            part,
            [probe],
            baselines,
            Settings(),
            changes=lambda documents, batch: planted_changes(planted, documents, batch),
        )
        for part in texts
    ]
    splits = [Split(*pooled_sums(outcome, [probe])) for outcome in outcomes]
    scores = add_verdicts(score_table(*splits, shape=(LAYERS, HEADS), effort=Effort(20)), VerdictRule())
    uniform = {key[1:]: sums.hits.sum() / sums.n.sum() for key, sums in splits[1].baselines["uniform"].items()}
    chance = [uniform.get(key) for key in zip(scores.variant, scores.label, strict=True)]
    return scores.assign(chance=chance)[scores.split == "report"]


def told_of(corpus: Corpus, probe: Probe, variant: str) -> str:
    """The label with the most items, "all" if it can be, under which no word is asked for two things."""
    counts: Counter[str] = Counter()
    twice: set[str] = set()
    for chunk in texts_of(corpus, probe).chunks(500):
        for text in chunk:
            targets = probe.targets(text)[variant]
            asked = Counter(
                (query, pooled)
                for query, label in zip(targets.query.tolist(), targets.label, strict=True)
                for pooled in probe.pool(label)
            )
            counts.update(label for _, label in asked)
            twice.update(label for (_, label), times in asked.items() if times > 1)
    return max((label for label in counts if label not in twice), key=lambda label: (counts[label], label == "all"))


@pytest.mark.slow
def test_the_head_that_was_told_the_answers_is_found_and_no_other(probe: Probe, corpora: Sequence[Corpus]) -> None:
    """Each variant has a head of its own, in turn in the first and in the second layer.

    Where no head can be clearly above the baselines the head is the best one all the same. Of places others may do the
    like, with any weights.
    """
    variants = [variant for variant in probe.variants if variant not in NOT_BY_ROW.get(probe.name, ())]
    labels = {variant: LABELS.get(variant) or told_of(corpora[0], probe, variant) for variant in variants}
    told = [variant for variant in variants if SAME_ANSWERS.get(variant) not in variants]
    places = {variant: (i % LAYERS, i) for i, variant in enumerate(told)}
    knows = {place: Knows((probe.name, variant, labels[variant]), STRENGTH) for variant, place in places.items()}
    scores = scores_of(corpora, probe, knows).set_index(["variant", "label"])
    for variant in variants:
        place = places[variant] if variant in places else places[SAME_ANSWERS[variant]]
        rows = scores.loc[(variant, labels[variant])].set_index(["layer", "head"])
        best = rows.accuracy.idxmax()
        assert best == place, variant
        assert rows.accuracy[place] > STRENGTH - 0.06 or variant not in places, (variant, rows.accuracy[place])
        found, clear = rows.index[rows.grade > 0].tolist(), rows.p_label[place] < CLEAR
        alone = not of_any_weights(probe, variant) and probe.name != POSITION
        assert place in found or not clear, (variant, rows.p_label[place])
        assert set(found) <= {place} or not alone, (variant, found)
        few = rows.n[place] < FEW or rows.baseline_accuracy[place] > HIGH
        assert clear or few, (variant, rows.baseline_accuracy[place])


@pytest.mark.slow
def test_random_weights_are_at_chance_and_nothing_is_found(probe: Probe, corpora: Sequence[Corpus]) -> None:
    scores = scores_of(corpora, probe, {})
    asked = ~scores.variant.map(partial(of_any_weights, probe)).astype(bool)
    scores = scores[(scores.n >= 30) & scores.chance.notna() & asked]
    assert not scores.specialised.any()
    for question, rows in scores.groupby(["variant", "label"]):
        assert rows.accuracy.mean() == pytest.approx(rows.chance.iloc[0], abs=0.1), question
