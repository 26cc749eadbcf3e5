from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from mha import Model
from probes import Document, Mention, Sentence
from probes.corpora.corpus import MemoryTexts
from probes.records import frozen_ints
from probes.scoring.aligned import Aligned
from probes.trained.selectivity import control_labels
from probes.trained.tasks import TASKS, LabelledExample, sample_examples

TREE = """
the    DET   2 det      _
ships  NOUN  3 nsubj    Number=Plur
sank   VERB  0 root     Tense=Past|VerbForm=Fin
and    CCONJ 6 cc       _
she    PRON  6 nsubj    Number=Sing
sinks  VERB  3 conj     Number=Sing|Tense=Pres|VerbForm=Fin
.      PUNCT 3 punct    _
"""


def first(things: object) -> int:
    return 0


@pytest.fixture
def text(tree: Callable[..., Sentence]) -> Document:
    return Document("d", (tree(TREE),))


def asked(name: str, document: Document, draw: Callable[[object], int] = first) -> dict[tuple[int, ...], str]:
    return dict(TASKS[name].examples(document, draw))


def test_words_have_parts_of_speech_and_relations(text: Document) -> None:
    assert asked("part of speech", text)[(1,)] == "NOUN"
    assert asked("dependency label", text) == {
        (i,): label for i, label in enumerate(("det", "nsubj", "root", "cc", "nsubj", "conj", "punct"))
    }


def test_only_verbs_that_are_silent_about_number_are_asked_for_their_subjects(text: Document) -> None:
    assert asked("subject number", text) == {(2,): "plural"}, "`sinks` shows it itself"


def test_places_come_in_bands(random_documents: Callable[..., list[Document]]) -> None:
    long = Document("d", (Sentence("s", ("the",) * 30, frozen_ints([-1] * 30), ("",) * 30),))
    labels = list(asked("absolute position", long).values())
    assert labels[:5] == ["1-4"] * 4 + ["5-8"]
    assert labels[23:26] == ["21-24", "25 and on", "25 and on"]


def test_relative_positions_are_those_of_the_drawn_word(text: Document) -> None:
    assert asked("relative position", text)[(4, 0)] == "-4"
    last = asked("relative position", text, lambda what: 2**64 - 1)
    assert last[(0, 4)] == "+4"
    assert last[(6, 5)] == "-1"


def test_each_anaphor_comes_with_an_antecedent_and_with_another_mention() -> None:
    mentions = tuple(Mention((i,), i, entity) for i, entity in enumerate("abab"))
    text = Document("d", (Sentence("s", ("it",) * 4, frozen_ints([-1] * 4), ("",) * 4, mentions=mentions),))
    assert asked("coreference", text) == {
        (2, 0): "same entity",
        (2, 1): "other entity",
        (3, 1): "same entity",
        (3, 0): "other entity",
    }
    alone = Document(
        "d", (Sentence("s", ("it",) * 2, frozen_ints([-1] * 2), ("",) * 2, mentions=mentions[::2][:1] * 2),)
    )
    assert asked("coreference", alone) == {}


SENTENCES = [task for task in TASKS.values() if task.scope == "sentence"]


def test_a_sample_is_capped_and_tasks_about_words_share_it(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    aligned = Aligned.of(model, MemoryTexts(random_documents(30)))
    samples = sample_examples(aligned, SENTENCES, most=25, seed=0)
    words = {name: {(one.number, one.words) for one in sample.examples} for name, sample in samples.items()}
    assert words["part of speech"] == words["absolute position"]
    total = sum(len(text) for text in aligned.texts.take(aligned.kept))
    assert len(samples["absolute position"].examples) == 25
    assert samples["absolute position"].available == total
    firsts = {(number, some[:1]) for number, some in words["relative position"]}
    assert firsts == words["absolute position"], "also as the first of a pair"


def examples(forms: list[str], labels: list[str]) -> list[LabelledExample]:
    return [
        LabelledExample(("t", 0), 0, (i,), label, form, i)
        for i, (form, label) in enumerate(zip(forms, labels, strict=True))
    ]


def test_control_labels_go_by_form_and_are_as_frequent_as_the_labels() -> None:
    select = examples([f"w{i}" for i in range(4000)], ["a", "a", "a", "b"] * 1000)
    drawn = control_labels(select, select, 0)
    share = Counter(drawn)["a"] / 4000
    assert abs(share - 0.75) < 0.03
    match = np.mean([one.label == label for one, label in zip(select, drawn, strict=True)])
    assert abs(match - (0.75**2 + 0.25**2)) < 0.03, "a form's label has nothing to do with its own"
    again = control_labels(select, examples(["w7", "w7", "w9"], ["b", "a", "a"]), 0)
    assert again == [drawn[7], drawn[7], drawn[9]]
    assert control_labels(select, select, 1) != drawn
