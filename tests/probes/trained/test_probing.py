"""Features with a planted label, and noise, beside their control tasks; a leak between documents would be seen."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import probes.trained.code_draws as code_draws_module
from mha import Model
from probes import Document, Sentence, Settings
from probes.corpora.corpus import MemoryTexts
from probes.records import IntArray, frozen_ints
from probes.scoring.aligned import Aligned
from probes.trained.code_draws import code, code_draws
from probes.trained.head_vectors import HeadVectors
from probes.trained.layer_profile import expected_layer, layer_table, reduced_layers
from probes.trained.probing import FEWEST, UNSEEN, Given, Labelled, Probing, head_table
from probes.trained.tasks import TASKS

TAGS = ("NOUN", "VERB", "ADJ")
PLANTED, NOISE = 4, 1
"A head of the second layer that holds the label, and one that holds nothing."


def tagged(seed: int, documents: int = 30, words: int = 30) -> MemoryTexts:
    """Documents of random words with random tags: no word form says which."""
    random, texts = np.random.default_rng(seed), []
    for number in range(documents):
        forms = tuple(str(form) for form in random.choice(["the", "old", "ship", "dog", "port", "saw"], words))
        tags = tuple(str(tag) for tag in random.choice(TAGS, words))
        heads = frozen_ints([-1] * words)
        texts.append(Document(f"d{number:02}", (Sentence(f"s{number}", forms, heads, ("root",) * words, tags),)))
    return MemoryTexts(texts)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one head's output hold the tag of every word that is read, and all others noise."""
    read = HeadVectors.of

    def of(model: Model, aligned: Aligned, cells: IntArray, settings: Settings) -> HeadVectors:
        part = read(model, aligned, cells, settings)
        noise = np.random.default_rng(5).normal(size=(40, 40, *part.outputs.shape[1:]))
        outputs = noise[tuple(part.cells.T)].astype(np.float32)
        tags = [aligned.texts.take([aligned.kept[text]])[0].upos[word] for text, word in part.cells.tolist()]
        outputs[:, PLANTED, :3] += 8 * np.eye(3, dtype=np.float32)[[TAGS.index(tag) for tag in tags]]
        return replace(part, outputs=outputs)

    monkeypatch.setattr(HeadVectors, "of", of)


@pytest.fixture
def probing(model: Model, planted: None) -> Probing:
    """Part of speech on random tags, where one head's output holds the tag and all others are noise."""
    return Probing.of(model, (tagged(0), tagged(1)), [TASKS["part of speech"]], Settings(), most=600, seed=0)


def test_a_planted_label_has_results_and_memory_is_not_mistaken_for_it(probing: Probing, model: Model) -> None:
    heads, words = probing.judge_heads(1, lambda: None), probing.judge_embeddings(1)
    table = head_table(probing, heads, words, None, model=model, replicates=100, seed=0)
    planted, noise = table.iloc[PLANTED], table.iloc[NOISE]
    assert (planted["name"], planted.selected, table.selected.sum()) == ("2-2", True, 1)
    assert planted.accuracy > 0.99
    assert planted.compression > 3
    for head in (planted, noise):
        assert abs(head.baseline_accuracy - head.control_majority) < 0.06, "the control task goes by word forms"
    assert planted.margin_low > 0.3
    assert abs(noise.accuracy - noise.majority) < 0.08
    assert noise.margin_low < 0.05
    assert noise.compression < 1.02
    assert (planted.n, planted.n_select, planted.classes, planted.clusters) == (600, 600, 3, 30)
    assert table.random_accuracy.isna().all()


@pytest.mark.slow
def test_codes_are_drawn_anew_in_examples_order_and_control_task(
    model: Model, planted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int] = []
    sides: list[Labelled] = []

    def draw(draws: int, seed: int) -> pd.DataFrame:
        texts, tasks = Aligned.of(model, tagged(0)), [TASKS["part of speech"], TASKS["relative position"]]
        texts.dropped.add("long", "d1")
        effort = {"most": 600, "draws": draws, "seed": seed, "workers": 1}
        found = code_draws(model, texts, tasks, Settings(), step=lambda: steps.append(1), **effort)
        assert texts.dropped.counts == {"long": 1}
        return found

    def seen(given: Given, side: Labelled, classes: int) -> list[float]:
        sides.append(side)
        return code(given, side, classes)

    monkeypatch.setattr(code_draws_module, "code", seen)
    codes = draw(2, 1)
    assert len(codes) == len(steps) == len(sides) == 2 * 2 * 6
    speech = codes[codes.task == "part of speech"]
    assert speech.draw.tolist() == [0] * 6 + [1] * 6
    assert (speech[speech.name == "2-2"].compression > 3).all()
    assert (speech[speech.name == "2-2"].control_compression < 1.2).all()
    assert (speech[speech.name == "1-2"].compression < 1.02).all()
    one, other = sides[0], sides[12]  # the same task in both draws
    assert len(one.clusters) == len(other.clusters) == 600
    assert list(dict.fromkeys(one.clusters)) != list(dict.fromkeys(other.clusters))
    (first, control), (second, another) = _labels(one), _labels(other)
    shared = first.keys() & second.keys()
    assert 300 < len(shared) < 500, "of 900 words each draw has another 600"
    assert all(first[word] == second[word] for word in shared)
    assert any(control[word] != another[word] for word in shared)
    pd.testing.assert_frame_equal(codes[codes.draw == 1].reset_index(drop=True), draw(1, 3).assign(draw=1))
    monkeypatch.setattr(code_draws_module, "WORDS", 1)
    pd.testing.assert_frame_equal(draw(2, 1), codes)  # one draw at a time


def _labels(side: Labelled) -> tuple[dict[tuple[int, ...], int], ...]:
    """Return word -> label, of the task and of its control task."""
    words = [tuple(cell) for cell in side.cells[:, 0].tolist()]
    return tuple(dict(zip(words, labels, strict=True)) for labels in side.labels.tolist())


def test_an_embedding_solves_the_control_task_and_not_the_task(probing: Probing, model: Model) -> None:
    heads, words = probing.judge_heads(1, lambda: None, coded=False), probing.judge_embeddings(1)
    row = head_table(probing, heads, words, heads, model=model, replicates=20, seed=0).iloc[0]
    assert words["part of speech"][0].hits[1].mean() == 1, "six forms, six control labels"
    assert row.embedding_accuracy < 0.45
    assert row.embedding_selectivity < -0.5
    assert row.random_accuracy == max(one.hits[0].mean() for one in heads["part of speech"]) > 0.99
    best = max(heads["part of speech"], key=lambda one: one.hits[0].mean())
    assert row.random_selectivity == best.hits[0].mean() - best.hits[1].mean() > 0.3
    assert np.isnan([row.codelength, row.compression]).all()


def test_a_label_that_was_never_learned_is_never_right(model: Model) -> None:
    select, report = tagged(0, 4), tagged(1, 4)
    text = report.take([0])[0]
    strange = replace(text.sentences[0], upos=("X",) * len(text))
    report = MemoryTexts([Document(text.id, (strange,)), *report.take(range(1, 4))])
    found = Probing.of(model, [select, report], [TASKS["part of speech"]], Settings(), most=999, seed=0)
    (posed,) = found.posed
    unseen = posed.report.labels[0] == UNSEEN
    assert unseen.sum() == 30
    assert not found.judge_heads(1, lambda: None)["part of speech"][0].hits[0][unseen].any()
    assert posed.majority() < 0.5


def test_tasks_with_too_few_examples_or_one_label_are_not_asked(model: Model) -> None:
    few = MemoryTexts(tagged(0, 1, words=FEWEST - 1).take([0]))
    same = MemoryTexts([Document("d", (Sentence("s", ("the",) * 30, frozen_ints([-1] * 30), ("root",) * 30),))])
    tasks = [TASKS["part of speech"], TASKS["dependency label"]]
    for texts in (few, same):
        found = Probing.of(model, [texts, texts], tasks, Settings(), most=99, seed=0)
        assert found.posed == ()
        assert found.judge_heads(1, lambda: None) == found.judge_embeddings(1) == {}
        assert head_table(found, {}, {}, None, model=model, replicates=10, seed=0).empty
        assert layer_table(found, model, workers=1, replicates=10, seed=0, step=lambda: None).empty


def test_expected_layers_by_hand() -> None:
    assert expected_layer(np.array([0.2, 0.2, 0.6, 0.6])) == 2
    assert expected_layer(np.array([0.2, 0.4, 0.6, 0.8])) == pytest.approx(2)
    assert expected_layer(np.array([0.1, 0.4, 0.4, 0.5])) == pytest.approx((0.3 * 1 + 0.1 * 3) / 0.4)
    assert np.isnan(expected_layer(np.array([0.5, 0.6, 0.4])))
    assert expected_layer(np.array([[0, 1.0, 1.0], [0, 0, 1.0]])).tolist() == [1, 2]


def test_a_planted_label_is_solved_at_its_layer(probing: Probing, model: Model) -> None:
    """The planted head is in the second layer; its variance is large, so the components keep it."""
    table = layer_table(probing, model, workers=1, replicates=50, seed=0, step=lambda: None)
    assert table.layer.tolist() == [0, 1, 2]
    assert table.accuracy[2] > 0.98
    assert table.cumulative[2] > 0.98
    assert max(*table.accuracy[:2], *table.cumulative[:2]) < 0.45
    assert 1.8 < table.expected_layer[0] < 2.2
    assert table.expected_low[0] <= table.expected_layer[0] <= table.expected_high[0]
    np.testing.assert_allclose(table.gain[1:], np.diff(table.cumulative))
    assert table.margin_low[2] > 0.3
    np.testing.assert_allclose(table.margin, table.accuracy - table.baseline_accuracy)
    assert table.cumulative_selectivity[0] < -0.5, "the embedding solves the control task"
    assert abs(table.cumulative_selectivity[2]) < 0.05, "with the head, both are solved"


def test_layers_are_reduced_by_what_the_selection_split_shows(probing: Probing, model: Model) -> None:
    read = probing.read
    layers = reduced_layers(read.select, read.report, model)
    assert [first.shape[1] for first, _ in layers] == [24, 24, 24]
    moved = replace(read.report, outputs=read.report.outputs + 5)
    other = reduced_layers(read.select, moved, model)
    np.testing.assert_array_equal(layers[1][0], other[1][0])
    mean = read.select.outputs[:, :3].reshape(len(read.select.outputs), -1).mean(0)
    lengths = np.linalg.norm(read.report.outputs[:, :3].reshape(len(read.report.outputs), -1) - mean, axis=1)
    np.testing.assert_allclose(np.linalg.norm(layers[1][1], axis=1), lengths, rtol=1e-3)
