"""Sinks in a run."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from experiments.run.config import load_config
from experiments.run.run import run
from mha.hooks import HookError
from reports import Run


def test_a_run_says_of_every_head_whether_it_is_a_sink(scored: Callable[..., Run]) -> None:
    table = scored().tables["sinks"]
    assert table.name.tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert table[["special", "written"]].apply(lambda share: share.between(0.001, 0.999)).all(axis=None)
    assert not np.isclose(table.special, table.written).all()
    assert table.length.gt(0).all()
    assert (table.special.ge(0.5) == (table.kind != "")).all()


def test_the_number_of_texts_decides_what_is_read(scored: Callable[..., Run]) -> None:
    few, all_of = (scored(*changes).tables["sinks"] for changes in (("sinks.texts=1",), ()))
    assert not np.isclose(few.special, all_of.special).any()
    assert "sinks" not in scored("sinks.texts=0").tables


def test_where_what_heads_write_is_not_known_a_note_says_so(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> None:
        raise HookError("where W_O lies is not known")

    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    monkeypatch.setattr("probes.maps.sinks.read_sinks", unknown)
    found = Run.open(run(load_config(base), tmp_path))
    assert "sinks" not in found.tables
    assert "sinks: where W_O lies is not known" in found.record.notes
