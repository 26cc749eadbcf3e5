"""Tasks about sentences: labels by hand, and states in which they are planted."""

from collections.abc import Callable

import numpy as np
import pytest

from mha import Model
from probes.corpora.corpus import Corpus
from probes.grammar import generate
from probes.records import Document, Sentence
from probes.scoring.score import Settings
from probes.states import sentences as module
from probes.states.sentences import (
    CONTENT,
    DEPTH,
    LENGTH,
    OBJECT,
    SHIFT,
    SUBJECT,
    TASKS,
    TENSE,
    probe_sentences,
    sentence_means,
    sentence_tasks,
)
from probes.states.word_states import WordStates, whole_texts

SAW = """
the   DET   2 det   _
dogs  NOUN  3 nsubj Number=Plur
saw   VERB  0 root  Tense=Past|VerbForm=Fin
it    PRON  3 obj   Number=Sing
"""


@pytest.fixture
def saw(tree: Callable[..., Sentence]) -> Document:
    return Document("d", (tree(SAW),))


def test_labels_by_hand(saw: Document, tree: Callable[..., Sentence]) -> None:
    flat = Document("e", (tree(SAW.replace("the   DET   2", "the   DET   3"), name="t"),))
    found = {task.name: task.labels[0] for task in sentence_tasks([saw, flat, saw], [], 0)}
    assert set(found) == set(TASKS)
    assert found[LENGTH] == ["band 0"] * 3
    assert found[TENSE] == ["Past"] * 3
    assert found[SUBJECT] == ["Plur"] * 3
    assert found[OBJECT] == ["Sing"] * 3
    assert found[DEPTH] == [None, "flat", None], "depths 2, 1 and 2: the median is 2"
    assert found[CONTENT] == [None] * 3, "two of the content words are in it"
    assert set(found[SHIFT]) <= {"shifted", "as it was"}


def test_a_sentence_is_the_mean_of_its_words(model: Model, random_documents: Callable[..., list[Document]]) -> None:
    aligned = whole_texts(model, Corpus.of(random_documents(6, longest=9)).sentences(), 9)
    means, states = sentence_means(model, aligned, Settings(batch_pieces=40)), WordStates.of(model, aligned, Settings())
    for text in range(len(aligned.pieces)):
        for layer in range(3):
            np.testing.assert_allclose(means[layer, text], states.of_text(layer, text).mean(0), atol=1e-5)


def test_planted_labels_are_told_in_the_layer_that_has_them(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    splits = []
    for seed in (1, 2):
        texts = Corpus.of([d for one in generate(80, seed) for d in one.split_sentences()]).sentences()
        splits.append(whole_texts(model, texts, 240))

    def planted(_: Model, aligned: object, __: Settings) -> np.ndarray:
        documents = aligned.texts.take(aligned.kept)  # type: ignore[attr-defined]
        random = np.random.default_rng(len(documents))
        bands = np.searchsorted((8, 12, 16, 20), [len(one) for one in documents], "right")
        noise = random.normal(size=(2, len(documents), 8))
        noise[1, :, :5] += 10 * np.eye(5)[bands]
        return noise.astype(np.float32)

    monkeypatch.setattr(module, "sentence_means", planted)
    steps: list[int] = []
    table = probe_sentences(model, (splits[0], splits[1]), Settings(), seed=0, step=lambda: steps.append(1))
    lengths = table[table.task == LENGTH].set_index("layer")
    assert lengths.value[1] > 0.95 > lengths.value[0] + 0.1
    assert lengths.baseline[1] < 0.9
    shift = table[table.task == SHIFT].set_index("layer")
    assert shift.low[1] < 0.5 < shift.high[1] < 0.65
    assert shift.baseline[1] == pytest.approx(0.5)
    assert len(steps) == len(TASKS)
