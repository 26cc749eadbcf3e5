import math
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.run.config import load_config
from experiments.statements.claim import Work
from experiments.statements.trained import (
    ScoredSection,
    TrainedSection,
    agreement_accuracy,
    heads_of,
    parameters,
    specialised,
    trainings,
)
from mha import MaskedLM, load_model
from mha.training.checkpoints import find_checkpoint, read_record
from probes.evidence.statistics import VerdictRule
from probes.pairs.grammar_pairs import grammar_pairs
from probes.pairs.scores import decide
from reports import Run

TRAIN: dict[str, Any] = {
    "data": {"name": "grammar", "documents": 20},
    "held_out_share": 0.1,
    "tokenizer": {"size": 400},
    "encoder": {"layers": 1, "model": 16, "heads": 1},
    "length": 48,
    "steps": 2,
    "rows": 2,
    "warmup": 1,
    "seeds": (3, 4),
}


@pytest.mark.slow
@pytest.mark.parametrize("control", ["controls={random=0, orders=0, permuted=0}", "controls={random=2, permuted=0}"])
def test_specialised_heads_are_those_of_a_run(
    control: str, base: Path, scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small model with random weights has no grade: here whatever was tested has one, so that all p are compared."""
    monkeypatch.setattr(VerdictRule, "grades", lambda rule, adjusted: np.isfinite(adjusted[0]).astype(np.int64))
    sizes = ("corpus.select.documents=20", "corpus.report.documents=20")
    changes = (control, "verdict={alpha=0.9, margin=0.0}", *sizes)
    found = scored(*changes).scores
    expected = found[(found.split == "report") & found.specialised.eq(True)]
    config = load_config(base, changes)
    tables = {name: getattr(config, name) for name in ("corpus", "probes", "scoring", "controls", "verdict")}
    section = ScoredSection(claim="x", train=TRAIN, **tables)
    rows = specialised(section, load_model(config.model.name), Path(config.model.name))
    key = ["layer", "head", "probe", "label", "variant"]
    assert len(rows) > 10
    np.testing.assert_allclose(rows.sort_values(key).p_adjusted, expected.sort_values(key).p_adjusted)
    np.testing.assert_allclose(rows.sort_values(key).p, expected.sort_values(key).p)
    assert sorted(map(tuple, rows[key].to_numpy())) == sorted(map(tuple, expected[key].to_numpy()))
    assert heads_of(rows) == len({(layer, head) for layer, head in zip(rows.layer, rows["head"], strict=True)})


def test_trainings_differ_in_what_is_asked_for_alone_and_lie_where_they_are_shared(work: Work) -> None:
    section = TrainedSection.model_validate({"claim": "x", "train": TRAIN, "trainings": "other"})
    folders = trainings(section, work, "two-plain", heads=2, scale=False)
    assert folders == {seed: work.out / "other" / "trainings" / "two-plain" / f"seed-{seed}" for seed in (3, 4)}
    last = find_checkpoint(folders[3])
    shape = read_record(last)["encoder"]
    assert (shape["heads"], shape["scale"], shape["layers"]) == (2, False, 1)
    assert section.train.encoder.heads == 1
    assert trainings(section, work, "two-plain", heads=2, scale=False) == folders  # found there, left as it is
    model = load_model(str(last))
    assert parameters(model) == sum(p.numel() for p in model.module.parameters()) > 16 * 400
    accuracy = agreement_accuracy(model, 200, 71)
    every = decide(MaskedLM.of(model), islice(grammar_pairs(71), 200), method="masked").made
    credits = [one.credit for one in every if one.kind.attractors]
    assert 10 < len(credits) < len(every)
    assert accuracy.across == pytest.approx(sum(credits) / len(credits))
    assert accuracy.every == pytest.approx(sum(one.credit for one in every) / len(every))
    assert math.isnan(agreement_accuracy(model, 1, 71).across)  # the first pair has no attractor
