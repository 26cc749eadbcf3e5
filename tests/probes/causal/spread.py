"""Models of spread weights, for the tests of effects."""

from dataclasses import replace

import torch

from mha.models.masked_prediction import MaskedLM


def spread(lm: MaskedLM) -> MaskedLM:
    """Return a model with weights drawn anew, in which every head moves every answer, in double precision."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in lm.module.parameters():
            parameter.normal_(0, 0.3, generator=generator)
    return replace(lm, module=lm.module.double())
