import pytest
import torch

from probes.explanation.classifier import TrainedClassifier
from probes.explanation.measure import measures
from probes.explanation.sentences import SubjectNumberTask

pytestmark = pytest.mark.slow


def planted(count: int, seed: int) -> SubjectNumberTask:
    """Return sentences of five pieces; one is marked and says the answer, and embeddings do not have the mark."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(count, 5, 8, generator=generator)
    vectors[..., 0] = 0
    place = torch.randint(5, (count,), generator=generator)
    plural = torch.randint(2, (count,), generator=generator).float()
    vectors[torch.arange(count), place, 0] = 4
    vectors[torch.arange(count), place, 1] = 2 * plural - 1
    return SubjectNumberTask(vectors, vectors[..., 1:].clone(), torch.ones(count, 5, dtype=torch.bool), plural)


def measured(train: SubjectNumberTask, test: SubjectNumberTask) -> dict[str, float]:
    classifier = TrainedClassifier.fitted(train.states, train.real, train.plural, 0)
    return dict(measures(classifier, train, test, 0, torch.Generator().manual_seed(0)))


def test_where_one_piece_says_the_answer_attention_explains_it() -> None:
    found = measured(planted(1500, 0), planted(300, 1))
    assert found["accuracy"] > 0.9
    assert found["accuracy"] - found["accuracy, uniform attention"] > 0.1
    assert found["flips, most attended alone"] > found["flips, random alone"] + 0.2
    assert found["erased, by attention"] < found["erased, at random"] - 0.1
    assert found["accuracy, guided: trained"] > found["accuracy, guided: uniform"] + 0.05
    assert found["change, permuted"] > 0.2


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
