from collections import Counter
from collections.abc import Callable
from itertools import islice

import pytest

from probes.minimal_pairs import LeftOut
from probes.pairs.number_swaps import ROLES, RULES, NumberSwap, gapped_rows, number_swapped, number_swaps, rule_rows
from probes.records import Document, Mention, Sentence

Tree = Callable[..., Sentence]
SING, PLUR = "Number=Sing", "Number=Plur"
SLEEPS = f"Mood=Ind|{SING}|Person=3|Tense=Pres|VerbForm=Fin"


def sentence(tree: Tree, text: str, *mentions: Mention) -> NumberSwap | LeftOut:
    (found,) = number_swaps(Document("d", (tree(text, mentions=mentions),)))
    return found


def swap(tree: Tree, text: str) -> NumberSwap:
    found = sentence(tree, text)
    assert isinstance(found, NumberSwap)
    return found


NEAR = f"""near ADP 5 case _
the DET 5 det _
ships NOUN 2 nmod {PLUR}
today NOUN 7 obl {SING}
sleeps VERB 0 root {SLEEPS}"""


@pytest.mark.parametrize(("article", "other"), [("The", "The"), ("A", "Some"), ("An", "Some"), ("Her", "Her")])
def test_the_subject_and_its_article_change_and_nothing_else(tree: Tree, article: str, other: str) -> None:
    upos = "PRON" if article == "Her" else "DET"
    relation = "nmod:poss" if article == "Her" else "det"
    found = swap(tree, f"{article} {upos} 2 {relation} _\nman NOUN 7 nsubj {SING}\n{NEAR}")
    assert found.clean == (article, "man", "near", "the", "ships", "today", "sleeps")
    assert found.corrupted == (other, "men", "near", "the", "ships", "today", "sleeps")
    assert (found.right, found.wrong, found.verb, found.source) == ("sleeps", "sleep", 6, "d")
    assert found.roles == ("determiner", "subject", "other", "other", "attractor", "other", "verb")
    assert (found.kind.number, found.kind.attractors, found.kind.condition) == ("singular", 1, "main clause")


@pytest.mark.parametrize(("many", "upos", "relation"), [("Two", "NUM", "nummod"), ("Several", "ADJ", "amod")])
def test_what_counts_a_plural_subject_becomes_an_article_that_suits_the_next_word(
    tree: Tree, many: str, upos: str, relation: str
) -> None:
    text = f"""{many} {upos} {{}} {relation} _
{{}}wolves NOUN {{}} nsubj {PLUR}
are AUX {{}} cop {SLEEPS.replace(SING, PLUR)}
calm ADJ 0 root _"""
    plain = swap(tree, text.format(2, "", 4, 4))
    assert plain.corrupted == ("A", "wolf", "are", "calm")
    old = swap(tree, text.format(3, "old ADJ 3 amod _\n", 5, 5))
    assert old.corrupted == ("An", "old", "wolf", "are", "calm")
    assert (old.right, old.wrong) == ("are", "is")
    assert old.roles == ("determiner", "other", "subject", "verb", "other")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"She PRON 2 nsubj {SING}\nsleeps VERB 0 root {SLEEPS}", "the subject is no noun"),
        (
            f"poets NOUN 4 nsubj {PLUR}\nand CCONJ 3 cc _\nkings NOUN 1 conj {PLUR}\n"
            f"sleep VERB 0 root {SLEEPS.replace(SING, PLUR)}",
            "the subject is coordinated",
        ),
        (
            f"man NOUN 2 nsubj {SING}\nsleeps VERB 0 root {SLEEPS}\nand CCONJ 4 cc _\nsings VERB 2 conj {SLEEPS}",
            "a verb without a subject of its own",
        ),
        (
            f"this DET 2 det {SING}\nman NOUN 3 nsubj {SING}\nsleeps VERB 0 root {SLEEPS}",
            "a determiner without another number",
        ),
    ],
)
def test_sentences_whose_swap_would_change_more_are_left_out_with_a_reason(tree: Tree, text: str, reason: str) -> None:
    found = sentence(tree, text)
    assert isinstance(found, LeftOut)
    assert (found.reason, found.source) == (reason, "d")


def test_items_of_the_grammar_change_one_or_two_words_and_back() -> None:
    items, same, other = (list(islice(number_swapped(seed), 60)) for seed in (4, 4, 5))
    assert items == same != other
    swaps = [one for one in items if isinstance(one, NumberSwap)]
    assert 16 < len(swaps) < 50
    for one in swaps:
        assert len(one.clean) == len(one.corrupted) == len(one.roles)
        counted = Counter(one.roles)
        assert counted["subject"] == counted["verb"] == 1
        assert counted["determiner"] <= 1
        assert counted["attractor"] == one.kind.attractors
        assert set(one.roles) <= set(ROLES)
        differing = {one.roles[i] for i in range(len(one.clean)) if one.clean[i] != one.corrupted[i]}
        assert {"subject"} <= differing <= {"subject", "determiner"}
        assert (one.right.endswith("s"), one.wrong.endswith("s")) in ((True, False), (False, True))


def test_a_relative_clause_that_agrees_too_leaves_both_verbs_out(tree: Tree) -> None:
    text = f"""man NOUN 4 nsubj {SING}
who PRON 3 nsubj PronType=Rel
sings VERB 1 acl:relcl {SLEEPS}
sleeps VERB 0 root {SLEEPS}"""
    found = list(number_swaps(Document("d", (tree(text),))))
    assert [one.reason for one in found if isinstance(one, LeftOut)] == [
        "the subject is no noun",
        "another verb agrees with the subject",
    ]


def test_a_subject_that_a_pronoun_names_again_is_left_out(tree: Tree) -> None:
    text = f"man NOUN 2 nsubj {SING}\nsees VERB 0 root {SLEEPS}\nhimself PRON 2 obj {SING}"
    found = sentence(tree, text, Mention((0,), 0, "e1"), Mention((2,), 2, "e1"))
    assert isinstance(found, LeftOut)
    assert found.reason == "the subject is named again in the sentence"


@pytest.mark.parametrize("rule", RULES)
def test_no_bag_of_words_decides_a_rule_and_its_four_rows_are_two_orders_with_two_forms(rule: str) -> None:
    rows = [*islice(rule_rows(rule, 1), 400)]
    for four in (rows[i : i + 4] for i in range(0, len(rows), 4)):
        bags = [frozenset(Counter(row["text"].lower().split()).items()) for row in four]
        assert [row["label"] for row in four] == ["right", "wrong", "wrong", "right"]
        assert (bags[0], bags[1]) == (bags[2], bags[3])
        assert len({row["text"] for row in four}) == 4
        assert len({row["group"] for row in four}) == 1
    assert len({row["group"] for row in rows}) > 60


def test_the_first_rows_of_the_grammar_are_right_by_eye() -> None:
    agreement, reflexive = ([row["text"] for row in islice(rule_rows(rule, 0), 4)] for rule in RULES)
    assert agreement == [
        "The wooden chairs behind the gate were broken .",
        "The wooden chairs behind the gate was broken .",
        "The wooden gate behind the chairs were broken .",
        "The wooden gate behind the chairs was broken .",
    ]
    first, *_ = (text.split() for text in reflexive)
    assert (first[:2], first[3:5], first[-2:]) == (["The", "wooden"], ["behind", "the"], ["himself", "."])


@pytest.mark.parametrize("rule", RULES)
def test_a_gap_takes_the_form_out_and_its_label_goes_with_the_order_of_the_nouns(rule: str) -> None:
    rows = [*islice(gapped_rows(rule, 0), 1400)]
    assert max(len(row["words"]) for row in rows) == 10
    assert len({" ".join(row["words"]).lower() for row in rows}) == len(rows), "no text twice"
    for one, other in zip(rows[::2], rows[1::2], strict=True):
        assert (one["group"], one["gap"]) == (other["group"], other["gap"])
        assert one["words"][one["gap"]] == "_"
        nouns = [[row["words"][noun].lower() for noun in row["nouns"]] for row in (one, other)]
        assert nouns[0] == nouns[1][::-1]
        labels = [[label for label in row["label"] if label] for row in (one, other)]
        assert labels[0] != labels[1]
        assert [len(label) for label in labels] == [1, 1]
        assert one["label"][one["gap"]] == labels[0][0]
    first = rows[0]
    if rule == "agreement":
        assert (" ".join(first["words"]), first["nouns"]) == ("The wooden chairs behind the gate _ broken .", [2, 5])
        assert first["label"] == [*[None] * 6, "plural", None, None]
