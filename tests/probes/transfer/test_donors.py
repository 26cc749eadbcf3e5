from dataclasses import replace

import pytest

from mha.models.masked_prediction import MaskedLM
from probes.causal.behaviours import BehaviourError, Predictions, Prompt, preferences
from probes.minimal_pairs import REFLEXIVES, SINGULAR, Kind
from probes.transfer.donors import draw_donors, verb_numbers
from tests.probes.transfer.sentences import asked, pairs


def test_donors_are_other_sentences_with_another_verb_the_right_answers_and_one_place(lm: MaskedLM) -> None:
    behaviour = asked(lm)
    donors, left_out = draw_donors(behaviour, 0)
    assert len(donors.recipients) + len(left_out) == len(behaviour.prompts)
    assert len(donors.recipients) > 20
    assert donors.matched.any()
    for item, same, other, matched in zip(donors.recipients, donors.same, donors.other, donors.matched, strict=True):
        kind, one, another = (behaviour.kinds[at] for at in (item, same, other))
        assert one.number == kind.number != another.number
        assert ((one.condition, another.condition) == (kind.condition,) * 2) == matched
        assert behaviour.prompts[same].places == behaviour.prompts[other].places
        for donor in (same, other):
            assert behaviour.clusters[donor] != behaviour.clusters[item]
            assert {*behaviour.prompts[donor].wanted} != {*behaviour.prompts[item].wanted}
            assert behaviour.prompts[donor].text.ids.tolist() != behaviour.prompts[item].text.ids.tolist()


def test_the_seed_and_the_texts_decide_the_donors_and_their_order_does_not(lm: MaskedLM) -> None:
    one, again, other = (draw_donors(asked(lm), seed)[0] for seed in (0, 0, 1))
    assert one.same.tolist() == again.same.tolist()
    assert one.other.tolist() == again.other.tolist()
    assert one.same.tolist() != other.same.tolist()
    behaviour, turned = asked(lm), asked(lm, pairs()[::-1])
    last = len(pairs()) - 1
    backwards = draw_donors(turned, 0)[0]
    drawn = dict(zip(one.recipients.tolist(), zip(one.same.tolist(), one.other.tolist(), strict=True), strict=True))
    for item, same, rest in zip(backwards.recipients, backwards.same, backwards.other, strict=True):
        assert drawn[last - int(item)] == (last - int(same), last - int(rest))
    assert behaviour.clusters == turned.clusters[::-1]


def test_other_behaviours_are_refused_and_other_items_left_out_with_the_reason(lm: MaskedLM) -> None:
    made = pairs()
    about = Kind("reflexives", "", 0, SINGULAR, REFLEXIVES)
    unknown = replace(made[1].kind, number="")
    long = (*made[2].good[:-1], "old", made[2].good[-1])
    odd = [replace(made[0], kind=about), replace(made[1], kind=unknown), replace(made[2], bad=long)]
    behaviour, left_out = verb_numbers(preferences(lm, "pairs", [*odd, *made[3:]]))
    assert len(behaviour.prompts) == len(made) - 3
    assert [one.item for one in behaviour.prompts] == [*range(len(made) - 3)]
    assert [one.reason for one in left_out] == [
        "no agreement of a verb",
        "the number of the verb is not known",
        "not decided at one masked place",
    ]
    with pytest.raises(BehaviourError, match=r"odd: .* of 2 items none asks for it \(no agreement of a verb\)"):
        verb_numbers(preferences(lm, "odd", odd[:2]))
    one = behaviour.prompts[0]
    texts = Predictions("masked-LM loss", "nats", lm, [Prompt(one.text, 0, one.places, (7,), (1.0,))], ("d",))
    with pytest.raises(BehaviourError, match=r"masked-LM loss: .* take minimal pairs of agreement"):
        verb_numbers(texts)
    alone = asked(lm, [pair for pair in made if pair.good[-1] in ("sink", "sinks")])
    with pytest.raises(BehaviourError, match="pairs: none of 8 items has donors"):
        draw_donors(alone, 0)
