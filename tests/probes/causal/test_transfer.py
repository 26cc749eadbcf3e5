"""Donors, margins with what a head gave in them, and the table, in a planted model whose verb agrees by one head."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from mha.causal.interventions import Patch, intervene
from mha.causal.sweep import head_outputs
from mha.models.masked_prediction import MaskedLM
from probes.causal.behaviours import BehaviourError, Predictions, Prompt, preferences
from probes.causal.transfer import VERSIONS, Donors, draw_donors, measure_transfer, transfer_table, verb_numbers
from probes.evidence.question import Effort
from probes.minimal_pairs import AGREEMENT, PLURAL, REFLEXIVES, SINGULAR, Kind, MinimalPair
from probes.records import frozen_ints
from tests.mha.planted.agreement import agreeing_model
from tests.probes.causal.test_patching import NOUNS, READ, UNREAD, spread

VERBS = {"sink": "sinks", "swim": "swims", "move": "moves"}
FORMS = [form for pair in VERBS.items() for form in pair]
MARKS = {
    **dict.fromkeys(NOUNS, -1.0),
    **dict.fromkeys(NOUNS.values(), 1.0),
    **dict.fromkeys(("the", "old", "near", "port", "ports"), 0.0),
}
HEADS = [*product(range(2), range(3))]
EFFORT = Effort(400, 0)


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


@pytest.fixture(scope="module")
def lm() -> MaskedLM:
    return spread(planted())


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


def margin(lm: MaskedLM, behaviour: Predictions, item: int, *changes: Patch) -> float:
    texts = behaviour.texts([item])
    with torch.no_grad(), intervene(lm.module, *changes):
        logits = lm.read(texts.ids, texts.real, texts.selected)[0]
    right, wrong = behaviour.prompts[item].wanted
    return float(logits[right] - logits[wrong])


def test_margins_are_those_of_one_patch_of_one_text_at_a_time(lm: MaskedLM) -> None:
    behaviour = asked(lm)
    donors, _ = draw_donors(behaviour, 3)
    done: list[int] = []
    found = measure_transfer(behaviour, donors, batch_pieces=40, side_by_side=60, step=done.append)
    assert sum(done) == len(donors.recipients)
    intact, patched = found[0], found[1:].reshape(len(VERSIONS), len(HEADS), -1)
    singles = [head_outputs(lm, behaviour.texts([item])) for item in range(len(behaviour.prompts))]
    place = [one.places[0] for one in behaviour.prompts]
    plural = [kind.number == PLURAL for kind in behaviour.kinds]
    for row in (0, 7, len(donors.recipients) - 1):
        item = int(donors.recipients[row])
        assert intact[row] == pytest.approx(margin(lm, behaviour, item), abs=1e-9)
        here = torch.arange(len(behaviour.prompts[item].text))[None] == place[item]
        for number, (layer, head) in enumerate(HEADS):
            every = [one[layer][0, head, at] for one, at in zip(singles, place, strict=True)]
            halves = [torch.stack([x for x, p in zip(every, plural, strict=True) if p == of]).mean(0) for of in (0, 1)]
            vectors = (every[donors.same[row]], every[donors.other[row]], sum(halves) / 2)
            for version, vector in enumerate(vectors):
                patch = Patch(layer, head, vector.expand(1, here.shape[1], -1), here)
                expected = margin(lm, behaviour, item, patch)
                assert patched[version, number, row] == pytest.approx(expected, abs=1e-9)
    again = measure_transfer(behaviour, donors, batch_pieces=1, side_by_side=1)
    np.testing.assert_allclose(again, found, rtol=0, atol=1e-9)


def test_the_planted_head_that_is_read_transfers_and_no_other_does() -> None:
    behaviour = asked(planted())
    donors, _ = draw_donors(behaviour, 0)
    table = transfer_table(behaviour, donors, measure_transfer(behaviour, donors), (2, 3), EFFORT)
    table = table.set_index(["layer", "head"])
    carrier = table.loc[READ]
    assert carrier["intact"] > 2
    assert carrier["same"] == pytest.approx(carrier["intact"], rel=0.05)
    assert carrier["other"] == pytest.approx(-carrier["intact"], rel=0.05)
    assert abs(carrier["mean"]) < 0.3
    assert carrier["transfer"] == pytest.approx(2 * carrier["intact"], rel=0.05)
    assert carrier["transfer_low"] > 0.9 * carrier["transfer"]
    assert carrier[["accuracy", "accuracy_same", "accuracy_other", "points"]].tolist() == [1, 1, 0, 1]
    others = table.drop(index=[READ])
    assert others["transfer"].abs().max() < 0.1, "by LayerNorm's scale alone"
    assert (others["points"] == 0).all()


def test_the_table_of_a_case_worked_out_by_hand(lm: MaskedLM) -> None:
    """Two heads, four recipients: the first head transfers 4 nats, the second the half of what the mean does too."""
    behaviour = asked(lm)
    donors = Donors(*(frozen_ints([0, 6, 12, 18]) for _ in range(3)), np.array([True, True, True, False]))
    same = [[3.0, 2, 1, 2], [1, -1, 1, 0]]
    other = [[-1.0, -2, -3, -2], [0, 0, 0, -2]]
    mean = [[1.0, 0, -1, 0], [2, 0, 2, 0]]
    margins = np.array([[3.0, 3, 1, -1], *same, *other, *mean])
    table = transfer_table(behaviour, donors, margins, (1, 2), EFFORT, alpha=0.3)
    first, second = table.to_dict("records")
    assert (first["name"], second["name"]) == ("1-1", "1-2")
    assert (first["n"], first["clusters"], first["matched"]) == (4, 4, 0.75)
    assert (first["intact"], first["same"], first["other"], first["mean"]) == (1.5, 2, -2, 0)
    assert (first["transfer"], first["transfer_low"], first["transfer_high"]) == (4, 4, 4)
    assert (first["over_mean"], second["over_mean"]) == (2, -0.75)
    assert (second["transfer"], second["same"], second["other"]) == (0.75, 0.25, -0.5)
    assert second["transfer_low"] < 0.75 < second["transfer_high"]
    accuracies = [f"accuracy_{version}" for version in VERSIONS]
    assert [first[name] for name in ("accuracy", *accuracies, "points")] == [0.75, 1, 0, 0.5, 1]
    assert [second[name] for name in (*accuracies, "points")] == [0.625, 0.375, 0.75, 0.25]
    assert first["p"] == 2 / 16, "as small as it gets for four clusters"
    assert [first["transfers"], second["transfers"]] == [True, False]
    assert not transfer_table(behaviour, donors, margins, (1, 2), EFFORT, alpha=0.05)["transfers"].any()
