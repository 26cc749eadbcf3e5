"""Metrics beside accuracy, against hands, scikit-learn and the production scorer."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from mha import Model
from mha.pieces import CLS, SEP
from probes import get_probe
from probes.corpora.corpus import Corpus
from probes.evidence.metrics import METRICS, Lines, chunks, laid_out, score_metrics
from probes.evidence.results import Split, pooled_sums, questions
from probes.records import Document, Sentence, frozen_ints
from probes.registry import Probe
from probes.scoring.score import Settings, score_corpus
from probes.targets import OTHERS, TOKENS, WORDS, Items, Keys, Targets, gather, key_sets
from probes.words.position import BROAD

PROBES: list[Probe] = [get_probe(name) for name in ("position", "dependency", "agreement", "coreference")]

ROW = [0.3, 0.1, 0.2, 0.2, 0.15, 0.05]
"Attention of word 1 on words 0 to 3, [SEP] and [CLS]."


def items_of(gold: list[list[int]], candidates: str | Keys = OTHERS) -> Items:
    return gather("p", "v", [Targets(np.full(len(gold), 1), key_sets(gold), ["x"] * len(gold), candidates)])


def measured(line: list[float], items: Items, missing: tuple[int, ...] = ()) -> list[list[float]]:
    """[item, metric] of one head whose row of word 1 is `line`; other words attend to nothing."""
    maps = torch.zeros(1, 1, 4, 6)
    maps[0, 0, 1] = torch.tensor(line)
    present = torch.ones(1, 6, dtype=torch.bool)
    present[0, list(missing)] = False
    found: list[list[float]] = Lines.of(items, present).measure(laid_out(maps))[:, :, 0].tolist()
    return found


def near(*numbers: float) -> object:
    return pytest.approx(list(numbers), abs=1e-7)


def test_one_gold_key_by_hand() -> None:
    best, tied = measured(ROW, items_of([[0], [3]]))
    assert best == near(1, 0.3, 1, 1)
    assert tied == near(0, 0.2, 1 / 2.5, (0 + 0.5) / 2), "words 2 and 3 share the ranks 2 and 3"


def test_the_best_of_several_gold_keys_has_the_rank_and_all_of_them_the_area() -> None:
    first, second, both = measured(ROW, items_of([[0, 2], [2, 3], [0, 2, 3]]))
    assert first == near(1, 0.5, 1, (1 + 0.5) / 2)
    assert second == near(0, 0.4, 1 / 2, 0), "whichever of the two comes second, one of them does"
    assert both[:3] == near(1, 0.7, 1), "there is no other candidate to compare with"


def test_ties_at_the_top_are_broken_as_a_random_order_would_on_average() -> None:
    one, two = measured([0.2, 0.2, 0.2, 0.2, 0.1, 0.1], items_of([[0], [0, 2]]))
    assert one == near(1 / 3, 0.2, 1 / 2, 1 / 2)
    assert two == near(2 / 3, 0.4, 1 / (4 / 3), 1 / 2), "of three places the best of two is 4/3 on average"


def test_no_attention_on_any_candidate_is_a_miss_with_the_middle_rank() -> None:
    assert measured([0, 0, 0, 1e-42, 0.5, 0.5], items_of([[2]])) == [near(0, 0, 1 / 2, 1 / 2)]


@pytest.mark.parametrize(
    ("candidates", "rank", "below"),
    [(OTHERS, 2.5, 0.5 / 2), (WORDS, 2.5, 1.5 / 3), (TOKENS, 2.5, 3.5 / 5), (key_sets([[1, 3, CLS, SEP]]), 1, 1)],
)
def test_the_candidates_are_those_of_the_question(candidates: str | Keys, rank: float, below: float) -> None:
    assert measured(ROW, items_of([[3]], candidates)) == [near(float(rank == 1), 0.2, 1 / rank, below)]


def test_words_without_pieces_are_no_candidates() -> None:
    assert measured(ROW, items_of([[3]]), missing=(2,)) == [near(0, 0.2, 1 / 2, 0)]
    assert measured(ROW, items_of([[3]], key_sets([[0, 2, 3]])), missing=(0,)) == [near(0.5, 0.2, 1 / 1.5, 0.5)]


@pytest.mark.parametrize("seed", range(8))
def test_the_area_is_that_of_scikit_learn(seed: int) -> None:
    random = np.random.default_rng(seed)
    line = random.integers(0, 5, 6) / 10
    gold = random.choice([0, 2, 3, CLS, SEP], int(random.integers(1, 4)), replace=False).tolist()
    (found,) = measured(line.tolist(), items_of([gold], TOKENS))
    right = np.zeros(6, bool)
    right[gold] = True
    assert found[METRICS.index("auc")] == pytest.approx(roc_auc_score(right, line))


def test_items_are_measured_alike_in_chunks_of_any_size() -> None:
    random = np.random.default_rng(0)
    gold = [random.choice([0, 2, 3], int(random.integers(1, 4)), replace=False).tolist() for _ in range(20)]
    whole, line = items_of(gold), [0.3, 0.1, 0.2, 0.3, 0.1, 0.0]
    for cells in (1, 12, 30, 1000):
        parts = list(chunks(whole, 6, cells))
        assert [row for part in parts for row in measured(line, part)] == measured(line, whole)
        assert all(len(part) == 1 or 6 * len(part.gold[0]) <= cells + 6 * 3 for part in parts)
    assert len(list(chunks(whole, 6, 1))) == 20


# --- whole corpora


def test_accuracy_and_mass_are_those_of_the_scorer(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    texts = Corpus.of(random_documents(12, sentences=4, longest=10)).windows(25)
    metrics = score_metrics(model, texts, PROBES, Settings(workers=1))
    outcome = score_corpus(model, texts, PROBES, {}, Settings(workers=1))
    sums, _ = pooled_sums(outcome, PROBES)
    asked = questions(Split(sums, {}), Split(sums, {}))
    by_question = {key: rows for key, rows in metrics.groupby(["probe", "variant", "label"])}
    assert set(by_question) == {question for question in asked if question[1] != BROAD}
    for question, rows in by_question.items():
        n = sums[question].n.sum()
        assert (rows["n"] == n).all()
        np.testing.assert_allclose(rows["accuracy"], sums[question].hits.sum(0) / n, rtol=0, atol=1e-6)
        np.testing.assert_allclose(rows["mass"], sums[question].mass.sum(0) / n, rtol=0, atol=1e-6)


def test_auc_is_missing_only_where_no_item_has_another_candidate(model: Model) -> None:
    sentence = Sentence("s", ("the", "ship"), frozen_ints([1, -1]), ("det", "root"))
    found = score_metrics(model, Corpus.of([Document("d", (sentence,))]).sentences(), PROBES[:2], Settings())
    of_det = found[found["label"] == "det"]
    assert of_det["auc"].isna().all()
    assert (of_det[["accuracy", "reciprocal_rank"]] == 1).all(axis=None)
    assert found.loc[found["label"] == "[SEP]", "auc"].notna().all()
