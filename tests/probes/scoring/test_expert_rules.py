"""Rules of experts: each on a sentence where it is right, or wrong, for its own reason."""

from pathlib import Path

import numpy as np
import pytest

from probes import Document, Mention, Sentence, get_probe
from probes.corpora.conllu import read_conllu
from probes.corpora.windows import windows
from probes.records import frozen_ints
from probes.registry import probe_names
from probes.scoring.baseline_texts import Shown
from probes.scoring.baselines import BASELINES
from probes.scoring.expert_rules import RULES
from probes.scoring.scorer import score_rows
from probes.syntax.agreement import BACK, FORTH
from probes.targets import Targets, gather

SING, PLUR = "Number=Sing", "Number=Plur"
IS = "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"


def text(*rows: tuple[str, str, str, int, str], mentions: tuple[Mention, ...] = ()) -> Document:
    """A sentence of (form, part of speech, morphology, head, relation)."""
    forms, upos, feats, heads, deprels = zip(*rows, strict=True)
    return Document("d", (Sentence("s", forms, np.array(heads), deprels, upos, feats, mentions=mentions),))


def taken(name: str, document: Document, query: int, candidates: object = "other words") -> list[int]:
    """The keys that the rule attends to."""
    listed = candidates if isinstance(candidates, str) else (np.array(candidates), np.zeros(len(candidates), int))
    items = gather("p", "v", [Targets.sets([query], [[0]], ["a"], listed)])
    return np.flatnonzero(RULES[name]().rows(items, Shown([document]))[0]).tolist()


ARE = IS.replace("Sing|Person=3", "Plur|Person=3")

NEAR = text(
    ("is", "AUX", IS, 4, "aux"),
    ("what", "PRON", "PronType=Int", 4, "obj"),
    ("ships", "NOUN", PLUR, 5, "nsubj"),
    ("he", "PRON", SING, 4, "nsubj"),
    ("builds", "VERB", IS, 2, "acl:relcl"),
    ("are", "AUX", ARE, -1, "root"),
    ("sunk", "VERB", "VerbForm=Part", 5, "dep"),
)
"Of `ships` the verbs before and after; `builds` is nearer, `are` agrees."


@pytest.mark.parametrize(
    ("name", "query", "word"),
    [
        ("nearest noun or pronoun", 5, 3),
        ("nearest noun that agrees", 5, 2),
        ("first noun or pronoun", 5, 1),
        ("next verb", 2, 4),
        ("next verb that agrees", 2, 5),
        ("first verb", 2, 0),
        ("next verb", 5, 4),  # no verb that shows number stands after
        ("next verb that agrees", 3, 4),
    ],
)
def test_agreement_is_looked_for_by_place_or_by_number(name: str, query: int, word: int) -> None:
    assert taken(name, NEAR, query) == [word]


STORY = text(
    ("Anna", "PROPN", SING, 1, "nsubj"),
    ("told", "VERB", "", -1, "root"),
    ("king", "NOUN", SING, 1, "obj"),
    ("tales", "NOUN", PLUR, 1, "obj"),
    ("she", "PRON", SING, 5, "nsubj"),
    ("saw", "VERB", "", -1, "root"),
    ("him", "PRON", SING, 5, "obj"),
    ("Anna", "PROPN", SING, 8, "nsubj"),
    ("slept", "VERB", "", -1, "root"),
    mentions=tuple(
        Mention((i,), i, entity) for i, entity in ((0, "a"), (2, "k"), (3, "t"), (4, "a"), (6, "k"), (7, "a"))
    ),
)


@pytest.mark.parametrize(
    ("name", "query", "word"),
    [
        ("nearest mention that agrees", 4, 0),  # tales are many, a king is a man
        ("nearest mention that agrees", 6, 2),
        ("same head word or mention that agrees", 7, 0),
        ("same head word or mention that agrees", 6, 2),
        ("nearest subject", 6, 4),
        ("nearest mention of the same role", 6, 3),
        ("nearest mention of the same role", 4, 0),
    ],
)
def test_an_antecedent_is_looked_for_by_features_words_and_roles(name: str, query: int, word: int) -> None:
    assert taken(name, STORY, query) == [word]
    assert taken(name, STORY, query, (1, 5)) == [], "no candidate is a mention"


NAMES = ["Anna", "wrote", "to", "Bo", ",", "Cara", "saw", "Bo", "and", "Bo", "'s", "dog", "before", "she", "left"]
"Anna and Cara look like subjects, Bo is named most often; nobody's tree is known."

_WHO = (*(Mention((place,), place, NAMES[place]) for place in (0, 3, 5, 7, 9)), Mention((13,), 13, "Anna"))
_BARE = (frozen_ints([-1] * len(NAMES)), ("",) * len(NAMES))
PLAIN_NAMES = Document("names", (Sentence("s", tuple(NAMES), *_BARE, mentions=_WHO),))


@pytest.mark.parametrize(
    ("candidates", "word"),
    [
        ((0, 3), 0),  # Bo stands after "to"
        ((0, 5), 5),  # both look like subjects, each is named once: the nearer
        ((3, 7), 7),  # neither looks like one: as often, the nearer
        ((3, 5), 5),  # named more often, but no subject
        ((3, 9), 9),
    ],
)
def test_without_trees_a_subject_is_known_by_the_words_around_it(candidates: tuple[int, int], word: int) -> None:
    assert taken("likely subject, most mentioned", PLAIN_NAMES, 13, candidates) == [word]


AHEAD = text(
    ("Anna", "PROPN", SING, 1, "nsubj"),
    ("met", "VERB", "", -1, "root"),
    ("Bo", "PROPN", SING, 1, "obj"),
    ("ships", "NOUN", PLUR, 1, "obl"),
    ("Ships", "NOUN", PLUR, 5, "nsubj"),
    ("sink", "VERB", "", -1, "root"),
    ("Anna", "PROPN", SING, 7, "nsubj"),
    ("saw", "VERB", "", -1, "root"),
    ("them", "PRON", PLUR, 7, "obj"),
    ("she", "PRON", SING, 10, "nsubj"),
    ("slept", "VERB", "", -1, "root"),
    mentions=tuple(Mention((i,), i, f"e{i}") for i in (0, 2, 3, 4, 6, 8, 9)),
)


@pytest.mark.parametrize(
    ("query", "candidates", "word"),
    [
        (0, (2, 3, 4, 6, 8, 9), 6),  # the same name, although Bo is nearer
        (2, (3, 4, 6, 8, 9), 6),  # no other Bo, and ships are many
        (6, (0, 2, 3, 4, 8, 9), 0),  # before comes first
        (3, (0, 2, 4, 6), 4),  # what agrees stands after alone
    ],
)
def test_the_same_word_is_looked_for_among_mentions_that_follow_as_among_those_before(
    query: int, candidates: tuple[int, ...], word: int
) -> None:
    assert taken("same head word or mention that agrees", AHEAD, query, candidates) == [word]


def test_every_rule_that_a_probe_names_exists_and_no_baseline_has_its_name() -> None:
    named = {name for probe in probe_names() for name in get_probe(probe).rules}
    assert named == set(RULES)
    assert not set(RULES) & set(BASELINES)


@pytest.mark.slow
def test_on_a_treebank_agreement_has_strong_rivals_both_ways(data_folder: Path) -> None:
    """In percent of EWT dev; an independent program found 96.1 for the next verb, and 93.3 for one that agrees.

    That one took no verb where none agreed.
    """
    documents = read_conllu(data_folder / "ud_english_ewt/en_ewt-ud-dev.conllu")
    texts = [text for document in documents for text in document.split_sentences()]
    probe, shown, found = get_probe("agreement"), Shown(texts), {}
    for variant in (FORTH, BACK):
        items = gather("agreement", variant, [probe.targets(text)[variant] for text in texts])
        for name in set(probe.rules) - {"nearest word of a tag set"}:
            hits = score_rows(RULES[name]().rows(items, shown), items, shown.words)
            found[variant, name] = 100 * float(hits[:, 0].mean())
    expected = {
        (FORTH, "nearest noun or pronoun"): 83.0,
        (FORTH, "nearest noun that agrees"): 83.8,
        (FORTH, "first noun or pronoun"): 45.7,
        (BACK, "next verb"): 96.1,
        (BACK, "next verb that agrees"): 97.3,
        (BACK, "first verb"): 66.9,
    }
    assert {one: found[one] for one in expected} == pytest.approx(expected, abs=0.1)


@pytest.mark.slow
def test_person_number_and_gender_find_three_in_four_antecedents_of_pronouns(data_folder: Path) -> None:
    """An independent rule found 76.5 % on the same documents; ours was written on GUM train, where it finds 76.9 %."""
    documents = read_conllu(data_folder / "ud_english_gum/en_gum-ud-dev.conllu")
    texts = [text for document in documents for text in windows(document, 100)]
    probe = get_probe("coreference")
    items = gather("c", "v", [probe.targets(text)["preceding mention heads"] for text in texts]).pooled(probe.pool)
    shown = Shown(texts)
    hits = score_rows(RULES["nearest mention that agrees"]().rows(items, shown), items, shown.words)[:, 0]
    pronouns = items.label == items.labels.index("pronoun")
    assert pronouns.sum() == 1550
    assert float(hits[pronouns].mean()) == pytest.approx(0.768, abs=0.005)
