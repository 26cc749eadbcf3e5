import torch

from mha import Model
from probes.explanation.sentences import LONGEST, numbered_sentences, read_task


def test_sentences_are_of_both_numbers_and_no_longer_than_asked() -> None:
    found = numbered_sentences(60, 5)
    assert len(found) == 60
    assert max(len(words) for words, _ in found) <= LONGEST
    assert 15 < sum(plural for _, plural in found) < 45
    assert found == numbered_sentences(60, 5) != numbered_sentences(60, 6)


def test_the_verb_agrees_in_sentences_whose_number_was_changed() -> None:
    """Those of one clause: short ones with one verb form of be."""
    changed = [one for one in numbered_sentences(400, 5)[1::2] if len(one[0]) < 8 and {"is", "are"} & set(one[0])]
    assert len(changed) > 3
    assert all(("are" in words) == plural for words, plural in changed)


def test_states_are_those_of_the_model_without_special_tokens(model: Model) -> None:
    task = read_task(model, 70, 5)
    assert task.real.any(-1).all()
    assert (task.states[~task.real] == 0).all()
    words, plural = numbered_sentences(70, 5)[66]
    ids = torch.tensor(model.tokenizer.encode(list(words), is_pretokenized=True).ids)
    vectors = model.run(ids[None], None)[0]
    count = len(ids) - 2
    assert int(task.real[66].sum()) == count
    torch.testing.assert_close(task.states[66, :count], vectors[1:-1].detach(), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(task.embeddings[66, :count], model.module.pieces.weight[ids[1:-1]].detach())
    assert task.plural[66] == plural
