from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from probes.corpora.conllu import read_conllu
from probes.corpora.windows import windows
from probes.records import Document, Mention, Sentence
from probes.targets import OTHERS, Targets
from probes.words.coreference import (
    ALL_WORDS,
    CATAPHORA,
    COLUMNS,
    COREFERENT,
    FOLLOWING,
    MENTIONS,
    PRECEDING,
    Coreference,
)
from tests.probes.conftest import by_item

Tree = Callable[..., Sentence]

WORDS = """
    Ada    PROPN 2 nsubj _
    met    VERB  0 root  _
    Bo     PROPN 2 obj   _
    and    CCONJ 6 cc    _
    his    PRON  6 nmod:poss _
    aunt   NOUN  3 conj  _
    herself PRON 2 obl   _
"""


def text_of(tree: Tree, *mentions: Mention) -> Document:
    return Document("d", (tree(WORDS, mentions=mentions),))


def gold(targets: Targets) -> dict[int, list[int]]:
    return dict(zip(targets.query.tolist(), by_item(targets.gold, len(targets)), strict=True))


def labels(targets: Targets) -> dict[int, set[str]]:
    return {query: set(label.split("; ")) for query, label in zip(targets.query.tolist(), targets.label, strict=True)}


def candidates(targets: Targets) -> list[list[int]]:
    assert not isinstance(targets.candidates, str)
    return by_item(targets.candidates, len(targets))


ADA, BO = Mention((0,), 0, "ada"), Mention((2,), 2, "bo")
HIS = Mention((4,), 4, "bo")
HERSELF = Mention((6,), 6, "ada")
AUNT = Mention((4, 5), 5, "aunt")
"A mention in which another one is nested."


def test_every_mention_with_an_antecedent_is_asked_under_every_variant(tree: Tree) -> None:
    found = Coreference().targets(text_of(tree, ADA, BO, HIS, AUNT, HERSELF))
    back = [targets for variant, targets in found.items() if variant != FOLLOWING]
    assert [gold(targets) for targets in back] == [{4: [2], 6: [0]}] * 5
    assert gold(found[FOLLOWING]) == {0: [6], 2: [4]}
    assert all(labels(targets) == labels(back[0]) for targets in back)
    assert {"pronoun", "pronoun, 3rd person"} <= labels(back[0])[4] & labels(back[0])[6]
    assert [one.by_column for one in found.values()] == [variant == COLUMNS for variant in found]


def test_the_candidates_are_what_the_variant_says(tree: Tree) -> None:
    found = Coreference().targets(text_of(tree, ADA, BO, HIS, AUNT, HERSELF))
    assert candidates(found[PRECEDING]) == [[0, 2], [0, 2, 4, 5]]
    assert candidates(found[MENTIONS]) == [[0, 2, 5, 6], [0, 2, 4, 5]]
    assert found[ALL_WORDS].candidates == OTHERS
    assert candidates(found[COREFERENT]) == [[0, 2], [0, 2, 4]]
    assert candidates(found[COLUMNS]) == candidates(found[PRECEDING])
    assert candidates(found[FOLLOWING]) == [[2, 4, 5, 6], [4, 5, 6]]


@pytest.mark.parametrize(
    ("word", "pronoun", "name", "expected"),
    [
        ("She", "PRON", "PROPN", True),
        ("I", "PRON", "PROPN", False),
        ("Ada", "PROPN", "PROPN", False),
        ("She", "PRON", "PRON", False),
    ],
)
def test_cataphora_is_a_pronoun_before_a_name_or_noun(
    word: str, pronoun: str, name: str, expected: bool, tree: Tree
) -> None:
    mentions = [Mention((0,), 0, "a"), Mention((3,), 3, "a")]
    rows = (
        f"{word} {pronoun} 2 nsubj _\nsank VERB 5 advcl _\n, PUNCT 5 punct _\nAda {name} 5 nsubj _\nsaid VERB 0 root _"
    )
    found = Coreference().targets(Document("d", (tree(rows, mentions=mentions),)))
    assert (CATAPHORA in labels(found[FOLLOWING])[0]) == expected
    assert not any(CATAPHORA in parts for parts in labels(found[PRECEDING]).values())


@pytest.mark.parametrize(
    ("word", "feats", "expected"),
    [
        ("Your", "_", {"pronoun, 1st or 2nd person"}),
        ("it", "_", {"pronoun, 3rd person"}),
        ("ye", "Person=2|PronType=Prs", {"pronoun, 1st or 2nd person"}),
        ("one", "Person=3", {"pronoun, 3rd person"}),
        ("who", "PronType=Rel", set()),
    ],
)
def test_pronouns_are_told_apart_by_person_where_they_show_one(
    word: str, feats: str, expected: set[str], tree: Tree
) -> None:
    rows = f"Ada PROPN 2 nsubj _\nsank VERB 0 root _\n{word} PRON 2 obl {feats}"
    mentions = [Mention((0,), 0, "a"), Mention((2,), 2, "a")]
    found = Coreference().targets(Document("d", (tree(rows, mentions=mentions),)))
    assert labels(found[PRECEDING])[2] == {"pronoun", "words=1-5", "mentions=0", *expected}


@pytest.mark.parametrize(
    ("words", "between", "expected"),
    [
        (1, 0, {"words=1-5", "mentions=0"}),
        (5, 1, {"words=1-5", "mentions=1-2"}),
        (6, 2, {"words=6-10", "mentions=1-2"}),
        (11, 5, {"words=11-20", "mentions=3-5"}),
        (20, 6, {"words=11-20", "mentions>=6"}),
        (21, 20, {"words>=21", "mentions>=6"}),
    ],
)
def test_distance_is_that_to_the_nearest_mention_of_the_same(words: int, between: int, expected: set[str]) -> None:
    """There is a farther one on the same side; a mention with two spans around one head counts once."""
    n, others = words + 4, [Mention((i + 4,), i + 4, f"other {i}") for i in range(between)]
    again = [Mention((4, 5), 4, "other 0")] if between else []
    same = [Mention((i,), i, "e") for i in (0, 3, 3 + words)]
    sentence = Sentence("s", ("w",) * n, np.full(n, -1), ("",) * n, mentions=(*same, *others, *again))
    found = Coreference().targets(Document("d", (sentence,)))
    assert labels(found[PRECEDING])[3 + words] == {"nominal", *expected}


@pytest.fixture(scope="module")
def gum(data_folder: Path) -> list[Document]:
    """Return GUM dev in windows of 100 words."""
    documents = read_conllu(data_folder / "ud_english_gum/en_gum-ud-dev.conllu")
    return [text for document in documents for text in windows(document, 100)]


DISTANCES = {
    **{"words=1-5": 751, "words=6-10": 696, "words=11-20": 579, "words>=21": 612},
    **{"mentions=0": 663, "mentions=1-2": 928, "mentions=3-5": 511, "mentions>=6": 536},
}
KINDS = {
    **{"all": 2638, "pronoun": 1550, "proper": 298, "nominal": 790},
    **{"pronoun, 1st or 2nd person": 789, "pronoun, 3rd person": 652},
}


def test_the_items_of_gum_dev_are_those_counted(gum: list[Document]) -> None:
    probe, found = Coreference(), {variant: Counter[str]() for variant in Coreference.variants}
    listed = Counter[str]()
    for text in gum:
        for variant, targets in probe.targets(text).items():
            found[variant].update(part for label in targets.label for part in probe.pool(label))
            listed[variant] += 0 if isinstance(targets.candidates, str) else len(targets.candidates[0])
    following = found.pop(FOLLOWING)
    assert all(counts == KINDS | DISTANCES for counts in found.values())
    assert [following[label] for label in ("all", "pronoun, 3rd person", CATAPHORA)] == [1245, 100, 33]
    assert listed[PRECEDING] == listed[COLUMNS] == 40320
    assert listed[COREFERENT] == 23214
