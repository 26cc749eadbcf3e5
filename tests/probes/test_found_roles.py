"""Every registered probe finds the head that was told its answers, and no other; fresh weights know nothing."""

from collections.abc import Callable, Iterable, Sequence

import pandas as pd
import pytest

from mha.planted import word_model
from probes import get_probe, probe_names
from probes.corpora import Corpus, Texts
from probes.evidence import Effort
from probes.planted import Knows, Planted, planted_changes
from probes.records import Document
from probes.registry import Probe
from probes.results import Split, add_verdicts, pooled_sums, score_table
from probes.scoring import Settings, learn_baselines, score_corpus
from probes.statistics import Rule
from probes.targets import TOKENS

LAYERS, HEADS, WINDOW = 2, 6, 60
STRENGTH = 0.95
NOT_BY_ROW = {
    "position": ["all tokens", "no key above a tenth"],
    "dependency": ["head<-dependent"],
}
"Variants about special tokens, about no word at all, or about columns: what rows of words cannot be told."


@pytest.fixture(scope="module")
def corpora(generated: Callable[..., list[Document]]) -> list[Corpus]:
    """Return a selection and a report split in the wide style of the grammar, which has what all probes ask for."""
    return [Corpus.of(generated(70, seed=seed, wide=True)) for seed in (1, 2)]


@pytest.fixture(params=probe_names())
def probe(
    request: pytest.FixtureRequest, corpora: Sequence[Corpus], list_words: Callable[[Iterable[str]], None]
) -> Probe:
    list_words(word for corpus in corpora for document in corpus.stream() for word in document.words)
    return get_probe(request.param)


def texts_of(corpus: Corpus, probe: Probe) -> Texts:
    return corpus.sentences() if probe.scope == "sentence" else corpus.windows(WINDOW)


def scores_of(corpora: Sequence[Corpus], probe: Probe, planted: Planted) -> pd.DataFrame:
    """The report split's rows of a model whose other weights are random, with verdicts."""
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
    scores = add_verdicts(score_table(*splits, shape=(LAYERS, HEADS), effort=Effort(20, 1999)), Rule())
    return scores[scores.split == "report"]


def asked_of(corpus: Corpus, probe: Probe, variant: str) -> str:
    """The label under which all items of a variant count, else that of the first item."""
    labels = [
        label for text in texts_of(corpus, probe).chunks(9) for one in text for label in _labels(one, probe, variant)
    ]
    return "all" if "all" in labels else labels[0]


def _labels(text: Document, probe: Probe, variant: str) -> list[str]:
    return [pooled for label in probe.targets(text)[variant].label for pooled in probe.pool(label)]


def test_the_variants_that_are_left_out_are_those_that_cannot_be_told(probe: Probe, corpora: Sequence[Corpus]) -> None:
    found = [probe.targets(text) for text in texts_of(corpora[0], probe).chunks(9) for text in text]
    cannot = [
        variant
        for variant in probe.variants
        if any(one[variant].by_column or one[variant].candidates == TOKENS for one in found)
    ]
    assert cannot == NOT_BY_ROW.get(probe.name, [])


def test_the_head_that_was_told_the_answers_is_found_and_no_other(probe: Probe, corpora: Sequence[Corpus]) -> None:
    """Each variant has a head of its own, in turn in the first and in the second layer."""
    variants = [variant for variant in probe.variants if variant not in NOT_BY_ROW.get(probe.name, ())]
    questions = [(probe.name, variant, asked_of(corpora[0], probe, variant)) for variant in variants]
    planted = {(i % LAYERS, i): Knows(question, STRENGTH) for i, question in enumerate(questions)}
    scores = scores_of(corpora, probe, planted).set_index(["variant", "label"])
    for place, role in planted.items():
        rows = scores.loc[role.question[1:]]
        heads = list(zip(rows.layer, rows["head"], strict=True))
        accuracy = dict(zip(heads, rows.accuracy, strict=True))
        assert accuracy[place] >= STRENGTH - 0.06, role.question
        assert [head for head, found in zip(heads, rows.specialised, strict=True) if found] == [place], role.question


def test_random_weights_are_at_chance_and_nothing_is_found(probe: Probe, corpora: Sequence[Corpus]) -> None:
    scores = scores_of(corpora, probe, {})
    assert not scores.specialised.any()
    for (variant, label), rows in scores[scores.n >= 30].groupby(["variant", "label"]):
        chance = uniform_accuracy(corpora, probe, variant, label)
        assert rows.accuracy.mean() == pytest.approx(chance, abs=0.1), (variant, label)


def uniform_accuracy(corpora: Sequence[Corpus], probe: Probe, variant: str, label: str) -> float:
    """What attention that is everywhere the same hits: of each item the share of the candidates that is right."""
    hits = []
    for chunk in texts_of(corpora[1], probe).chunks(9):
        for text in chunk:
            targets = probe.targets(text)[variant]
            gold = [int((targets.gold[1] == i).sum()) for i in range(len(targets))]
            listed = targets.candidates
            named = {"other words": len(text) - 1, "all words": len(text), "all tokens": len(text) + 2}
            for i, name in enumerate(targets.label):
                if label in probe.pool(name):
                    among = named[listed] if isinstance(listed, str) else int((listed[1] == i).sum())
                    hits.append(gold[i] / among)
    return sum(hits) / len(hits)
