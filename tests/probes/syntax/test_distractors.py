from collections.abc import Sequence

import pytest

from probes.records import Document, Mention, Sentence, frozen_ints
from probes.syntax.distractors import GROUPS, NOUNS, Distractors, noun_groups
from probes.targets import Targets

PROBE = Distractors()


def text_of(
    words: str, mentions: Sequence[Mention], subjects: dict[int, int] | None = None, kind: str = ""
) -> Document:
    """A text of one sentence; `subjects` are nsubj arcs from noun to verb, all other words have no head."""
    forms, subjects = tuple(words.split()), subjects or {}
    heads = [subjects.get(word, -1) for word in range(len(forms))]
    deprels = tuple("nsubj" if word in subjects else "" for word in range(len(forms)))
    upos = tuple("VERB" if word in subjects.values() else "" for word in range(len(forms)))
    columns = (forms, frozen_ints(heads), deprels, upos)
    return Document("d", (Sentence("s", *columns, mentions=tuple(mentions), kind=kind),))


def span(first: int, head: int, entity: str, last: int | None = None) -> Mention:
    return Mention(tuple(range(first, (head if last is None else last) + 1)), head, entity)


KEYS = text_of("the old keys to the cabinet open", [span(0, 2, "a", last=5), span(4, 5, "b")], {2: 6}, kind="agr.4")


def test_a_word_belongs_to_the_shortest_mention_up_to_its_head() -> None:
    assert noun_groups(KEYS) == {2: (0, 1, 2), 5: (4, 5)}
    both = text_of("Ada and Bo sank", [span(0, 0, "a"), span(2, 2, "b"), span(0, 0, "c", last=2)])
    assert noun_groups(both) == {0: (0,), 2: (2,)}
    aunt = text_of("his aunt sank", [span(0, 0, "a"), span(0, 1, "b")])
    assert noun_groups(aunt) == {0: (0,), 1: (1,)}


def told(targets: Targets) -> list[tuple[int, list[int], list[int], str]]:
    assert not isinstance(targets.candidates, str)
    keys = [[key[item == i].tolist() for key, item in (targets.gold, targets.candidates)] for i in range(len(targets))]
    return [
        (int(q), gold, every, label) for q, (gold, every), label in zip(targets.query, keys, targets.label, strict=True)
    ]


def test_a_verb_is_asked_for_the_group_of_its_subject_or_for_its_noun() -> None:
    asked = PROBE.targets(KEYS)
    assert told(asked[GROUPS]) == [(6, [0, 1, 2], [0, 1, 2, 4, 5], "verb, 1 distractor, agr.4")]
    assert told(asked[NOUNS]) == [(6, [2], [2, 5], "verb, 1 distractor, agr.4")]
    assert PROBE.pool("verb, 1 distractor, agr.4") == ("all", "verb", "1 distractor", "agr.4")


def test_a_reflexive_is_asked_for_the_nearest_mention_of_its_entity_before_it() -> None:
    mentions = [span(0, 0, "a"), span(2, 2, "b"), span(4, 4, "a"), span(6, 6, "a"), span(8, 8, "c")]
    text = text_of("Ada told Bo that she hurt herself near Cleo", mentions)
    assert told(PROBE.targets(text)[GROUPS]) == [(6, [4], [2, 4, 8], "reflexive, 2 distractors")]


@pytest.mark.parametrize(
    "text",
    [
        text_of("the keys open", [span(0, 1, "a")], {1: 2}),
        text_of("she hurt herself", [span(0, 0, "a"), span(2, 2, "a")]),
        text_of("near Bo herself sank", [span(1, 1, "b"), span(2, 2, "a")]),
        text_of("Ada and Bo sank", [span(0, 0, "a"), span(2, 2, "b")]),
    ],
)
def test_nothing_is_asked_without_a_distractor_an_antecedent_or_a_subject(text: Document) -> None:
    assert [len(targets) for targets in PROBE.targets(text).values()] == [0, 0]


def test_two_subjects_of_a_verb_are_right_together_and_a_group_that_holds_the_verb_is_no_candidate() -> None:
    mentions = [span(0, 0, "a"), span(1, 1, "b"), span(2, 2, "c"), span(3, 5, "d")]
    text = text_of("Ada Bo Cleo those swimming ships", mentions, {0: 4, 1: 4})
    assert told(PROBE.targets(text)[GROUPS]) == [(4, [0, 1], [0, 1, 2], "verb, 1 distractor")]
