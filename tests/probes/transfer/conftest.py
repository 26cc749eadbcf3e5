"""A planted model whose verb agrees by one head, and sentences that ask it."""

from dataclasses import replace

import pytest
import torch

from mha.models.masked_prediction import MaskedLM
from tests.probes.transfer.sentences import planted


@pytest.fixture(scope="module")
def lm() -> MaskedLM:
    """Return a model of spread weights, in which every head moves every answer."""
    lm = planted()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in lm.module.parameters():
            parameter.normal_(0, 0.3, generator=generator)
    return replace(lm, module=lm.module.double())
