import pytest
import torch

from mha.models.masked_prediction import MaskedLM
from probes.explanation.classifier import TrainedClassifier
from probes.explanation.measure import explanation_tables, measures
from probes.explanation.ranks import PAIRS
from probes.explanation.sentences import SubjectNumberTask, read_task

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


def test_classifiers_differ_and_the_same_seed_gives_the_same_table(lm: MaskedLM) -> None:
    train, test = read_task(lm.model, 40, 1), read_task(lm.model, 20, 2)
    (one, ranks), (again, same), (other, _) = (explanation_tables(lm.model, train, test, 2, seed) for seed in (0, 0, 1))
    assert one.equals(again)
    assert ranks.equals(same)
    assert not one.equals(other)
    assert one[one.seed == 0].value.tolist() != one[one.seed == 1].value.tolist()
    first, of_first = explanation_tables(lm.model, train.take(torch.arange(20)), test.take(torch.arange(10)), 1, 0)
    assert first.value.tolist() == one[one.seed == 0].value.tolist(), "the first has the first halves alone"
    assert of_first.tau.tolist() == ranks[ranks.seed == 0].tau.tolist()
    assert one.value.notna().all()
    assert ranks.groupby("seed").pair.agg(tuple).tolist() == [tuple(PAIRS)] * 2
    assert ranks.n.between(1, 10).all()
