import pytest
import torch

from mha.models.masked_prediction import MaskedLM
from probes.explanation.classifier import TrainedClassifier
from probes.explanation.measure import LONGEST, SubjectNumberTask, measures, numbered_sentences, read_task
from tests.probes.explanation.test_classifier import planted as vectors_of


def planted(count: int, seed: int) -> SubjectNumberTask:
    """Return sentences of five pieces; one is marked and says the answer, and embeddings do not have the mark."""
    vectors, real, plural = vectors_of(count, seed, size=8)
    return SubjectNumberTask(vectors, vectors[..., 1:].clone(), real, plural)


def measured(train: SubjectNumberTask, test: SubjectNumberTask) -> dict[str, float]:
    classifier = TrainedClassifier.fitted(train.states, train.real, train.plural, 0)
    return dict(measures(classifier, train, test, 0, torch.Generator().manual_seed(0)))


@pytest.mark.slow
def test_where_one_piece_says_the_answer_attention_explains_it() -> None:
    found = measured(planted(1500, 0), planted(300, 1))
    assert found["accuracy"] > 0.9
    assert found["accuracy"] - found["accuracy, uniform attention"] > 0.1
    assert found["flips, most attended alone"] > found["flips, random alone"] + 0.2
    assert found["erased, by attention"] < found["erased, at random"] - 0.1
    assert found["accuracy, guided: trained"] > found["accuracy, guided: uniform"] + 0.05
    assert found["change, permuted"] > 0.2


@pytest.mark.slow
def test_where_all_pieces_say_the_answer_attention_explains_nothing() -> None:
    def spread(count: int, seed: int) -> SubjectNumberTask:
        task = planted(count, seed)
        vectors = torch.zeros_like(task.states)
        vectors[..., 1] = (2 * task.plural - 1)[:, None]
        return SubjectNumberTask(vectors, vectors.clone(), task.real, task.plural)

    found = measured(spread(1500, 0), spread(300, 1))
    assert found["accuracy"] > 0.98
    assert found["change, permuted"] < 0.05
    assert found["flips, most attended"] < 0.02
    assert found["erased, by attention"] > 0.95
    assert found["divergence, adversarial"] > 0.3


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
