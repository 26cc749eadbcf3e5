"""Curves of pruning: orders, points, areas by hand, and heads that are known to be needed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from mha.causal.interventions import Ablate, intervene
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from probes import get_probe
from probes.causal.behaviours import BehaviourError, Predictions, preferences
from probes.causal.gradients import slopes
from probes.causal.pruning import (
    COST,
    IMPORTANCE,
    RANDOM,
    Order,
    area_table,
    curve_table,
    curves,
    halves,
    migration_table,
    random_orders,
    ranked,
    removals,
    score_without,
    taken,
)
from probes.corpora.corpus import MemoryTexts
from probes.evidence.question import Effort
from probes.evidence.results import Split, pooled_sums
from probes.minimal_pairs import Kind, MinimalPair
from probes.records import Document
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Sums
from tests.mha.planted.answers import answering_model

ANSWERS = {"cat": "purrs", "dog": "barks", "cow": "moos", "duck": "quacks"}
LAYERS, HEADS = 2, 3
HEAD = (1, 1)
EFFORT = Effort(replicates=100)


def pairs(noise: float = 0.02) -> Predictions:
    model = answering_model(ANSWERS, ("the", "old"), head=HEAD, layers=LAYERS, heads=HEADS, noise=noise)
    items = [
        MinimalPair(f"{subject} {wrong}", Kind("planted"), ("the", subject, answer), ("the", subject, wrong))
        for subject, answer in ANSWERS.items()
        for wrong in ANSWERS.values()
        if wrong != answer
    ]
    return preferences(MaskedLM.of(model), "planted", items)


def test_orders_go_from_the_lowest_on() -> None:
    order = ranked(COST, np.array([[0.3, -1.0], [0.3, 0.0]]))
    assert order == Order(COST, ((0, 1), (1, 1), (0, 0), (1, 0)))
    one, other = random_orders((2, 3), 2, seed=5)
    assert (one.name, one.draw, other.draw) == (RANDOM, 1, 2)
    assert sorted(one.heads) == sorted(other.heads) == [(layer, head) for layer in range(2) for head in range(3)]
    assert one.heads != other.heads
    assert random_orders((2, 3), 1, seed=5) == [one]
    assert random_orders((2, 3), 1, seed=6) != [one]


def test_halves_are_of_clusters_and_parts_keep_their_values() -> None:
    behaviour = pairs()
    behaviour = replace(behaviour, clusters=tuple(name.split()[0] for name in behaviour.clusters))
    first, second = halves(behaviour)
    assert sorted([*first.tolist(), *second.tolist()]) == list(range(12))
    names = [{behaviour.clusters[item] for item in half} for half in (first, second)]
    assert not names[0] & names[1]
    whole = curves(behaviour, [Order(COST, (HEAD,))], [0, 1])
    for half in (first, second):
        part = taken(behaviour, half)
        assert part.clusters == tuple(behaviour.clusters[item] for item in half)
        assert len(part.kinds) == len(half)
        np.testing.assert_allclose(curves(part, [Order(COST, (HEAD,))], [0, 1]), whole[:, :, half], atol=1e-6)
    alone = replace(behaviour, clusters=("one",) * 12)
    with pytest.raises(BehaviourError, match=r"planted: heads are selected on one half .* 1 cannot be halved"):
        halves(alone)


def test_a_curve_is_what_the_model_does_without_the_first_heads_of_an_order() -> None:
    behaviour = pairs(noise=0.3)
    orders = random_orders((LAYERS, HEADS), 2, seed=0)
    removed = removals(LAYERS * HEADS, 0.3)
    found = curves(behaviour, orders, removed)
    assert found.shape == (2, len(removed), 12)
    for number, order in enumerate(orders):
        for point, count in enumerate(removed):
            off = [Ablate(*head) for head in order.heads[:count]]
            for batch in behaviour.batches(10_000):
                texts = behaviour.texts(batch)
                with torch.no_grad(), intervene(behaviour.reader.module, *off):
                    output = behaviour.reader.read(texts.ids, texts.real, texts.selected)
                values = behaviour.values(batch, texts, output[None], output)[0]
                items = [behaviour.prompts[text].item for text in batch]
                np.testing.assert_allclose(found[number, point, items], values, atol=1e-4)


def test_the_planted_head_goes_last_and_the_curve_stays_up_until_it_does() -> None:
    behaviour = pairs()
    importance = slopes(behaviour, LAYERS, HEADS).importance.mean(0).numpy()
    orders = [ranked(IMPORTANCE, importance), *random_orders((LAYERS, HEADS), 4, seed=0)]
    assert orders[0].heads[-1] == HEAD
    removed = removals(LAYERS * HEADS, 1 / 6)
    values = curves(behaviour, orders, removed)
    table = curve_table(behaviour, orders, removed, values, EFFORT)
    accuracy = table[(table.measure == "accuracy") & (table.order == IMPORTANCE)].set_index("removed").value
    assert (accuracy[:5] == 1).all()
    assert accuracy[6] == 0.5
    drawn = table[(table.order == RANDOM) & (table.measure == "value")]
    assert sorted(drawn.draw.unique()) == [1, 2, 3, 4]
    assert table[table.removed == 0].ci_low.isna().all()
    assert (table[table.removed == 0].cost == 0).all()
    own = table[(table.order == IMPORTANCE) & (table.measure == "value")].set_index("removed")
    np.testing.assert_allclose(own.cost, own.value[0] - own.value)
    assert own.ci_low[6] <= own.cost[6] <= own.ci_high[6]
    areas = area_table(behaviour, orders, removed, values, EFFORT)
    (told,) = areas[areas.measure == "accuracy"].to_dict("records")
    assert told["gain"] > 0.1
    assert told["area"] == pytest.approx((5 * 1 + 0.75) / 6)


def test_areas_are_the_mean_of_the_curve_by_hand() -> None:
    behaviour = replace(pairs(), kinds=())
    orders = [Order(IMPORTANCE, ()), Order(RANDOM, (), 1), Order(RANDOM, (), 2)]
    curve = np.array([[4.0, 2.0, 0.0], [4.0, 1.0, 0.0], [4.0, 0.0, 0.0]])
    values = np.repeat(curve[:, :, None], 12, axis=2)
    (row,) = area_table(behaviour, orders, [0, 1, 4], values, EFFORT).to_dict("records")
    first, second, third = 3 / 4 + 1 * 3 / 4, 2.5 / 4 + 0.5 * 3 / 4, 2 / 4
    assert row["area"] == pytest.approx(first)
    assert row["random_area"] == pytest.approx((second + third) / 2)
    assert (row["random_least"], row["random_most"]) == pytest.approx((third, second))
    assert row["gain"] == pytest.approx(first - (second + third) / 2)
    assert row["ci_low"] == row["ci_high"] == pytest.approx(row["gain"]), "all items are alike"


QUESTION = ("probe", "variant", "label")


def split(hits: list[list[float]]) -> Split:
    """Return a split of two clusters of ten items; `hits` [cluster, head]."""
    found = np.array(hits, np.float64)
    return Split({QUESTION: Sums.of_hits((0, 1), np.array([10.0, 10.0]), found)}, {})


def test_the_best_head_is_sought_among_those_that_stay() -> None:
    before = [split([[9, 5, 1, 0], [9, 5, 1, 0]]), split([[8, 4, 2, 0], [8, 6, 2, 0]])]
    after = [split([[10, 1, 7, 0], [10, 1, 7, 0]]), split([[10, 1, 9, 0], [10, 1, 7, 0]])]
    kept = np.array([[False, True], [True, True]])
    table = migration_table(before, after, kept, EFFORT)
    (row,) = table.to_dict("records")
    assert (row["best"], row["kept"], row["after"], row["stays"]) == ("1-1", "1-2", "2-1", False)
    assert (row["best_accuracy"], row["kept_accuracy"], row["after_accuracy"]) == (0.8, 0.5, 0.8)
    assert row["change"] == pytest.approx(0.3)
    assert row["ci_low"] <= row["change"] <= row["ci_high"]
    assert (row["n"], row["clusters"]) == (20, 2)
    all_stay = migration_table(before, before, np.ones((2, 2), bool), EFFORT).iloc[0]
    assert (all_stay.best, all_stay.kept, all_stay.after, all_stay.stays) == ("1-1", "1-1", "1-1", True)
    assert all_stay.change == 0


def test_heads_are_scored_while_others_are_off(model: Model, random_documents: Callable[..., list[Document]]) -> None:
    texts = MemoryTexts(random_documents(4, sentences=1, longest=9, seed=3))
    probes = [get_probe("position")]
    off = ((0, 0), (0, 2))
    (found,) = score_without(model, [texts], probes, off, Settings())
    settings = Settings(workers=1)
    with intervene(model.module, *(Ablate(*head) for head in off)):
        expected, _ = pooled_sums(score_corpus(model, texts, probes, {}, settings), probes)
    plain, _ = pooled_sums(score_corpus(model, texts, probes, {}, settings), probes)
    assert found.heads.keys() == expected.keys()
    for question, sums in expected.items():
        np.testing.assert_array_equal(found.heads[question].hits, sums.hits)
    same = [np.array_equal(found.heads[one].hits, plain[one].hits) for one in plain]
    assert not all(same), "heads of the upper layer read what the others wrote"
