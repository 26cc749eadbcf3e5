import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from probes.grammar import generate
from probes.grammar.lexicon import GENERAL, NOUNS, RELATIVES
from probes.grammar.phrases import PRONOUNS
from probes.records import Document, Mention, Sentence

LIMIT = 0.7
SINGULAR, PLURAL = {"is", "was", "has", "does"}, {"are", "were", "have", "do"}
GENERAL_WORDS = {noun.singular for noun in GENERAL.values()} | {"man", "woman"}


@pytest.fixture(scope="module", params=["plain", "wide"])
def documents(request: pytest.FixtureRequest) -> list[Document]:
    return list(generate(700, seed=11, wide=request.param == "wide"))


@pytest.fixture(scope="module")
def sentences(documents: list[Document]) -> list[Sentence]:
    return [sentence for document in documents for sentence in document.sentences]


def feature(feats: str, name: str) -> str:
    return dict(part.split("=") for part in feats.split("|") if part).get(name, "")


def agreeing(sentence: Sentence) -> Iterator[tuple[int, int, int]]:
    """Yield the words that show number, the verb or predicate that they belong to, and its subject."""
    subjects = {int(sentence.heads[i]): i for i, deprel in enumerate(sentence.deprels) if deprel.startswith("nsubj")}
    for i, (word, feats) in enumerate(zip(sentence.words, sentence.feats, strict=True)):
        if feature(feats, "VerbForm") == "Fin" and feature(feats, "Number"):
            owner = int(sentence.heads[i]) if sentence.deprels[i].split(":")[0] in ("aux", "cop") else i
            shown = feature(feats, "Tense") == "Pres" or word.lower() in ("was", "were")
            if shown and owner in subjects:
                yield i, owner, subjects[owner]


def plural(sentence: Sentence, subject: int, owner: int) -> bool:
    """Return the number of a subject: that of its words if coordinated, of the noun before a relative pronoun."""
    if sentence.feats[subject] == "PronType=Rel":
        return plural(sentence, int(sentence.heads[owner]), owner)
    joined = any(sentence.heads[i] == subject and sentence.deprels[i] == "conj" for i in range(len(sentence)))
    return joined or feature(sentence.feats[subject], "Number") == "Plur"


def readings(sentence: Sentence, mention: Mention) -> set[str]:
    """Return the pronouns that a reader of this mention would accept."""
    head = mention.head
    feats = sentence.feats[head]
    joined = any(sentence.heads[i] == head and sentence.deprels[i] == "conj" for i in mention.words)
    if joined or feature(feats, "Number") == "Plur":
        return {"they"}
    gender = {"Masc": {"he"}, "Fem": {"she"}, "Neut": {"it"}}.get(feature(feats, "Gender"))
    return gender or ({"he", "she"} if feature(feats, "Animacy") == "Hum" else {"it"})


def paradigm(word: str, feats: str) -> str:
    """Return he, she, it or they for a form of it."""
    case = feature(feats, "Case")
    place = 3 if feature(feats, "Reflex") else {"Nom": 0, "Acc": 1, "Gen": 2}[case]
    (found,) = (kind for kind, forms in PRONOUNS.items() if forms[place] == word.lower() and forms[4] in agreed(feats))
    return found


def agreed(feats: str) -> str:
    return "|".join(part for part in feats.split("|") if part.startswith(("Gender", "Number")))


def best(right: Counter[object], asked: int) -> float:
    return max(right.values()) / asked


def test_what_seeds_give_in_the_plain_style_is_frozen():
    """Trainings and published pages rest on it: a construction that is added goes into the wide style."""
    found = hashlib.sha256()
    for document in (document for seed in (0, 1, 11) for document in generate(150, seed=seed)):
        parts = (document.id, document.words, document.heads.tolist(), document.deprels, document.upos)
        found.update(repr((*parts, document.feats, document.mentions, [len(s) for s in document.sentences])).encode())
    assert found.hexdigest() == "3addb4ea3c3225d482d3379579a289f1bce249cc1231887820518b4a9b62ac45"


def test_every_tree_has_one_root_and_no_cycle(sentences: list[Sentence]):
    for sentence in sentences:
        assert (sentence.heads < 0).sum() == 1
        assert [d for d, head in zip(sentence.deprels, sentence.heads, strict=True) if head < 0] == ["root"]
        for word in range(len(sentence)):
            for _ in range(len(sentence)):
                word = int(sentence.heads[word]) if word >= 0 else -1
            assert word == -1


@pytest.mark.slow
def test_verbs_agree_with_their_subjects(sentences: list[Sentence]):
    for sentence in sentences:
        for verb, owner, subject in agreeing(sentence):
            form, expected = sentence.words[verb].lower(), plural(sentence, subject, owner)
            shown = form in PLURAL or (form not in SINGULAR and not form.endswith("s"))
            assert shown == expected == (feature(sentence.feats[verb], "Number") == "Plur"), sentence.words


def test_a_mention_is_headed_by_its_only_word_with_a_head_outside(sentences: list[Sentence]):
    for sentence in sentences:
        for mention in sentence.mentions:
            assert mention.words == tuple(range(mention.words[0], mention.words[-1] + 1))
            assert [word for word in mention.words if sentence.heads[word] not in mention.words] == [mention.head]


def test_every_pronoun_agrees_with_exactly_one_entity_mentioned_shortly_before(documents: list[Document]):
    asked = 0
    for document in documents:
        kinds: dict[str, set[str]] = defaultdict(lambda: set(PRONOUNS))
        before: set[str] = set()
        for sentence in document.sentences:
            now: set[str] = set()
            for mention in sorted(sentence.mentions, key=first_word):
                feats = sentence.feats[mention.head]
                if sentence.upos[mention.head] == "PRON":
                    kind = paradigm(sentence.words[mention.head], feats)
                    fitting = {entity for entity in before | now if kind in kinds[entity]}
                    if feature(feats, "Reflex"):  # means the subject, however many agree
                        fitting &= {entity_of_subject(sentence, mention.head)}
                    assert fitting == {mention.entity}, sentence.words
                    asked += 1
                kinds[mention.entity] &= readings(sentence, mention)
                now.add(mention.entity)
            before = now
    assert asked > 1000


def entity_of_subject(sentence: Sentence, argument: int) -> str:
    """Return the entity of the whole subject of an argument's verb, for a relative pronoun that of its noun."""
    verb = int(sentence.heads[argument])
    verb = int(sentence.heads[verb]) if sentence.deprels[verb] == "xcomp" else verb  # tries to hide herself
    (subject,) = (i for i, head in enumerate(sentence.heads) if head == verb and sentence.deprels[i] == "nsubj")
    named = int(sentence.heads[verb]) if sentence.feats[subject] == "PronType=Rel" else subject
    return max((len(mention.words), mention.entity) for mention in sentence.mentions if mention.head == named)[1]


def first_word(mention: Mention) -> tuple[int, int]:
    """Order mentions as they are read; of two that begin together, the inner one is complete first."""
    return mention.words[0], mention.words[-1]


def test_a_noun_or_name_stands_for_one_entity_of_a_document(documents: list[Document]):
    known = {form for noun in (*NOUNS, *RELATIVES) for form in (noun.singular, noun.plural)} - GENERAL_WORDS
    for document in documents:
        named: dict[str, str] = {}
        for mention in document.mentions:
            if len([other for other in document.mentions if other.head == mention.head]) > 1:
                continue  # the first member of a group heads the group as well
            word = document.words[mention.head]
            if word.lower() in known or document.upos[mention.head] == "PROPN":
                assert named.setdefault(word.lower(), mention.entity) == mention.entity, document.id


def test_no_shallow_guess_finds_most_subjects(sentences: list[Sentence]):
    asked, nearest, left, offsets, forms = 0, 0, 0, Counter[object](), Counter[object]()
    for sentence in sentences:
        nominal = [i for i, tag in enumerate(sentence.upos) if tag in ("NOUN", "PROPN", "PRON")]
        for verb, _, subject in agreeing(sentence):
            asked += 1
            offsets[subject - verb] += 1
            forms[sentence.words[subject].lower()] += 1
            nearest += min((i for i in nominal if i != verb), key=lambda i: (abs(i - verb), i)) == subject
            left += max((i for i in nominal if i < verb), default=-1) == subject
    guesses = {
        "fixed offset": best(offsets, asked),
        "nearest nominal": nearest / asked,
        "nearest nominal to the left": left / asked,
        "one word form": best(forms, asked),
    }
    assert max(guesses.values()) <= LIMIT
