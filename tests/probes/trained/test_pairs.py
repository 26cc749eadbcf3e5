"""Tasks about pairs of words: wrong pairs as far apart as right ones, balanced control tasks, paired leads."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import scipy.stats
from statsmodels.stats.multitest import multipletests

from probes import Document, Mention, Sentence
from probes.records import frozen_ints
from probes.trained.selectivity import balanced_control, lead_columns
from probes.trained.tasks import PAIR_TASKS, RIGHT, WRONG, LabelledExample, matched_in_distance

TASKS = {task.name: task for task in PAIR_TASKS}

TREE = """
the    DET   2 det      _
ship   NOUN  6 nsubj    Number=Sing
near   ADP   5 case     _
old    ADJ   5 amod     _
rocks  NOUN  2 nmod     Number=Plur
sinks  VERB  0 root     Number=Sing|Tense=Pres|VerbForm=Fin
"""


def pair(first: int, second: int, label: str, rank: int = 0, form: str = "it") -> LabelledExample:
    return LabelledExample(("d", 0), 0, (first, second), label, form, rank)


def asked(name: str, text: Document) -> dict[tuple[int, ...], str]:
    return dict(TASKS[name].examples(text, lambda what: 0))


def test_a_verb_is_paired_with_its_subject_and_with_other_nouns(tree: Callable[..., Sentence]) -> None:
    assert asked("agreement", Document("d", (tree(TREE),))) == {(5, 1): RIGHT, (5, 4): WRONG}


def test_a_mention_is_paired_with_all_mentions_before_it() -> None:
    mentions = tuple(Mention((i,), i, entity) for i, entity in enumerate("abab"))
    text = Document("d", (Sentence("s", ("it",) * 4, frozen_ints([-1] * 4), ("",) * 4, mentions=mentions),))
    assert asked("antecedent", text) == {(2, 0): RIGHT, (2, 1): WRONG, (3, 1): RIGHT, (3, 0): WRONG, (3, 2): WRONG}


def test_there_are_as_many_wrong_pairs_as_right_ones_at_every_signed_distance() -> None:
    """Three right ones at -2 and two wrong ones, one of each at +2, and a right one at -5 without a partner."""
    found = [pair(9, 7, RIGHT, rank) for rank in (5, 1, 3)] + [pair(9, 7, WRONG, rank) for rank in (4, 2)]
    found += [pair(5, 7, RIGHT, 9), pair(5, 7, WRONG, 8), pair(9, 4, RIGHT, 0)]
    kept = matched_in_distance(found, most=100)
    assert Counter((one.words[1] - one.words[0], one.label) for one in kept) == {
        **{(-2, RIGHT): 2, (-2, WRONG): 2},
        **{(2, RIGHT): 1, (2, WRONG): 1},
    }
    assert {one.rank for one in kept if one.words == (9, 7) and one.label == RIGHT} == {1, 3}, "those of lowest rank"
    few = matched_in_distance(found, most=3)
    assert [(one.label, one.rank) for one in few] == [(RIGHT, 1), (WRONG, 2)]


def test_the_labels_of_a_control_task_are_as_frequent_as_those_of_the_task() -> None:
    """One form has 30 of 100 examples, so that labels drawn for forms would be in balance by chance alone."""
    forms = ["it"] * 30 + [f"word {i}" for i in range(70)]
    some = [pair(1, 0, (RIGHT, WRONG)[i % 2], form=form) for i, form in enumerate(forms)]
    for seed in range(20):
        drawn = balanced_control(some, some, seed)
        assert Counter(drawn) == {RIGHT: 50, WRONG: 50}
        assert len({label for form, label in zip(forms, drawn, strict=True) if form == "it"}) == 1
    assert len({tuple(balanced_control(some, some, seed)) for seed in range(20)}) > 10
    other = [pair(1, 0, RIGHT, form="it"), pair(1, 0, WRONG, form="new")]
    assert balanced_control(some, other, 0)[0] == balanced_control(some, some, 0)[0], "a form keeps its label"


def test_a_lead_is_tested_by_documents_of_one_length_as_by_a_paired_t_test() -> None:
    """Thirty documents of 40 examples. The test adds one item and bends t, which changes little."""
    random = np.random.default_rng(0)
    blocks = np.repeat(np.arange(30), 40)
    heads = (random.random((1200, 4)) < [0.62, 0.6, 0.6, 0.8]).astype(float)
    rival = (random.random((1200, 1)) < 0.6).astype(float)
    found = lead_columns("embedding", blocks, heads, rival)
    leads = (heads - rival).reshape(30, 40, 4).mean(1)
    np.testing.assert_allclose(found["embedding_lead"], leads.mean(0))
    p = scipy.stats.ttest_1samp(leads, 0, alternative="greater").pvalue
    corrected = multipletests(p, method="holm")[1]
    np.testing.assert_allclose(found["embedding_p"], corrected, atol=0.06)
    assert np.asarray(found["embedding_p"])[3] < 1e-4
    low, high = np.asarray(found["embedding_lead_low"]), np.asarray(found["embedding_lead_high"])
    half = scipy.stats.sem(leads) * scipy.stats.t.ppf(0.975, 29)
    np.testing.assert_allclose((high - low) / 2, half, rtol=0.05)
