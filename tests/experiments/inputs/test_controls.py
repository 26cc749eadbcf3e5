from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.config.config import Config
from experiments.inputs.controls import (
    SAMPLE,
    ModelControl,
    model_controls,
    of_documents,
    permutation_strengths,
    selected_permutations,
    strongest_together,
)
from experiments.run.config import load_config
from mha import Model, load_model
from probes import Corpus, get_probe
from probes.corpora.corpus import MemoryTexts, Texts
from probes.scoring.score import Settings, score_corpus

Of = Callable[..., list[ModelControl]]


@pytest.fixture
def controls_of(base: Path) -> Of:
    """Return the function that gives the controls of the base config with changes, with all tried permutations."""

    def of(*changes: str) -> list[ModelControl]:
        config = load_config(base, changes)
        model = load_model(config.model.name, config.model.source, config.seed)
        return model_controls(config, model, permutations(config, model, MemoryTexts([])))

    return of


def permutations(config: Config, model: Model, texts: Texts) -> list[int]:
    probes = [get_probe("position"), get_probe("dependency")]
    return selected_permutations(
        config, model, partial(permutation_strengths, config, model, texts, probes, Settings())
    )


def weights(control: ModelControl) -> torch.Tensor:
    return torch.cat([parameter.flatten() for parameter in control.load().module.parameters()]).detach()


def test_all_can_be_switched_off(controls_of: Of) -> None:
    assert controls_of() == []


def test_seeds_go_on_from_that_of_the_run(controls_of: Of) -> None:
    found = [weights(one) for one in controls_of("controls={random=3, words=false, permuted=0}", "seed=4")]
    later = [weights(one) for one in controls_of("controls={random=2, words=false, permuted=0}", "seed=5")]
    assert all(map(torch.equal, found[1:], later))
    assert not torch.equal(found[0], found[1])


@pytest.mark.parametrize("source", ["random", "permuted"])
def test_a_model_without_knowledge_is_not_its_own_control(source: str, controls_of: Of, base: Path) -> None:
    found = controls_of(f"model.source='{source}'", "seed=7", "controls={random=2, permuted=2, words=false}")
    own = load_model(load_config(base).model.name, source, 7)
    mine = torch.cat([parameter.flatten() for parameter in own.module.parameters()]).detach()
    others = [weights(one) for one in found]
    assert len(others) == 4
    assert not any(torch.equal(one, other) for one, other in combinations([mine, *others], 2))


def test_shuffled_word_order_is_read_by_the_model_of_the_run(base: Path) -> None:
    config = load_config(base, ["controls.words=true", "controls.precision=bf16"])
    model = load_model(config.model.name)
    (control,) = model_controls(config, model, [])
    assert control.load().module is model.module
    assert control.load().precision == "bf16"
    assert control.places is not None


def test_the_strongest_together_have_the_most_hits_when_each_answers_what_it_answers_best() -> None:
    """The second is the strongest alone (14); beside it the fourth adds 5, the first 1 and the third nothing."""
    best = np.array([[6.0, 5.0], [9.0, 5.0], [8.0, 4.0], [0.0, 10.0]])
    assert strongest_together(best, 1) == [1]
    assert strongest_together(best, 2) == [1, 3]
    assert sorted(strongest_together(best, 4)) == [0, 1, 2, 3]


def test_the_permutations_that_are_read_in_full_are_the_strongest_of_those_tried(base: Path) -> None:
    config = load_config(base, ["seed=3", "controls={permuted=2, permutations_tried=6}"])
    model, texts = load_model(config.model.name), Corpus.generated(4, 9).sentences()
    assert len(texts) <= SAMPLE
    probe, best = get_probe("position"), {}
    for seed in range(3, 9):
        outcome = score_corpus(load_model(config.model.name, "permuted", seed), texts, [probe], {}, Settings())
        hits = dict(outcome.heads.pooled(lambda question: (question[2],)))
        best[seed] = np.array([hits[question].hits.sum(0).max() for question in sorted(hits)])
    found = selected_permutations(
        config, model, partial(permutation_strengths, config, model, texts, [probe], Settings())
    )
    first = max(best, key=lambda seed: best[seed].sum())
    second = max(best.keys() - {first}, key=lambda seed: np.maximum(best[seed], best[first]).sum())
    assert found == [first, second]


def test_the_sample_on_which_permutations_are_tried_does_not_depend_on_the_order_of_texts(base: Path) -> None:
    config = load_config(base, ["controls={permuted=2, permutations_tried=5}"])
    model, texts = load_model(config.model.name), Corpus.generated(40, 9).sentences()
    assert len(texts) > SAMPLE
    backwards = MemoryTexts(texts.take(range(len(texts) - 1, -1, -1)))
    assert permutations(config, model, texts) == permutations(config, model, backwards)


def test_a_sample_of_documents_has_them_whole_whatever_their_order() -> None:
    texts = Corpus.generated(12, 9).sentences()
    every = texts.take(range(len(texts)))
    of = of_documents(texts, 5)
    found = of.take(range(len(of)))
    ids = {text.id for text in found}
    assert len(ids) == 5
    assert found == [text for text in every if text.id in ids]
    backwards = of_documents(MemoryTexts(every[::-1]), 5)
    assert {text.id for text in backwards.take(range(len(backwards)))} == ids
    assert of_documents(texts, 12) is of_documents(texts, 100) is texts


def test_a_probe_takes_part_in_its_own_controls_only(controls_of: Of) -> None:
    probes = [get_probe(name) for name in ("position", "dependency")]
    asked = {
        one.name: [probe.name for probe in one.probes(probes)] for one in controls_of("controls={random=1, permuted=1}")
    }
    assert asked == {
        "random weights": ["position", "dependency"],
        "permuted weights": ["position", "dependency"],
        "shuffled word order": ["dependency"],
    }


def test_permutations_are_tried_in_fp32_whatever_the_precision_of_controls(base: Path) -> None:
    model, texts, asked = load_model("minilm"), Corpus.generated(4, 9).sentences(), [get_probe("dependency")]
    exact, rough = (
        permutation_strengths(load_config(base, [f"controls.precision={name}"]), model, texts, asked, Settings(), [0])
        for name in ("fp32", "bf16")
    )
    assert exact == rough
