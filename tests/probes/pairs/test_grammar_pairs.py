from collections import Counter
from itertools import islice

import pytest

from probes.grammar import generate
from probes.minimal_pairs import MinimalPair
from probes.pairs.grammar_pairs import grammar_pairs, other_number
from probes.syntax.agreement import agreements


@pytest.fixture(scope="module")
def pairs() -> list[MinimalPair]:
    return list(islice(grammar_pairs(3), 800))


def test_every_pair_differs_in_its_verb_alone(pairs: list[MinimalPair]) -> None:
    for pair in pairs:
        changed = [(one, other) for one, other in zip(pair.good, pair.bad, strict=True) if one != other]
        assert len(changed) == 1
        (right, wrong), number = changed[0], pair.kind.number
        assert wrong == other_number(right, plural=number == "plural")
        assert other_number(wrong, plural=number == "singular") == right
        assert (right.lower().endswith("s"), wrong.lower().endswith("s")) == (
            (True, False) if number == "singular" else (False, True)
        )


def test_right_sentences_are_those_of_the_grammar_once_for_each_verb_that_shows_number(
    pairs: list[MinimalPair],
) -> None:
    expected = Counter()
    for document in generate(60, 3):
        for sentence in document.split_sentences():
            for found in agreements(sentence):
                expected[document.id, sentence.words, found.verb] += 1
    seen = Counter()
    for pair in pairs:
        verb = next(i for i, (one, other) in enumerate(zip(pair.good, pair.bad, strict=True)) if one != other)
        seen[pair.source, pair.good, verb] += 1
    assert len(expected) > 300
    assert expected.items() <= seen.items()


def test_attractors_and_conditions_are_told(pairs: list[MinimalPair]) -> None:
    attractors = Counter(pair.kind.attractors for pair in pairs)
    assert min(attractors[0], attractors[1], attractors[2], attractors[None]) > 10
    conditions = Counter(pair.kind.condition for pair in pairs)
    assert set(conditions) == {
        *("main clause", "relative clause", "adverbial clause", "complement clause"),
        *("question", "coordinated subject"),
    }
    for pair in pairs:
        assert (pair.kind.attractors is None) == (pair.kind.condition == "coordinated subject")
        if pair.kind.condition == "question" and pair.good != pair.bad:
            assert pair.good[-1] == "?"
