"""The nearest word of a tag set: what is learned, by hand and on a treebank, and where it looks."""

from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probes import Document, Sentence, get_probe
from probes.corpora.conllu import read_conllu
from probes.registry import probe_names
from probes.scoring.baseline_texts import NONE, TAGS, Shown
from probes.scoring.scorer import score_rows
from probes.scoring.tag_rule import MOST_TAGS, SIDES, NearestTag, TagRule
from probes.targets import Items, Targets, gather


def tagged(tags: str) -> Document:
    upos = tuple(tags.split())
    n = len(upos)
    return Document("d", (Sentence("s", ("w",) * n, np.full(n, -1), ("",) * n, upos),))


def asked(*pairs: tuple[int, int], candidates: object = "other words") -> Items:
    """One text a pair of query and gold; `candidates` are the same words in every text, or a named set."""
    made = []
    for query, gold in pairs:
        listed = candidates if isinstance(candidates, str) else (np.array(candidates), np.zeros(len(candidates), int))
        made.append(Targets.sets([query], [[gold]], ["a"], listed))
    return gather("p", "v", made)


def learned(items: Items, shown: Shown) -> tuple[TagRule, NearestTag]:
    rule = TagRule()
    rule.learn(items, shown)
    return rule, rule.rule(("p", "v", "a"))


def chosen(rule: TagRule, items: Items, shown: Shown) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in rule.rows(items, shown)]


@pytest.mark.parametrize(
    ("texts", "pairs", "side"),
    [
        (("VERB DET ADJ NOUN", "X VERB NOUN NOUN", "NOUN DET NOUN NOUN"), ((3, 0), (2, 1), (2, 0)), "before"),
        (("DET ADJ NOUN VERB", "DET NOUN NOUN", "DET ADJ VERB"), ((0, 2), (0, 1), (0, 2)), "after"),
    ],
)
def test_the_nearest_word_of_a_tag_is_found_on_the_side_of_gold(
    texts: tuple[str, ...], pairs: tuple[tuple[int, int], ...], side: str
) -> None:
    shown, items = Shown([*map(tagged, texts)]), asked(*pairs)
    rule, found = learned(items, shown)
    assert (found.side, sorted(found.tags)) == (side, ["NOUN", "VERB"])
    assert chosen(rule, items, shown) == [[gold] for _, gold in pairs]


def test_a_rule_finds_nothing_where_no_word_has_its_tags() -> None:
    rule, _ = learned(asked((0, 2)), Shown([tagged("DET ADJ NOUN")]))
    assert chosen(rule, asked((0, 1)), Shown([tagged("DET ADJ ADV")])) == [[]]


def test_of_two_equally_near_words_the_one_before_comes_first() -> None:
    rule = TagRule()
    rule._rules["p", "v", "a"] = NearestTag("on either side", ("NOUN", "VERB"))
    assert chosen(rule, asked((1, 0), (1, 0)), Shown([tagged("NOUN X VERB"), tagged("VERB X NOUN")])) == [[0], [0]]


def test_listed_candidates_alone_are_taken() -> None:
    shown = Shown([tagged("NOUN NOUN X")])
    rule, _ = learned(items := asked((2, 0), candidates=(0,)), shown)
    assert chosen(rule, items, shown) == [[0]], "the nearer noun is no candidate"
    rule, _ = learned(items := asked((0, 1), candidates=(1,)), shown)
    assert chosen(rule, items, shown) == [[1]], "the next word is one"


def test_what_was_not_learned_attends_to_nothing() -> None:
    assert chosen(TagRule(), asked((1, 0)), Shown([tagged("NOUN VERB")])) == [[]]


def test_nearest_words_of_all_tags_are_those_of_a_plain_search() -> None:
    random = np.random.default_rng(0)
    texts = [tagged(" ".join(random.choice(["NOUN", "VERB", "DET"], size))) for size in (1, 5, 9)]
    ranks = Shown(texts).nearest_tags
    for text, word, side, tag in np.ndindex(ranks.shape):
        if word >= len(texts[text]):
            continue
        steps = range(word - 1, -1, -1) if side == 0 else range(word + 1, len(texts[text]))
        far = next((abs(i - word) for i in steps if texts[text].upos[i] == TAGS[tag]), None)
        assert ranks[text, word, side, tag] == (NONE if far is None else 2 * far + side)


def test_the_five_most_frequent_tags_of_right_words_alone_are_named() -> None:
    tags = ["ADJ", "ADP", "ADV", "NOUN", "NUM"]
    shown = Shown([tagged(f"{tag} X") for tag in ["DET", *tags, *tags]])
    _, found = learned(asked(*[(1, 0)] * len(shown.documents)), shown)
    assert found == NearestTag("before", tuple(tags)), "DET stands once, the others twice"


def test_one_or_two_tags_are_the_best_that_there_are() -> None:
    """Against all sets of one tag, and of those with the best one all pairs: the choice is greedy."""
    random = np.random.default_rng(1)
    shown = Shown([tagged(" ".join(random.choice(["NOUN", "VERB", "DET", "ADJ"], 8))) for _ in range(60)])
    items = asked(*((int(q), int((q + random.integers(1, 8)) % 8)) for q in random.integers(0, 8, 60)))
    rule, found = learned(items, shown)
    assert len(found.tags) <= MOST_TAGS

    def right(side: str, tags: tuple[str, ...]) -> float:
        rule._rules["p", "v", "a"] = NearestTag(side, tags)
        return float(score_rows(rule.rows(items, shown), items, shown.words)[:, 0].sum())

    best = right(found.side, found.tags)
    assert best >= max(right(side, (tag,)) for side in SIDES for tag in ("NOUN", "VERB", "DET", "ADJ"))
    pairs = (pair for pair in combinations(("NOUN", "VERB", "DET", "ADJ"), 2) if found.tags[0] in pair)
    assert best >= max(right(found.side, pair) for pair in pairs)


def test_every_probe_on_trees_has_the_nearest_word_of_a_tag_set_as_a_rival() -> None:
    """Its rule is learned for each variant: both directions have their own."""
    on_trees = [
        get_probe(name) for name in probe_names() if get_probe(name).needs in ("trees", "subjects", "noun groups")
    ]
    assert len(on_trees) >= 11
    assert all("nearest word of a tag set" in probe.rules for probe in on_trees)


GOLDEN = Path(__file__).parents[2] / "golden" / "tag_rule_ewt_dev.csv"


@pytest.mark.slow
def test_on_a_treebank_the_rule_finds_what_another_program_found(data_folder: Path) -> None:
    rule, probe = TagRule(), get_probe("dependency")
    hits, n = defaultdict[str, float](float), defaultdict[str, int](int)
    for split in ("train", "dev"):
        documents = read_conllu(data_folder / f"ud_english_ewt/en_ewt-ud-{split}.conllu")
        sentences = [text for document in documents for text in document.split_sentences()]
        for start in range(0, len(sentences), 500):
            texts = sentences[start : start + 500]
            shown = Shown(texts)
            items = gather("dependency", "d", [probe.targets(text)["dependent->head"] for text in texts])
            if split == "train":
                rule.learn(items, shown)
                continue
            for label, hit in zip(
                items.label, score_rows(rule.rows(items, shown), items, shown.words)[:, 0], strict=True
            ):
                hits[items.labels[label]] += float(hit.item())
                n[items.labels[label]] += 1
    golden = pd.read_csv(GOLDEN)
    assert {"obj", "nsubj", "cop", "conj"} < set(golden["label"])
    for label, accuracy in zip(golden["label"], golden["accuracy"], strict=True):
        assert hits[label] / n[label] == pytest.approx(accuracy, abs=0.001), label
