"""Descriptions name planted heads, and are scored on text that they were not made of."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from mha.batches import Batch
from probes.grammar import generate
from probes.maps.deciles import TAGS
from probes.maps.description import NAMES, RULES, Description, RulePredictions, describe
from probes.records import Document, Sentence, frozen_ints

ONE, SHARE = torch.ones(1, 1, dtype=torch.int64), torch.ones(1, 1, 1)
NO_BATCH = Batch(ONE, None, SHARE, SHARE, ONE[0])
"Not looked at: pairs are laid out from the texts alone."
Attend = Callable[[Document, int], int | None]


def predicted(texts: Sequence[Document], *heads: Attend | None) -> RulePredictions:
    """Return what is counted of a layer of heads that attend to one word each; of even heads where there is None."""
    found = RulePredictions(1, len(heads))
    for start in range(0, len(texts), 4):
        part = texts[start : start + 4]
        longest = max(map(len, part))
        maps = torch.full((len(part), len(heads), longest, longest + 2), 0.01)
        for place, text in enumerate(part):
            for number, head in enumerate(heads):
                for word in range(len(text)):
                    if head is not None and (key := head(text, word)) is not None:
                        maps[place, number, word, key] = 0.9
        maps[:, :, :, longest:] = 0.95
        look = found.observe(part, NO_BATCH)
        look.see(0, maps, maps)
        found.add(look)
    return found


def sentences(seed: int) -> list[Document]:
    return [text for document in generate(30, seed) for text in document.split_sentences()]


def previous(text: Document, word: int) -> int | None:
    return word - 1 if word else None


def to_head(text: Document, word: int) -> int | None:
    return int(text.heads[word]) if text.heads[word] >= 0 else None


def mixed(text: Document, word: int) -> int | None:
    return to_head(text, word) if text.upos[word] == "DET" else previous(text, word)


def test_planted_heads_are_described_as_they_are_and_beat_an_offset_where_they_are_none() -> None:
    select, report = (predicted(sentences(seed), previous, to_head, mixed) for seed in (1, 2))
    table = describe(select, report, (select, report))
    assert table["description"].tolist()[:2] == [
        "Words attend most to the word before.",
        "Words attend most to its syntactic head.",
    ]
    assert table["description"][2].startswith("Words attend most to the word before; DET to ")
    assert table["accuracy"].min() > 0.85, "the first word, or the root, has nothing to attend to"
    assert table["gain"][0] == pytest.approx(0)
    assert (table["gain"][1:] > 0.05).all()
    assert table["offset"][0] == "the word before"


def test_the_accuracy_is_that_of_other_text() -> None:
    """On the report split the head attends to the next word: the description of the selection split is wrong there."""
    select = predicted(sentences(1), previous)
    report = predicted(sentences(2), lambda text, word: word + 1 if word + 1 < len(text) else None)
    found = describe(select, report, (select, report))
    assert found["accuracy"][0] < 0.2
    assert found["offset"][0] == "the word before"
    assert found["offset_accuracy"][0] < 0.2, "the rival had no part of the report split either"


def test_an_exception_must_gain_a_hundredth_of_all_words() -> None:
    hits = np.zeros((len(TAGS), len(NAMES)))
    hits[:, 3] = 50
    hits[TAGS.index("NOUN"), 9], hits[TAGS.index("VERB"), 9] = 50 + 11, 50 + 9
    found = Description.of(hits, 1000)
    assert (found.rule, found.exceptions) == (3, {TAGS.index("NOUN"): 9})
    assert found.hits(hits) == 50 * len(TAGS) + 11


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        ("the word before", [-1, 0, 1, 2]),
        ("the word 2 places after", [2, 3, -1, -1]),
        ("its syntactic head", [1, 2, -1, 2]),
        ("the first word", [-1, 0, 0, 0]),
        ("the last word", [3, 3, 3, -1]),
        ("the nearest NOUN before", [-1, -1, 1, 1]),
        ("the nearest NOUN after", [1, 3, 3, -1]),
    ],
)
def test_rules_name_the_words_that_they_say(rule: str, named: list[int]) -> None:
    upos = ("DET", "NOUN", "VERB", "NOUN")
    sentence = Sentence("s", ("the", "dog", "sees", "cats"), frozen_ints([1, 2, -1, 2]), ("",) * 4, upos)
    assert RULES[rule](Document("d", (sentence,))).tolist() == named
