"""What answers rest on: rank correlations by hand."""

from typing import Any

import numpy as np
import pytest

from mha.pieces import CLS, SEP, Pieces
from probes.causal import answers
from probes.causal.behaviours import Prompt


def planted(monkeypatch: pytest.MonkeyPatch, rows: list[list[float]], words: list[float]) -> dict[int, float]:
    """Return rho by layer where the answer's rows of maps are `rows`, and words change the answer by `words`."""
    text = Pieces(np.arange(6, dtype=np.int32), np.array([CLS, 0, 1, 2, 3, SEP], np.int32), 4)
    maps = np.zeros((len(rows), 4, 6))
    maps[:, 1:] = 9.0
    maps[:, 0] = [[0.7, *row, 0.9, 0.8] for row in rows]
    monkeypatch.setattr(answers, "flow_maps", lambda model, batch: {"flow": maps})
    for name in ("blank_out", "input_gradients"):
        monkeypatch.setattr(answers, name, lambda lm, asked: np.array([np.nan, *words]))
    model: Any = type("M", (), {"padding": 0})
    lm: Any = type("L", (), {"model": model})
    found = answers.correlations(lm, Prompt(text, 0, (1, 1), (3, 4), (1.0, -1.0)))
    assert {*found.against} == {*answers.AGAINST}
    first = found[found.against == answers.AGAINST[0]]
    return dict(zip(first.layer, first.rho, strict=True))


def test_rho_is_over_the_words_but_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.1, 0.3], [0.1, 0.1, 0.3], [0.2, 0.2, 0.2]]
    found = planted(monkeypatch, rows, [1.0, 2.0, 5.0])
    # ranks 1 2 3 against 1 2 3, 3 2 1, 2 1 3 and 1.5 1.5 3; nothing can be said of a row without differences
    assert found == pytest.approx({0: 1.0, 1: -1.0, 2: 0.5, 3: np.sqrt(0.75), 4: np.nan}, nan_ok=True)


def test_words_on_which_nothing_rests_have_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    assert np.isnan(planted(monkeypatch, [[0.1, 0.2, 0.3]], [2.0, 2.0, 2.0])[0])


def test_only_the_first_of_equal_questions_is_taken() -> None:
    assert answers.first_places([["a"], ["b"], ["a"], ["c"], ["b"]]) == [0, 1, 3]
