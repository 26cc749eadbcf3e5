"""Rules of experts: each on a sentence where it is right, or wrong, for its own reason."""

from pathlib import Path

import numpy as np
import pytest

from probes import Document, Mention, Sentence, get_probe
from probes.corpora.conllu import read_conllu
from probes.corpora.windows import windows
from probes.records import frozen_ints
from probes.scoring.baseline_texts import Shown
from probes.scoring.expert_rules import RULES
from probes.scoring.scorer import score_rows
from probes.syntax.agreement import AMONG_NOUNS, BACK, FORTH
from probes.targets import Targets, gather

SING, PLUR = "Number=Sing", "Number=Plur"
IS = "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"


def text(*rows: tuple[str, str, str, int, str], mentions: tuple[Mention, ...] = ()) -> Document:
    """A sentence of (form, part of speech, morphology, head, relation)."""
    forms, upos, feats, heads, deprels = zip(*rows, strict=True)
    return Document("d", (Sentence("s", forms, np.array(heads), deprels, upos, feats, mentions=mentions),))


KEYS = text(
    ("keys", "NOUN", PLUR, 5, "nsubj"),
    ("to", "ADP", "", 3, "case"),
    ("the", "DET", "", 3, "det"),
    ("cabinet", "NOUN", SING, 0, "nmod"),
    ("often", "ADV", "", 5, "advmod"),
    ("open", "VERB", IS.replace("Sing|Person=3", "Plur"), -1, "root"),
)


def taken(name: str, document: Document, query: int, candidates: object = "other words") -> list[int]:
    """The keys that the rule attends to."""
    listed = candidates if isinstance(candidates, str) else (np.array(candidates), np.zeros(len(candidates), int))
    items = gather("p", "v", [Targets.sets([query], [[0]], ["a"], listed)])
    return np.flatnonzero(RULES[name]().rows(items, Shown([document]))[0]).tolist()


ARE = IS.replace("Sing", "Plur")

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
    ("name", "document", "query", "word"),
    [
        ("nearest noun or pronoun", KEYS, 5, 3),
        ("nearest noun that agrees", KEYS, 5, 0),
        ("first noun or pronoun", KEYS, 5, 0),
        ("next verb", KEYS, 0, 5),
        ("next verb that agrees", KEYS, 3, 5),  # no verb agrees
        ("next verb", NEAR, 2, 4),
        ("next verb that agrees", NEAR, 2, 5),
        ("first verb", NEAR, 2, 0),
        ("next verb", NEAR, 5, 4),  # no verb that shows number stands after
        ("next verb that agrees", NEAR, 3, 4),
    ],
)
def test_agreement_is_looked_for_by_place_or_by_number(name: str, document: Document, query: int, word: int) -> None:
    assert taken(name, document, query) == [word]


def test_a_verb_that_no_noun_fits_gets_the_nearest() -> None:
    document = text(
        ("ships", "NOUN", PLUR, 2, "obj"), ("boats", "NOUN", PLUR, 2, "nsubj"), ("is", "AUX", IS, -1, "root")
    )
    assert taken("nearest noun that agrees", document, 2) == [1]


def test_a_subject_that_is_no_noun_gets_a_verb_and_a_reflexive_a_noun() -> None:
    many = text(("many", "ADJ", PLUR, 2, "nsubj"), ("often", "ADV", "", 2, "advmod"), ("are", "AUX", ARE, -1, "root"))
    assert taken("next verb that agrees", many, 0) == [2]
    story = text(
        ("girls", "NOUN", PLUR, 2, "nsubj"),
        ("king", "NOUN", SING, 2, "obj"),
        ("saw", "VERB", "", -1, "root"),
        ("themselves", "PRON", PLUR, 2, "obj"),
    )
    assert taken("nearest noun or pronoun", story, 3) == [1]
    assert taken("nearest noun that agrees", story, 3) == [0]


def test_a_coordination_is_plural_and_of_its_lowest_person() -> None:
    document = text(
        ("boys", "NOUN", PLUR, 1, "nsubj"),
        ("think", "VERB", ARE, -1, "root"),
        ("dad", "NOUN", SING, 6, "nsubj"),
        ("and", "CCONJ", "", 4, "cc"),
        ("I", "PRON", "Number=Sing|Person=1", 2, "conj"),
        ("crews", "NOUN", PLUR, 6, "obj"),
        ("are", "AUX", ARE.replace("3", "1"), 1, "ccomp"),
    )
    assert taken("nearest noun that agrees", document, 6) == [2]
    assert taken("next verb that agrees", document, 2) == [6]


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


def untagged(words: str, *mentions: int) -> Document:
    """A sentence without a tree, and the words in it that are mentions."""
    forms = tuple(words.split())
    heads, blank = frozen_ints([-1] * len(forms)), ("",) * len(forms)
    found = tuple(Mention((place,), place, forms[place]) for place in mentions)
    return Document("d", (Sentence("s", forms, heads, blank, mentions=found),))


NAMES = untagged("Anna wrote to Bo , Cara saw Bo and Bo 's dog before she left", 0, 3, 5, 7, 9, 13)
"Anna and Cara look like subjects, Bo is named most often; nobody's tree is known."


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
    assert taken("likely subject, most mentioned", NAMES, 13, candidates) == [word]


def test_of_likely_subjects_the_one_that_is_mentioned_most_comes_first() -> None:
    story = untagged("Bo slept . Bo ran . Anna sat . she", 0, 3, 6, 9)
    assert taken("likely subject, most mentioned", story, 9, (3, 6)) == [3]


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
        (3, (4, 6, 8, 9), 4),
        (2, (3, 4, 6, 8, 9), 6),  # no other Bo, and ships are many
        (4, (6, 8, 9), 8),
        (6, (8, 9), 9),
        (6, (0, 2, 3, 4, 8, 9), 0),  # before comes first
        (3, (0, 2, 4, 6), 4),  # what agrees stands after alone
    ],
)
def test_the_same_word_is_looked_for_among_mentions_that_follow_as_among_those_before(
    query: int, candidates: tuple[int, ...], word: int
) -> None:
    assert taken("same head word or mention that agrees", AHEAD, query, candidates) == [word]


def test_of_following_mentions_a_pronoun_gets_one_that_shows_the_same() -> None:
    document = text(
        *(("she", "PRON", SING, 1, "nsubj"), ("saw", "VERB", "", -1, "root"), ("Bo", "PROPN", SING, 1, "obj")),
        *(("and", "CCONJ", "", 4, "cc"), ("queens", "NOUN", PLUR, 1, "obj"), ("her", "PRON", SING, 1, "obj")),
        mentions=tuple(Mention((i,), i, f"e{i}") for i in (0, 2, 4, 5)),
    )
    assert taken("nearest mention that agrees", document, 0, (2, 4, 5)) == [5]
    assert taken("nearest mention that agrees", document, 0, (2, 4)) == [2]


HOLD = text(
    ("team", "NOUN", SING, 3, "nsubj"),
    ("Bo", "PROPN", SING, 3, "obl"),
    ("that", "PRON", "Number=Sing|PronType=Dem", 3, "obj"),
    ("lost", "VERB", "", -1, "root"),
    ("house", "NOUN", SING, 3, "obl"),
    ("of", "ADP", "", 6, "case"),
    ("his", "PRON", SING, 7, "nmod:poss"),
    ("town", "NOUN", SING, 4, "nmod"),
    ("it", "PRON", SING, 3, "obl"),
    ("they", "PRON", PLUR, 3, "nsubj"),
    ("I", "PRON", SING, 3, "nsubj"),
    mentions=(
        *(Mention((i,), i, f"e{i}") for i in (0, 1, 2, 6, 8, 9, 10)),
        *(Mention((4, 5, 6, 7), 4, "e4"), Mention((6, 7), 7, "e7")),
    ),
)


@pytest.mark.parametrize(
    ("query", "candidates", "word"),
    [
        (6, (0, 1, 2, 4), 1),  # nearer are what holds the pronoun, and a thing
        (6, (0, 4), 0),
        (6, (0, 1), 1),  # for "he" rather a name
        (8, (0, 1), 0),  # for "it" rather none
        (8, (0, 2, 4), 2),  # "that" shows what "it" shows
        (10, (1, 2), 2),  # where none agrees the nearest
        (10, (0, 1, 9), 9),
    ],
)
def test_of_mentions_that_agree_the_likely_one_is_taken(query: int, candidates: tuple[int, ...], word: int) -> None:
    assert taken("nearest mention that agrees", HOLD, query, candidates) == [word]


def test_they_is_rather_another_they_than_a_nearer_noun_and_every_text_of_a_batch_has_its_own_answer() -> None:
    rows = [("they", "PRON", PLUR, 1, "nsubj"), ("sold", "VERB", "", -1, "root")]
    rows += [("ships", "NOUN", PLUR, 1, "obj"), ("they", "PRON", PLUR, 1, "dep")]
    mentions = tuple(Mention((i,), i, f"e{i}") for i in (0, 2, 3))
    first, second = text(*rows, mentions=mentions), text(*rows, mentions=mentions[1:])
    items = gather("p", "v", [Targets.sets([3], [[0]], ["a"])] * 2)
    rows_of = RULES["nearest mention that agrees"]().rows(items, Shown([first, second]))
    assert [np.flatnonzero(row).tolist() for row in rows_of] == [[0], [2]]


def test_an_apposition_may_mean_what_holds_it() -> None:
    document = text(
        *(("the", "DET", "", 1, "det"), ("ship", "NOUN", SING, -1, "root"), ("Argo", "PROPN", SING, 1, "appos")),
        mentions=(Mention((0, 1, 2), 1, "a"), Mention((2,), 2, "a")),
    )
    assert taken("nearest mention that agrees", document, 2, (1,)) == [1]


THAT = text(
    ("keys", "NOUN", PLUR, 5, "nsubj"),
    ("that", "PRON", "PronType=Rel", 3, "nsubj"),
    ("often", "ADV", "", 3, "advmod"),
    ("open", "VERB", IS.replace("Sing|Person=3", "Plur"), 0, "acl:relcl"),
    ("boxes", "NOUN", PLUR, 3, "obj"),
    ("break", "VERB", IS.replace("Sing|Person=3", "Plur"), -1, "root"),
)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("nearest noun or pronoun", 1),
        ("nearest noun that agrees", 1),
        ("first noun or pronoun", 0),
        ("nearest word of a tag set", 0),
    ],
)
@pytest.mark.parametrize("variant", [FORTH, AMONG_NOUNS])
def test_a_relative_pronoun_and_its_noun_are_both_right(name: str, word: int, variant: str) -> None:
    """Of the first verb, which alone teaches the tag set."""
    items, shown = gather("agreement", variant, [get_probe("agreement").targets(THAT)[variant]]), Shown([THAT])
    items, rule = items.take(np.array([0])), RULES[name]()
    rule.learn(items, shown)
    rows = rule.rows(items, shown)
    assert np.flatnonzero(rows[0]).tolist() == [word]
    assert score_rows(rows, items, shown.words)[0, 0].tolist() == [1]


# --- on corpora, beside the numbers of independent programs


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
