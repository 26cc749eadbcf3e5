import torch

from mha.models.masked_prediction import MaskedLM
from probes.explanation.sentences import LONGEST, numbered_sentences, read_task


def test_sentences_are_of_both_numbers_and_no_longer_than_asked() -> None:
    found = numbered_sentences(60, 5)
    assert len(found) == 60
    assert max(len(one.words) for one in found) <= LONGEST
    assert 15 < sum(one.plural for one in found) < 45
    assert found == numbered_sentences(60, 5) != numbered_sentences(60, 6)


def test_states_are_those_of_the_model_without_special_tokens(lm: MaskedLM) -> None:
    model = lm.model
    task = read_task(model, 70, 5)
    assert task.real.any(-1).all()
    assert (task.states[~task.real] == 0).all()
    sentence = numbered_sentences(70, 5)[66]
    encoded = model.tokenizer.encode(list(sentence.words), is_pretokenized=True)
    mask = model.tokenizer.token_to_id("[MASK]")
    ids = torch.tensor(
        [mask if word == sentence.verb else one for one, word in zip(encoded.ids, encoded.word_ids, strict=True)]
    )
    assert mask in ids
    vectors = model.run(ids[None], None)[0]
    count = len(ids) - 2
    assert int(task.real[66].sum()) == count
    torch.testing.assert_close(task.states[66, :count], vectors[1:-1].detach(), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(task.embeddings[66, :count], model.module.pieces.weight[ids[1:-1]].detach())
    assert task.plural[66] == sentence.plural
