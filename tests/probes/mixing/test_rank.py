import math

import pytest
import torch

from mha import Model
from probes.mixing.rank import ATTENTION_ALONE, PASSES, WHOLE, relative_residual, states_of_passes


def test_the_residual_is_that_of_the_composite_norm() -> None:
    """Of [[3, 0], [1, 0]] the mean is (2, 0): [[1, 0], [-1, 0]] has sums 2 and 1, the states have sums 4 and 3."""
    states = torch.tensor([[[3.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
    assert relative_residual(states).tolist() == pytest.approx([math.sqrt(2) / math.sqrt(12), 1.0])


def test_passes_begin_with_the_same_states_and_the_whole_one_ends_with_the_model_s(model: Model) -> None:
    ids = torch.tensor([2, 4, 5, 7, 8, 3])
    found = states_of_passes(model.module, ids)
    assert tuple(found) == PASSES
    for states in found.values():
        torch.testing.assert_close(states[0], found[WHOLE][0])
    torch.testing.assert_close(found[WHOLE][-1].float(), model.run(ids[None], None)[0])
    assert len({round(float(states[-1].sum()), 3) for states in found.values()}) == len(PASSES)
    assert (found[ATTENTION_ALONE][1] != found[WHOLE][1]).any()
