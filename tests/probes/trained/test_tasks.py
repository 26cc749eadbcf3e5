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
from probes.trained.tasks import TASKS, LabelledExample, get_task, sample_examples

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


def test_subtypes_and_unknown_labels_are_not_told_apart(tree: Callable[..., Sentence]) -> None:
    text = Document("d", (tree("she PRON 2 nsubj:pass _\nsank _ 0 root _"),))
    assert asked("dependency label", text)[(0,)] == "nsubj"
    assert (1,) not in asked("part of speech", text)


def test_only_verbs_that_are_silent_about_number_are_asked_for_their_subjects(text: Document) -> None:
    assert asked("subject number", text) == {(2,): "plural"}, "`sinks` shows it itself"


def test_a_verb_with_two_subjects_or_one_without_number_is_not_asked(tree: Callable[..., Sentence]) -> None:
    two = "she PRON 3 nsubj Number=Sing\nit PRON 3 nsubj Number=Sing\nsank VERB 0 root VerbForm=Fin|Tense=Past"
    none = "you PRON 2 nsubj _\nsank VERB 0 root VerbForm=Fin|Tense=Past"
    for rows in (two, none):
        assert asked("subject number", Document("d", (tree(rows),))) == {}


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


def test_an_unknown_task_is_told_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="unknown task 'part-of-speech'; did you mean 'part of speech'"):
        get_task("part-of-speech")
    with pytest.raises(ValueError, match="known are part of speech, dependency label"):
        get_task("xyz")


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


def test_a_sample_does_not_depend_on_the_order_of_texts(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    texts = random_documents(30)
    kinds = []
    for some in (texts, texts[::-1]):
        found = sample_examples(Aligned.of(model, MemoryTexts(some)), SENTENCES, most=40, seed=0)
        kinds.append(
            {name: [(one.rank, one.words, one.label) for one in part.examples] for name, part in found.items()}
        )
    assert kinds[0] == kinds[1]
    other = sample_examples(Aligned.of(model, MemoryTexts(texts)), SENTENCES, most=40, seed=1)
    assert [one.rank for one in other["part of speech"].examples] != [one[0] for one in kinds[0]["part of speech"]]


def test_words_without_pieces_are_left_out_and_counted(model: Model) -> None:
    words = ("the", "", "ship")
    text = Document("d", (Sentence("s", words, frozen_ints([-1] * 3), ("root",) * 3, ("DET", "X", "NOUN")),))
    aligned = Aligned.of(model, MemoryTexts([text]))
    found = sample_examples(aligned, [TASKS["part of speech"]], most=9, seed=0)["part of speech"]
    assert sorted(one.label for one in found.examples) == ["DET", "NOUN"]
    assert list(aligned.dropped.counts.values()) == [1]


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
