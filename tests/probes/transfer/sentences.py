"""Sentences that ask for the number of a verb, and a planted model that agrees by one head."""

from collections.abc import Sequence
from itertools import product

from mha.models.masked_prediction import MaskedLM
from mha.planted.agreement import agreeing_model
from probes.causal.behaviours import Predictions, preferences
from probes.evidence.question import Effort
from probes.minimal_pairs import AGREEMENT, PLURAL, SINGULAR, Kind, MinimalPair
from probes.transfer.donors import verb_numbers

NOUNS = {"ship": "ships", "dog": "dogs", "rower": "rowers", "lamp": "lamps"}
VERBS = {"sink": "sinks", "swim": "swims", "move": "moves"}
FORMS = [form for pair in VERBS.items() for form in pair]
MARKS = {
    **dict.fromkeys(NOUNS, -1.0),
    **dict.fromkeys(NOUNS.values(), 1.0),
    **dict.fromkeys(("the", "old", "near", "port", "ports"), 0.0),
}
READ, UNREAD = (1, 2), (0, 1)
HEADS = [*product(range(2), range(3))]
EFFORT = Effort(400, 999, 0)


def pairs() -> list[MinimalPair]:
    """Return a pair for every noun, verb and number, a document a noun; some have a noun between, which is one more."""
    found = []
    for number, ((one, many), (plural, singular)) in enumerate(product(NOUNS.items(), VERBS.items())):
        for noun, right, wrong in ((one, singular, plural), (many, plural, singular)):
            far = number % 2
            before = ("the", *("old",) * (number % 3 == 0), noun, *("near", "the", "ports")[: 3 * far])
            condition, kind_number = "far" if far else "near", SINGULAR if noun == one else PLURAL
            kind = Kind("agreement", condition, far, kind_number, AGREEMENT)
            found.append(MinimalPair(one, kind, (*before, right), (*before, wrong)))
    return found


def planted() -> MaskedLM:
    return agreeing_model(MARKS, FORMS, [READ, UNREAD], READ, heads=3)


def asked(lm: MaskedLM, items: Sequence[MinimalPair] | None = None) -> Predictions:
    behaviour, left_out = verb_numbers(preferences(lm, "pairs", items or pairs()))
    assert not left_out
    return behaviour
