import numpy as np
import pytest

from probes.records import Document, Mention, Sentence
from probes.words.sense import Decided, Sense, decided
from probes.words.senses import CUE, DISTRACTOR, NOUNS, TARGET, sense_items

PROBE = Sense()


def test_every_item_has_one_noun_one_cue_of_its_sense_and_at_most_one_word_of_the_other() -> None:
    of_noun = {noun.noun: noun for noun in NOUNS}
    for document in sense_items(300, seed=1):
        (sentence,) = document.sentences
        at = {mention.entity: sentence.words[mention.head].lower() for mention in sentence.mentions}
        noun = of_noun[at[TARGET]]
        sense = noun.senses.index(sentence.kind.removeprefix(f"{noun.noun}: "))
        assert at[CUE] in noun.cues[sense]
        assert at.get(DISTRACTOR) is None or at[DISTRACTOR] in noun.cues[1 - sense]
        assert [word for word in sentence.words if "{" in word] == []
        assert document.id == f"{noun.noun} {at[CUE]}"


def test_an_item_depends_on_the_seed_and_its_number_alone() -> None:
    assert [one.words for one in sense_items(5, 3)] == [one.words for one in sense_items(9, 3)][:5]
    assert [one.words for one in sense_items(9, 3)] != [one.words for one in sense_items(9, 4)]
    with pytest.raises(ValueError, match="documents is -1, expected 0 or more"):
        next(sense_items(-1, 0))


def test_the_noun_is_asked_for_its_cue_among_all_words_or_against_the_rival() -> None:
    words = ("Not", "the", "loan", "but", "the", "river", "was", "near", "the", "bank", ".")
    mentions = (Mention((2,), 2, DISTRACTOR), Mention((5,), 5, CUE), Mention((9,), 9, TARGET))
    sentence = Sentence("s", words, np.full(11, -1), ("",) * 11, mentions=mentions, kind="bank: river")
    text = Document("d", (Sentence("t", ("Sea",), np.array([-1]), ("",)), sentence))
    assert list(decided(text)) == [Decided(10, 6, 3, "bank: river")]
    forward, back, two = PROBE.targets(text).values()
    assert (forward.query.tolist(), forward.gold[0].tolist()) == ([10], [6])
    assert (back.query.tolist(), back.gold[0].tolist()) == ([6], [10])
    assert not isinstance(two.candidates, str)
    assert (two.query.tolist(), two.gold[0].tolist(), two.candidates[0].tolist()) == ([10], [6], [6, 3])
    assert list(forward.label) == ["bank: river, distance=4-6, cue before, with a rival"]
    assert PROBE.pool(forward.label[0]) == (
        *("all", "bank: river", "bank", "distance=4-6", "cue before", "with a rival"),
    )


@pytest.mark.parametrize(
    ("distance", "band"), [(1, "=1"), (3, "=2-3"), (4, "=4-6"), (6, "=4-6"), (7, ">=7"), (-9, ">=7")]
)
def test_bands_of_distance(distance: int, band: str) -> None:
    side = "cue after" if distance > 0 else "cue before"
    assert Decided(20, 20 + distance, None, "bank: river").label == f"bank: river, distance{band}, {side}, no rival"
