"""Sinks in a run."""

from collections.abc import Callable

import numpy as np

from reports import Run


def test_a_run_says_of_every_head_whether_it_is_a_sink(scored: Callable[..., Run]) -> None:
    table = scored().studies["sinks"]
    assert table.name.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert table[["special", "written"]].apply(lambda share: share.between(0.001, 0.999)).all(axis=None)
    assert not np.isclose(table.special, table.written).all()
    assert (table.special.ge(0.5) == (table.kind != "")).all()


def test_no_texts_no_table(scored: Callable[..., Run]) -> None:
    assert "sinks" not in scored("sinks.texts=0").studies
