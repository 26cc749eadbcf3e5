"""What the planted masked LMs answer, on which head it hangs, and that nothing else reaches the answer."""

import pytest
import torch
from torch import Tensor

from mha.causal.interventions import Ablate, intervene
from mha.hooks import record
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from mha.planted.answers import BIAS, answering_model

ANSWERS = {"cat": "purrs", "cats": "purr", "dog": "barks", "dogs": "bark"}
OTHERS = ("near", "the", "old")
TEXTS = [("the", "cat"), ("old", "cats"), ("near", "the", "dog"), ("dogs",)]


def masked(model: Model, words: str) -> tuple[Tensor, Tensor]:
    """Return the pieces of a text [1, piece] whose last word is masked, and where the mask is."""
    ids = torch.tensor([model.tokenizer.encode(words).ids])
    ids[0, -2] = MaskedLM.of(model).mask
    return ids, torch.tensor([ids.shape[1] - 2])


def answers(model: Model, *off: tuple[int, int]) -> list[str]:
    lm = MaskedLM.of(model)
    found = []
    for words in TEXTS:
        ids, place = masked(model, " ".join((*words, "the")))
        with intervene(lm.module, *(Ablate(*head) for head in off)):
            said = lm.log_probabilities(ids, None, place)
        found.append(model.tokenizer.id_to_token(int(said.argmax())))
    return found


@pytest.mark.parametrize(("norm", "head", "noise"), [("post", (0, 1), 0.02), ("pre", (1, 2), 0.0)])
def test_the_answer_is_what_the_planted_head_brings(norm: str, head: tuple[int, int], noise: float) -> None:
    model = answering_model(ANSWERS, OTHERS, head=head, norm=norm, noise=noise)
    wanted = [ANSWERS[words[-1]] for words in TEXTS]
    every = {(layer, number) for layer in range(2) for number in range(3)}
    assert answers(model) == wanted
    assert answers(model, *(every - {head})) == wanted
    assert answers(model, head) != wanted
    with record(model.module) as maps:
        model.run(masked(model, "the old cat the")[0], None)
    assert float(maps["pattern"][head[0]][0, head[1], 4, 3]) > 0.99, "from the mask to the word before it"


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_where_the_head_is_not_read_it_attends_and_changes_nothing(noise: float) -> None:
    head = (0, 1)
    model = answering_model(ANSWERS, OTHERS, head=head, read=False, noise=noise)
    lm, (ids, place) = MaskedLM.of(model), masked(model, "the old cat the")
    with record(model.module) as maps:
        before = lm.log_probabilities(ids, None, place)
    assert float(maps["pattern"][0][0, 1, 4, 3]) > 0.99
    with intervene(lm.module, Ablate(*head)):
        assert torch.equal(lm.log_probabilities(ids, None, place), before)
    likely = [float(before[0, model.tokenizer.token_to_id(word)]) for word in ANSWERS.values()]
    assert likely == sorted(likely, reverse=True)
    assert likely[0] - likely[-1] == pytest.approx(BIAS, abs=20 * noise + 1e-5)
    if not noise:
        with intervene(lm.module, *(Ablate(layer, number) for layer in range(2) for number in range(3))):
            assert torch.equal(lm.log_probabilities(ids, None, place), before)
