"""Models of spread weights, for the tests of effects."""

from dataclasses import replace

from mha.models.masked_prediction import MaskedLM
from tests.small_words import randomise_weights


def spread(lm: MaskedLM) -> MaskedLM:
    """Return a model with weights drawn anew, in which every head moves every answer, in double precision."""
    randomise_weights(lm.module, std=0.3, norms=False)
    return replace(lm, module=lm.module.double())
