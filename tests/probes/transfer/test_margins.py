from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mha import export_encoder, load_model
from mha.causal.interventions import Patch, intervene
from mha.causal.sweep import head_outputs
from mha.encoder.encoder import Encoder
from mha.models.circuits import layers_of
from mha.models.hub import load_hub_model
from mha.models.masked_prediction import MASKS, MaskedLM
from mha.models.model import Model
from mha.planted.agreement import agreeing_model
from mha.planted.heads import SPECIAL, _word_tokenizer
from mha.training.vocabulary import save_tokenizer
from probes.causal.behaviours import Predictions
from probes.minimal_pairs import PLURAL
from probes.transfer.donors import draw_donors
from probes.transfer.margins import masked_outputs, measure_transfer
from probes.transfer.table import transfer_table
from tests.probes.transfer.sentences import EFFORT, FORMS, HEADS, MARKS, asked, planted


def placed_model() -> MaskedLM:
    """Return a model whose first head gives a code of the place alone, its second a constant; both move the answer.

    Words and places are vectors of one length with a mean of 0 in entries of their own: no LayerNorm mixes them.
    """
    words = (*SPECIAL, MASKS[0], *sorted({*MARKS, *FORMS}))
    vocabulary = {piece: i for i, piece in enumerate(words)}
    places, heads, size = 16, 3, 96
    made = agreeing_model(MARKS, FORMS, [], None, layers=1, heads=heads, head_dim=size // heads)
    encoder = made.module
    assert isinstance(encoder, Encoder)
    assert encoder.token_types is not None
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.normal_(0, 0.3, generator=generator)
        for part in (encoder.pieces, encoder.positions, encoder.token_types, encoder.embedding_norm):
            part.weight.zero_()
        encoder.embedding_norm.weight.fill_(1)
        encoder.embedding_norm.bias.zero_()
        for word in range(len(words)):
            encoder.pieces.weight[word, [2 * word, 2 * word + 1]] = torch.tensor([1.0, -1.0])
        for place in range(places):
            encoder.positions.weight[place, [64 + 2 * place, 65 + 2 * place]] = torch.tensor([1.0, -1.0])
        attention = layers_of(encoder)[0].attention
        for number, weights in enumerate((attention.W_Q, attention.W_K, attention.W_V)):
            weights[:2] = 0
            attention.bias(number)[:2] = 0
            for place in range(places):
                weights[0, 64 + 2 * place, place] = 1 if number == 2 else 9
        attention.bias(2)[1] = 0.7
    model = Model("placed", "planted", "bert", encoder, _word_tokenizer(vocabulary), 1, heads, 64, 0, "")
    return MaskedLM.of(model)


def test_a_constant_head_and_one_that_gives_the_place_alone_transfer_nothing() -> None:
    behaviour = asked(placed_model())
    outputs = masked_outputs(behaviour)
    place = [one.places[0] for one in behaviour.prompts]
    expected = torch.zeros_like(outputs[:, 0, 0])
    expected[torch.arange(len(place)), torch.tensor(place)] = outputs[0, 0, 0, place[0]]
    torch.testing.assert_close(outputs[:, 0, 0], expected, rtol=0, atol=1e-5)
    assert len(set(place)) > 3
    torch.testing.assert_close(outputs[:, 0, 1], torch.full_like(outputs[:, 0, 1], 0.7), rtol=0, atol=1e-6)
    donors, _ = draw_donors(behaviour, 0)
    margins = measure_transfer(behaviour, donors)
    transfer = np.abs(margins.patched[0] - margins.patched[1])
    assert transfer[:2].max() < 1e-6
    assert transfer[2].max() > 0.01, "the third gives what its sentence holds"
    moved = np.abs(margins.patched[0, 0] - margins.intact)
    assert moved.max() > 0.01, "another place moves the answer, but both donors have the same place"
    table = transfer_table(behaviour, donors, margins, EFFORT)
    assert table["p"].tolist()[:2] == [1, 1]
    assert not table["transfers"][:2].any()


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


def test_a_model_of_transformers_gives_what_the_same_weights_give_in_our_encoder(tmp_path: Path) -> None:
    source = planted()
    assert isinstance(source.module, Encoder)
    export_encoder(source.module, tmp_path)
    save_tokenizer(source.model.tokenizer, tmp_path, 512)
    own = load_model(str(tmp_path))
    found = []
    for reader in (MaskedLM.of(own), MaskedLM.of(replace(own, module=load_hub_model(own.name)))):
        behaviour = asked(reader)
        found.append(measure_transfer(behaviour, draw_donors(behaviour, 0)[0]))
    np.testing.assert_allclose(found[0].patched, found[1].patched, rtol=0, atol=1e-4)
    assert np.abs(found[0].patched[0] - found[0].patched[1]).max() > 1
