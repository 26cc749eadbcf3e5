import numpy as np
import pytest
import torch

from mha.causal.interventions import Patch, intervene
from mha.causal.sweep import head_outputs
from mha.models.masked_prediction import MaskedLM
from probes.causal.behaviours import Predictions
from probes.minimal_pairs import PLURAL
from probes.transfer.donors import draw_donors
from probes.transfer.margins import measure_transfer
from tests.probes.transfer.sentences import HEADS, asked


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
    assert found.shape == (2, 3)
    singles = [head_outputs(lm, behaviour.texts([item])) for item in range(len(behaviour.prompts))]
    place = [one.places[0] for one in behaviour.prompts]
    plural = [kind.number == PLURAL for kind in behaviour.kinds]
    for row in (0, 7, len(donors.recipients) - 1):
        item = int(donors.recipients[row])
        assert found.intact[row] == pytest.approx(margin(lm, behaviour, item), abs=1e-9)
        here = torch.arange(len(behaviour.prompts[item].text))[None] == place[item]
        for number, (layer, head) in enumerate(HEADS):
            every = [one[layer][0, head, at] for one, at in zip(singles, place, strict=True)]
            halves = [torch.stack([x for x, p in zip(every, plural, strict=True) if p == of]).mean(0) for of in (0, 1)]
            vectors = (every[donors.same[row]], every[donors.other[row]], sum(halves) / 2)
            for version, vector in enumerate(vectors):
                patch = Patch(layer, head, vector.expand(1, here.shape[1], -1), here)
                expected = margin(lm, behaviour, item, patch)
                assert found.patched[version, number, row] == pytest.approx(expected, abs=1e-9)
    again = measure_transfer(behaviour, donors, batch_pieces=1, side_by_side=1)
    np.testing.assert_allclose(again.patched, found.patched, rtol=0, atol=1e-9)
