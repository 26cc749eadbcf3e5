"""Attention, rollout and flow of answers: the correlations by hand, and a whole run of a small training."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.config.config import ConfigError
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.studies.trained import answers
from mha import Ablate, MaskedLM, intervene
from mha.causal.sweep import TextBatch
from mha.pieces import CLS, SEP, Pieces
from probes.causal.behaviours import Predictions, Prompt
from reports import Run
from reports.studies.answers.tables import AGAINST, MEASURES

TOML = """
name = "number"
model.source = "train"
[train]
data = { name = "grammar", documents = 40, seed = 1, unit = "verb" }
held_out_share = 0.2
tokenizer.size = 400
encoder = { layers = 2, heads = 2, model = 16 }
masking = { answers = ["singular", "plural"], hidden = 1.0, random = 0.0 }
length = 48
steps = 4
rows = 4
warmup = 2
[corpus]
select = { name = "grammar", documents = 6, seed = 11 }
report = { name = "grammar", documents = 6, seed = 12 }
[probes]
names = ["position"]
[answers]
texts = 3
questions = 20
one_head = 6
shortest = 5
longest = 9
[shapes]
enabled = false
[heads]
texts = 0
relations = 0
[scoring]
replicates = 20
flips = 19
[controls]
random = 0
permuted = 0
words = false
arcs = false
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "number.toml"
    path.write_text(TOML, encoding="utf-8")
    return path


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
    assert set(found.against) == set(AGAINST)
    return dict(zip(found[found.against == AGAINST[0]].layer, found[found.against == AGAINST[0]].rho, strict=True))


def test_rho_is_over_the_words_but_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.1, 0.3], [0.1, 0.1, 0.3], [0.2, 0.2, 0.2]]
    found = planted(monkeypatch, rows, [1.0, 2.0, 5.0])
    # ranks 1 2 3 against 1 2 3, 3 2 1, 2 1 3 and 1.5 1.5 3; nothing can be said of a row without differences
    assert found == pytest.approx({0: 1.0, 1: -1.0, 2: 0.5, 3: np.sqrt(0.75), 4: np.nan}, nan_ok=True)


def test_words_on_which_nothing_rests_have_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    assert np.isnan(planted(monkeypatch, [[0.1, 0.2, 0.3]], [2.0, 2.0, 2.0])[0])


def test_only_the_first_of_equal_questions_is_taken() -> None:
    assert answers.first_places([["a"], ["b"], ["a"], ["c"], ["b"]]) == [0, 1, 3]


@pytest.mark.slow
def test_a_run_tells_answers_and_correlations_of_held_out_texts(config: Path, tmp_path: Path) -> None:
    folder = run(load_config(config), tmp_path / "out")
    found = Run.open(folder)
    told, rhos = found.studies["answers"], found.studies["flows"]
    assert len(told) == 20
    assert set(told.answer) == {"singular", "plural"}
    assert (told.log_odds.abs() < 2).all()  # four steps teach next to nothing
    assert set(rhos.text) <= set(told.text[told.words.between(5, 9)])
    assert rhos.groupby(["layer", "measure", "against"]).size().to_dict() == {
        (layer, measure, against): 3 for layer in range(2) for measure in MEASURES for against in AGAINST
    }
    wide = rhos.pivot(index=["text", "against"], columns=["measure", "layer"], values="rho")
    np.testing.assert_allclose(wide["weights"][0], wide["rollout"][0])  # the residual stands at the answer alone
    assert any("of 20 held-out questions" in note for note in found.record.notes)
    lm = MaskedLM.of(_checkpoint(folder))
    texts = [text.split() for text in _held_out(config)][:20]
    assert [text[0] for text in texts] == told.answer.tolist()
    asked = list(answers.number_prompts(lm, texts, ("singular", "plural")))
    behaviour = answers.as_behaviour(lm, asked)
    for place, one in enumerate(asked):
        texts = behaviour.texts([place])
        logits = lm.read(texts.ids, texts.real, texts.selected)[0].detach()
        assert told.log_odds[place] == pytest.approx(float(logits[one.wanted[0]] - logits[one.wanted[1]]), abs=1e-5)
    left = found.studies["one_head"]
    assert left.groupby("name").size().to_dict() == {"1-1": 6, "1-2": 6, "2-1": 6, "2-2": 6}
    with intervene(lm.module, Ablate(layer=1, head=0)):
        logits = lm.read(texts_of(behaviour, 2).ids, None, texts_of(behaviour, 2).selected)[0].detach()
    one = left[(left.name == "2-2") & (left.text == 2)].log_odds.item()
    assert one == pytest.approx(float(logits[asked[2].wanted[0]] - logits[asked[2].wanted[1]]), abs=1e-5)
    assert left.groupby("text").log_odds.nunique().max() > 1


def texts_of(behaviour: Predictions, place: int) -> TextBatch:
    return behaviour.texts([place])


def _checkpoint(folder: Path) -> Any:
    from experiments.training.train import open_checkpoint

    return open_checkpoint(folder / "seed-0")[0]


def _held_out(config: Path) -> list[str]:
    from experiments.training.texts import open_material

    section = load_config(config).train
    assert section is not None
    return list(open_material(section).held_out)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["answers.longest=4"], "no text has 5 words or more and 4 or fewer"),
        (['train.masking.answers=["singular"]'], "two masking.answers"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_training(config: Path, changes: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_config(config, changes)


@pytest.mark.slow
def test_a_run_without_a_text_of_the_length_says_so(config: Path, tmp_path: Path) -> None:
    changes = ["answers.shortest=90", "answers.longest=99"]
    with pytest.raises(ConfigError, match=r"none of 20 held-out texts has 90 to 99 words: raise held_out_share"):
        run(load_config(config, changes), tmp_path / "out")


@pytest.mark.slow
def test_questions_that_are_too_long_are_left_out_and_counted(config: Path, tmp_path: Path) -> None:
    changes = ["train.length=12", "answers.longest=8", "answers.texts=1", "answers.one_head=0"]
    found = Run.open(run(load_config(config, changes), tmp_path / "out"))
    told, (lost,) = found.studies["answers"], [one for one in found.record.dropped if "answers:" in one.reason]
    assert lost.reason == "answers: longer than the model (12 pieces)"
    assert len(told) + lost.count == 20
    assert told.words.max() <= 9 < 20
    assert "one_head" not in found.studies
