"""Rules of experts: each on a sentence where it is right, or wrong, for its own reason; and on corpora."""

from pathlib import Path

import numpy as np
import pytest

from probes import Document, Mention, Sentence, get_probe
from probes.corpora.conllu import read_conllu
from probes.corpora.windows import windows
from probes.registry import probe_names
from probes.scoring.baseline_texts import Shown
from probes.scoring.baselines import BASELINES
from probes.scoring.expert_rules import RULES
from probes.scoring.scorer import score_rows
from probes.syntax.agreement import AMONG_NOUNS, FORTH
from probes.targets import Targets, gather
from probes.words.agreement_features import Features, features, of_mention

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


@pytest.mark.parametrize(
    ("name", "query", "word"),
    [("nearest noun", 5, 3), ("nearest noun that fits", 5, 0), ("first noun", 5, 0), ("nearest noun that fits", 0, 5)],
)
def test_agreement_is_looked_for_by_place_or_by_number(name: str, query: int, word: int) -> None:
    assert taken(name, KEYS, query) == [word]


def test_a_verb_that_no_noun_fits_gets_nothing() -> None:
    document = text(("ships", "NOUN", PLUR, 1, "nsubj"), ("is", "AUX", IS, -1, "root"))
    assert taken("nearest noun that fits", document, 1) == []
    assert taken("nearest noun", document, 1) == [0]


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
        ("nearest mention that fits", 4, 0),  # tales are many, a king is a man
        ("nearest mention that fits", 6, 2),
        ("same head word or fits", 7, 0),
        ("same head word or fits", 6, 2),
        ("nearest subject", 6, 4),
        ("same role", 6, 3),
        ("same role", 4, 0),
    ],
)
def test_an_antecedent_is_looked_for_by_features_words_and_roles(name: str, query: int, word: int) -> None:
    assert taken(name, STORY, query) == [word]
    assert taken(name, STORY, query, (1, 5)) == [], "no candidate is a mention"


def test_of_listed_candidates_the_one_that_fits_is_taken() -> None:
    assert taken("nearest mention that fits", STORY, 4, (0, 3)) == [0]
    assert taken("nearest mention that fits", STORY, 6, (0, 3)) == [0], "nothing says that Anna is a woman"


THAT = text(
    ("keys", "NOUN", PLUR, 5, "nsubj"),
    ("that", "PRON", "PronType=Rel", 3, "nsubj"),
    ("often", "ADV", "", 3, "advmod"),
    ("open", "VERB", IS.replace("Sing|Person=3", "Plur"), 0, "acl:relcl"),
    ("boxes", "NOUN", PLUR, 3, "obj"),
    ("break", "VERB", IS.replace("Sing|Person=3", "Plur"), -1, "root"),
)


@pytest.mark.parametrize(
    ("name", "word"), [("nearest noun", 1), ("nearest noun that fits", 1), ("first noun", 0), ("tag rule", 0)]
)
@pytest.mark.parametrize("variant", [FORTH, AMONG_NOUNS])
def test_a_relative_pronoun_and_its_noun_are_both_right(name: str, word: int, variant: str) -> None:
    """Of the first verb, which alone teaches the tag rule."""
    items, shown = gather("agreement", variant, [get_probe("agreement").targets(THAT)[variant]]), Shown([THAT])
    items, rule = items.take(np.array([0])), RULES[name]()
    rule.learn(items, shown)
    rows = rule.rows(items, shown)
    assert np.flatnonzero(rows[0]).tolist() == [word]
    assert score_rows(rows, items, shown.words)[0, 0].tolist() == [1]


def test_features_are_those_of_forms_morphology_and_titles() -> None:
    assert features("Her", "PRON", "") == Features("3", "Sing", "Fem")
    assert features("you", "PRON", "") == Features("2", "", "")
    assert features("queens", "NOUN", PLUR) == Features("3", "Plur", "Fem")
    assert features("who", "PRON", "PronType=Rel") == Features("", "", "")
    couple = text(
        ("Mrs.", "PROPN", SING, 1, "compound"), ("Bo", "PROPN", SING, -1, "root"), ("Ed", "PROPN", SING, 1, "conj")
    )
    assert of_mention(couple, 1, (0, 1)) == Features("3", "Sing", "Fem")
    assert of_mention(couple, 1, (0, 1, 2)).number == "Plur"
    assert not Features("1", "Sing", "").fits(Features("3", "Sing", ""))
    assert Features("", "Sing", "Fem").fits(Features("3", "", "Fem"))


def test_every_rule_that_a_probe_names_exists_and_no_baseline_has_its_name() -> None:
    named = {name for probe in probe_names() for name in get_probe(probe).rules}
    assert named == set(RULES)
    assert not set(RULES) & set(BASELINES)


@pytest.mark.slow
def test_person_number_and_gender_find_three_in_four_antecedents_of_pronouns(data_folder: Path) -> None:
    """An independent rule found 76.5 % on the same documents."""
    documents = read_conllu(data_folder / "ud_english_gum/en_gum-ud-dev.conllu")
    texts = [text for document in documents for text in windows(document, 100)]
    probe = get_probe("coreference")
    items = gather("c", "v", [probe.targets(text)["preceding mention heads"] for text in texts]).pooled(probe.pool)
    shown = Shown(texts)
    hits = score_rows(RULES["nearest mention that fits"]().rows(items, shown), items, shown.words)[:, 0]
    pronouns = items.label == items.labels.index("pronoun")
    assert pronouns.sum() == 1550
    assert float(hits[pronouns].mean()) == pytest.approx(0.743, abs=0.005)
