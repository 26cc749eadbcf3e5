from collections import Counter
from collections.abc import Callable

from probes.pairs.negation_and_roles import AFFIRMED, KINDS, NEGATED, ROLES, negation_pairs, role_pairs
from probes.pairs.scores import CLOZE, Decision, Decisions
from probes.pairs.table import pair_table


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


def test_the_two_sentences_of_a_pair_about_roles_have_one_verb_and_the_nouns_in_either_order() -> None:
    pairs = [*role_pairs()]
    assert len(pairs) == 2 * 4 * len(ROLES)
    for pair in pairs:
        assert sorted(pair.good) == sorted(pair.bad)
        assert (pair.good[3], pair.good[5]) == (pair.bad[5], pair.bad[3])
        assert pair.shared == 7
        assert pair.good[7] == pair.bad[7]


def accuracy(probability: Callable[[str, str, str], float]) -> tuple[float, dict[str, float]]:
    """Return the accuracy, of all and by condition, of a model of a verb after a first and a second noun."""
    words = [(pair, pair.good[7], pair.good[3], pair.good[5]) for pair in role_pairs()]
    made = [
        Decision(pair.source, pair.kind, CLOZE, probability(verb, one, other), probability(verb, other, one))
        for pair, verb, one, other in words
    ]
    table = pair_table({"role-reversal": Decisions(made)}, replicates=50, seed=0)
    (whole,) = table[table.level == "corpus"].accuracy
    by_condition = table[table.level == "condition"].set_index("condition").accuracy.to_dict()
    return float(whole), {str(name): float(value) for name, value in by_condition.items()}


def test_who_prefers_a_fixed_verb_whatever_the_order_is_right_in_half_of_the_pairs() -> None:
    assert accuracy(lambda verb, first, second: float(len(verb)))[0] == 0.5


def test_who_hears_the_order_is_right_in_all_pairs() -> None:
    suits = {(agent, done) for agent, _, done, _ in ROLES} | {(other, back) for _, other, _, back in ROLES}
    assert accuracy(lambda verb, first, second: float((second, verb) in suits) - float((first, verb) in suits))[0] == 1
    turned = accuracy(lambda verb, first, second: float((first, verb) in suits) - float((second, verb) in suits))
    assert turned[0] == 0
