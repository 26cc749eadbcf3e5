from collections import Counter

from probes.pairs.negation_and_roles import AFFIRMED, KINDS, NEGATED, ROLES, negation_pairs, role_pairs


def test_not_turns_what_is_true_round() -> None:
    pairs = {(pair.kind.condition, pair.good): pair for pair in negation_pairs()}
    affirmed = pairs[AFFIRMED, ("oak", "is", "a", "kind", "of", "tree", ".")]
    assert ("oak", "is", "not", "a", "kind", "of", "bird", ".") in {good for _, good in pairs}
    assert not {good for name, good in pairs if name == NEGATED and good[0] == "oak" and good[-2] == "tree"}
    assert affirmed.bad[-2] in set(KINDS) - {"tree"}


def test_who_does_not_hear_not_is_right_in_half_of_the_pairs() -> None:
    deaf = Counter(
        (pair.kind.condition, pair.good[-2] in KINDS and pair.good[0] in KINDS[pair.good[-2]])
        for pair in negation_pairs()
    )
    words = sum(map(len, KINDS.values()))
    assert deaf == {(AFFIRMED, True): 5 * words, (NEGATED, False): 5 * words}


def test_no_word_belongs_to_two_kinds() -> None:
    words = [word for named in KINDS.values() for word in named]
    assert len(words) == len(set(words))


def test_the_two_sentences_of_a_pair_differ_in_one_word() -> None:
    for pair in (*negation_pairs(), *role_pairs()):
        assert len(pair.good) == len(pair.bad)
        assert sum(one != other for one, other in zip(pair.good, pair.bad, strict=True)) == 1


def test_both_orders_have_the_same_words_and_the_other_verb() -> None:
    pairs = [*role_pairs()]
    assert len(pairs) == 2 * 4 * len(ROLES)
    usual = [pair for pair in pairs if pair.kind.condition == "usual"]
    for one in usual:
        (other,) = (
            pair
            for pair in pairs
            if pair.kind.condition == "reversed" and pair.source == one.source and pair.good[:2] == one.good[:2]
        )
        assert sorted(other.bad) == sorted(one.good)
        assert sorted(other.good) == sorted(one.bad)
        assert other.good[3] == one.good[5]
