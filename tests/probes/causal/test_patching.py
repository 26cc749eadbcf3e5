from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from mha.causal.interventions import Patch, intervene
from mha.causal.sweep import head_outputs
from mha.encoder.encoder import Encoder
from mha.models.masked_prediction import MaskedLM
from probes.causal.patching import (
    ROLES,
    SPECIAL,
    Effects,
    PatchItem,
    _texts,
    agreements,
    measure_patching,
    patch_items,
    patch_table,
)
from probes.evidence.question import Effort
from probes.minimal_pairs import Kind
from probes.pairs.number_swaps import NumberSwap
from reports.tables.effects import ALL_PLACES as ALL
from tests.mha.planted.agreement import agreeing_model
from tests.small_words import randomise_weights

NOUNS = {"ship": "ships", "dog": "dogs", "rower": "rowers", "lamp": "lamps"}
MARKS = {
    **dict.fromkeys(NOUNS, -1.0),
    **dict.fromkeys(NOUNS.values(), 1.0),
    **dict.fromkeys(("the", "old", "near", "port", "ports", "often"), 0.0),
}
READ, UNREAD = (1, 2), (0, 1)
OTHERS = [(layer, head) for layer in range(2) for head in range(3) if (layer, head) not in (READ, UNREAD)]


def swaps() -> list[NumberSwap]:
    """Return sentences of several lengths about each noun, in both directions; two a cluster."""
    found = []
    for number, (one, other) in enumerate([*NOUNS.items(), *((b, a) for a, b in NOUNS.items())] * 4):
        clean = ("the", one, *("near", "the", "ports")[: 3 * (number % 2)], *("old",) * (number % 3), "sink")
        roles = ["determiner", "subject", *["other"] * (len(clean) - 3), "verb"]
        if number % 2:
            roles[4] = "attractor"
        right, wrong = ("sink", "sinks") if one in NOUNS.values() else ("sinks", "sink")
        clean = (*clean[:-1], right)
        corrupted = ("the", other, *clean[2:])
        kind = Kind("agreement", number="plural" if right == "sink" else "singular")
        found.append(NumberSwap(f"d{number // 2}", kind, clean, corrupted, len(clean) - 1, wrong, tuple(roles)))
    return found


def planted(read: tuple[int, int] | None = READ, norm: str = "post") -> MaskedLM:
    return agreeing_model(MARKS, ("sink", "sinks"), [READ, UNREAD], read, heads=3, norm=norm)


def spread(lm: MaskedLM) -> MaskedLM:
    """Return a model with weights drawn anew, in which every head moves every answer, in double precision."""
    randomise_weights(lm.module, std=0.3, norms=False)
    return replace(lm, module=lm.module.double())


@pytest.fixture(scope="module")
def lm() -> MaskedLM:
    return spread(planted())


def asked(lm: MaskedLM) -> list[PatchItem]:
    items, left_out = patch_items(lm, swaps())
    assert not left_out
    return items


EFFORT = Effort(400, 0)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_patching_and_its_estimate_point_to_the_planted_head_and_to_no_other(norm: str) -> None:
    lm = planted(norm=norm)
    items = asked(lm)
    effects = measure_patching(lm, items)
    table = patch_table(items, effects, EFFORT).set_index(["role", "layer", "head"])
    every = table.loc[ALL]
    assert every.loc[READ, "share"] == pytest.approx(1, abs=0.05)
    assert 0.3 < every.loc[READ, "estimate"] < 1, "LayerNorm bends the path, and the answer turns over"
    assert every.loc[READ, "ci_low"] > 0.9
    assert every.loc[READ, "p_adjusted"] < 0.05
    assert every.loc[[UNREAD, *OTHERS], "share"].abs().max() < 0.03
    assert every.loc[[UNREAD, *OTHERS], "estimate"].abs().max() < 0.1, "by LayerNorm's scale alone"
    assert table.loc[("verb", *READ), "share"] == pytest.approx(every.loc[READ, "share"], abs=1e-4)
    elsewhere = [role for role in ROLES if role != "verb"]
    assert table.loc[elsewhere, "share"].abs().max() < 0.03, "in the last layer the head writes where the verb is"


def difference(lm: MaskedLM, item: PatchItem, version: str, *changes: Patch) -> float:
    texts = _texts(lm, [item], version)
    with torch.no_grad(), intervene(lm.module, *changes):
        logits = lm.read(texts.ids, texts.real, texts.selected)[0]
    return float(logits[item.forms[0]] - logits[item.forms[1]])


@pytest.mark.slow
def test_effects_are_those_of_patching_one_head_at_one_place_of_one_text_at_a_time(lm: MaskedLM) -> None:
    items = asked(lm)[:5]
    effects = measure_patching(lm, items, batch_pieces=60, side_by_side=70)
    expected = np.zeros((5, 2, 3, len(ROLES)))
    for number, item in enumerate(items):
        clean, corrupted = (difference(lm, item, version) for version in ("clean", "corrupted"))
        assert float(effects.clean[number]) == pytest.approx(clean, abs=1e-9)
        assert float(effects.corrupted[number]) == pytest.approx(corrupted, abs=1e-9)
        outputs = head_outputs(lm, _texts(lm, [item], "clean"))
        for layer, head in [(layer, head) for layer in range(2) for head in range(3)]:
            whole = difference(lm, item, "corrupted", Patch(layer, head, outputs[layer][:, head])) - corrupted
            assert float(effects.whole[number, layer, head]) == pytest.approx(whole, abs=1e-9)
            for place, role in enumerate(item.roles.tolist()):
                at = torch.arange(len(item.roles))[None] == place
                patch = Patch(layer, head, outputs[layer][:, head], at)
                expected[number, layer, head, role] += difference(lm, item, "corrupted", patch) - corrupted
    np.testing.assert_allclose(effects.placed, expected, rtol=0, atol=1e-9)
    assert np.abs(expected).max() > 1e-3


def test_estimates_are_the_slope_of_patching_a_little(lm: MaskedLM) -> None:
    (item,) = asked(lm)[1:2]
    estimated = measure_patching(lm, [item]).estimated[0]
    there, here = (head_outputs(lm, _texts(lm, [item], version)) for version in ("clean", "corrupted"))
    corrupted, step = difference(lm, item, "corrupted"), 1e-5
    for layer, head in [(0, 0), (1, 2)]:
        moved = here[layer][:, head] + step * (there[layer] - here[layer])[:, head]
        for role in set(item.roles.tolist()):
            at = torch.from_numpy(item.roles.copy())[None] == role
            slope = (difference(lm, item, "corrupted", Patch(layer, head, moved, at)) - corrupted) / step
            assert float(estimated[layer, head, role]) == pytest.approx(slope, rel=1e-3, abs=1e-7)


def test_a_linear_readout_is_attributed_directly_and_other_models_say_why_not() -> None:
    lm = planted(norm="pre")
    items = asked(lm)
    curved = measure_patching(lm, items)
    assert curved.direct is None
    assert "nonlinear transform" in curved.why_not
    assert "direct_rho" not in agreements(items, curved, EFFORT)
    assert patch_table(items, curved, EFFORT)["direct"].isna().all()
    encoder = lm.module
    assert isinstance(encoder, Encoder)
    head = nn.Linear(48, encoder.config.vocab)
    with torch.no_grad():
        head.weight[:] = encoder.lm_head.decoder.weight @ encoder.lm_head.transform.weight  # type: ignore[union-attr]
    encoder.lm_head = head  # type: ignore[assignment]
    straight = measure_patching(lm, items)
    assert straight.direct is not None
    assert straight.why_not == ""
    table = patch_table(items, straight, EFFORT).set_index(["role", "layer", "head"]).loc[ALL]
    assert table.loc[READ, "direct"] == pytest.approx(table.loc[READ, "share"], abs=0.05)
    assert table.loc[[UNREAD, *OTHERS], "direct"].abs().max() < 0.05
    assert agreements(items, straight, EFFORT)["direct_slope"] == pytest.approx(1, abs=0.05)


def swap(clean: str, corrupted: str, wrong: str, verb: int = 2) -> NumberSwap:
    words = tuple(clean.split())
    roles = ("determiner", "subject", *["verb"] * (len(words) - 2))
    return NumberSwap("d", Kind("agreement"), words, tuple(corrupted.split()), verb, wrong, roles)


def test_words_of_several_pieces_are_left_out_where_they_do_not_align(tokenizer: Tokenizer) -> None:
    lm = planted()
    lm = replace(lm, model=replace(lm.model, tokenizer=tokenizer))  # which cuts words
    items, left_out = patch_items(
        lm,
        [
            swap("the ship is", "the ships is", "are"),
            swap("the harbour is", "the harbours is", "are"),
            swap("the ship walking", "the ships walking", "is"),
            swap("the walking is", "the unsinkable is", "are"),
        ],
    )
    assert [one.reason for one in left_out] == [
        "clean and corrupted pieces do not align",
        "a verb form of several pieces",
        "clean and corrupted pieces do not align",
    ]
    (item,) = items
    assert [ROLES[role] for role in item.roles] == [SPECIAL, "determiner", "subject", "verb", SPECIAL]
    assert item.place == 3
    assert item.clean.ids[3] == item.corrupted.ids[3] == lm.mask
    assert (item.clean.ids != item.corrupted.ids).tolist() == [False, False, True, False, False]


def table_of(items: Sequence[PatchItem], **effects: Tensor) -> Effects:
    zero = torch.zeros(len(items), 1, 2, len(ROLES))
    given = {"whole": zero[..., 0], "placed": zero, "estimated": zero, **effects}
    return Effects(**given, direct=None, why_not="")


def test_shares_are_ratios_of_sums_over_the_items_that_have_the_role() -> None:
    items = asked(planted())[:2]  # the second has an attractor
    clean, corrupted = torch.tensor([3.0, 2.0]), torch.tensor([-1.0, 1.0])
    placed = torch.zeros(2, 1, 2, len(ROLES))
    placed[:, 0, 1, ROLES.index("subject")] = torch.tensor([1.0, 0.5])
    placed[1, 0, 0, ROLES.index("attractor")] = 0.25
    whole = torch.tensor([[[2.0, 0.0]], [[1.0, -0.5]]])
    found = patch_table(items, table_of(items, clean=clean, corrupted=corrupted, whole=whole, placed=placed), EFFORT)
    found = found.set_index(["role", "head"])
    assert found.loc[(ALL, 0), "share"] == pytest.approx(3 / 5)
    assert found.loc[(ALL, 1), "share"] == pytest.approx(-0.5 / 5)
    assert found.loc[("subject", 1), "share"] == pytest.approx(1.5 / 5)
    assert found.loc[("attractor", 0), "share"] == pytest.approx(0.25 / 1)
    assert found.loc[("attractor", 0), "n"] == 1
    assert found.loc[("subject", 0), ["n", "clusters"]].tolist() == [2, 1]


@pytest.mark.parametrize(("losing", "bounded"), [(28, True), (16, False)])
def test_a_share_of_what_may_be_nothing_has_no_interval(losing: int, bounded: bool) -> None:
    """As many of 30 sentences lose 1, the others gain 1."""
    items = [replace(asked(planted())[0], source=f"d{i}") for i in range(30)]
    clean = torch.where(torch.arange(30) < losing, 1.0, -1.0)
    effects = table_of(items, clean=clean, corrupted=torch.zeros(30), whole=torch.ones(30, 1, 2))
    one = patch_table(items, effects, EFFORT).set_index("role").loc[ALL].iloc[0]
    assert one["share"] == pytest.approx(30 / (2 * losing - 30))
    assert one[["ci_low", "ci_high"]].notna().tolist() == [bounded, bounded]
    assert one["p"] < 0.01, "what is gained is sure, its share is not"


def test_agreement_of_estimates_has_results_by_rank_and_size() -> None:
    items = [replace(asked(planted())[0], source=f"d{i}") for i in range(12)]
    estimated = torch.zeros(12, 1, 2, len(ROLES))
    estimated[:, 0, 0, 0], estimated[:, 0, 1, 1] = 1.0, 0.5
    whole = torch.tensor([[[2.0, 1.0]]]).repeat(12, 1, 1)
    effects = table_of(items, clean=torch.ones(12), corrupted=-torch.ones(12), whole=whole, estimated=estimated)
    told = {"estimate_rho": 1, "estimate_low": 1, "estimate_high": 1, "estimate_slope": 0.5}
    assert agreements(items, effects, EFFORT) == pytest.approx(told)


def test_a_head_that_harms_is_found_as_surely_as_one_that_restores() -> None:
    items = [replace(asked(planted())[0], source=f"d{i}") for i in range(30)]
    noise = torch.randn(30, generator=torch.Generator().manual_seed(0))
    whole = torch.stack([noise * 0.2 - 1, noise], 1)[:, None]
    effects = table_of(items, clean=torch.ones(30), corrupted=-torch.ones(30), whole=whole)
    found = patch_table(items, effects, EFFORT)
    harmful, idle = found[found["role"] == ALL].to_dict("records")
    assert harmful["share"] == pytest.approx(float(whole[:, 0, 0].mean()) / 2)
    assert harmful["p"] <= 0.01
    assert harmful["p_label"] <= harmful["p_adjusted"] < 0.05
    assert harmful["ci_low"] < harmful["share"] < harmful["ci_high"] < 0
    assert idle["p_adjusted"] > 0.1
