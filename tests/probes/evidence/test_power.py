"""Power and sizes of tests of leads: against simulation, and by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from probes.evidence.leads import Documents, p_unseen
from probes.evidence.power import LeadTest

TEST = LeadTest(lead=0.15, margin=0.05, level=0.01, alpha=0.05, spread=0.2)


@pytest.mark.parametrize("documents", [40, 60, 100])
def test_power_is_the_share_of_simulated_corpora_with_a_find(documents: int) -> None:
    """Leads of documents of 200 words are normal; 4,000 corpora. The test allows for what normal leads have not."""
    random, n = np.random.default_rng(2), np.full(documents, 200.0)
    leads = random.normal(TEST.lead, TEST.spread, (documents, 4000))
    p = Documents.of(n).p_above(leads * n[:, None], TEST.margin)
    assert TEST.power(documents) == pytest.approx((p < TEST.level).mean(), abs=0.05)


def test_the_documents_that_are_needed_are_the_fewest_with_that_power() -> None:
    needed = TEST.documents(0.8)
    assert needed is not None
    assert TEST.power(needed) >= 0.8 > TEST.power(needed - 1)
    assert replace(TEST, spread=0.4).documents(0.8) == pytest.approx(4 * needed, rel=0.1), "twice the error"


def test_where_leads_do_not_vary_as_many_documents_are_needed_as_may_be_missing() -> None:
    """Of heads that lead by 15 points 8.7 % of documents may be lost: 33 or more show one in 95 % of corpora."""
    steady = replace(TEST, spread=1e-6)
    needed = steady.documents(0.8)
    assert needed == math.ceil(steady.fewest) == 33
    unseen = p_unseen(np.array([0.15, 0.15]), np.array([33.0, 32.0]), 0.05)
    assert unseen[0] < 0.05 < unseen[1]
    assert (steady.power(33), steady.power(32)) == (1, 0)
