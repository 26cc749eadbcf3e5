"""The order of studies follows from what they need, and no study sees a result that it does not name."""

import random
from typing import Any

import pandas as pd
import pytest

from experiments.run.studies import STUDIES, in_order
from experiments.studies.causal.ablation import AblationResult, AblationStudy
from experiments.studies.causal.importance import ImportanceResult, ImportanceStudy
from experiments.studies.causal.link import LinkStudy
from experiments.studies.causal.patching import PatchingResult, PatchingStudy
from experiments.studies.causal.transfer import TransferStudy
from experiments.studies.study import Result, Results, Study

TABLE = pd.DataFrame({"cost": [1.0]})


def test_studies_stand_in_the_order_in_which_they_measure() -> None:
    assert tuple(in_order(STUDIES)) == STUDIES


@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_order_of_the_tuple_a_study_comes_after_what_it_needs(seed: int) -> None:
    shuffled = random.Random(seed).sample(STUDIES, len(STUDIES))
    ordered = [*in_order(shuffled)]
    assert set(ordered) == set(STUDIES)
    for before in (AblationStudy, ImportanceStudy, PatchingStudy, TransferStudy):
        assert ordered.index(before) < ordered.index(LinkStudy)


def test_studies_that_need_each_other_are_refused_by_name() -> None:
    class One(Result):
        pass

    class Other(Result):
        pass

    class First(Study[None]):
        name, needs, gives = "first", (Other,), One

    class Second(Study[None]):
        name, needs, gives = "second", (One,), Other

    studies: list[type[Study[Any]]] = [AblationStudy, First, Second]
    with pytest.raises(ValueError, match="need the results of each other: first, second"):
        list(in_order(studies))


def test_results_are_handed_over_by_kind() -> None:
    ablated = AblationResult({"ablations": TABLE})
    results = Results([Result({}), ablated], LinkStudy.needs)
    assert results.of(AblationResult) is ablated
    assert results.of(ImportanceResult) is None, "the run did not measure it"
    with pytest.raises(TypeError, match="PatchingResult is not among what the study needs"):
        Results([ablated], (AblationResult,)).of(PatchingResult)
