"""Sinks in a run."""

from collections.abc import Callable

import numpy as np

from experiments.measures.sinks import SinksMeasure
from reports import Run


def test_a_run_says_of_every_head_whether_it_is_a_sink(scored: Callable[..., Run]) -> None:
    found = scored()
    table = found.tables["sinks"]
    assert table.name.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert table[["special", "written"]].apply(lambda share: share.between(0.001, 0.999)).all(axis=None)
    assert not np.isclose(table.special, table.written).all()
    assert table.length.gt(0).all()
    assert (table.special.ge(0.5) == (table.kind != "")).all()
    np.testing.assert_allclose(np.ravel(next(SinksMeasure.maps(found)).values), 100 * table.special)


def test_the_number_of_texts_decides_what_is_read(scored: Callable[..., Run]) -> None:
    few, all_of = (scored(*changes).tables["sinks"] for changes in (("sinks.texts=1",), ()))
    assert not np.isclose(few.special, all_of.special).any()
