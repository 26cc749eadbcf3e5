"""Ablation in a run: what is switched off, which heads are chosen, and what is refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.measures.ablation import AblationMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Ablate, MaskedLM, intervene, load_model
from probes.causal.ablation import choose_heads
from probes.causal.behaviours import preferences
from probes.minimal_pairs import Kind, MinimalPair
from reports import Run
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts
from reports.tables.effects import ABLATION_CONTRASTS, ABLATIONS
from reports.tables.shared_columns import ACCURACY, ATTRACTED, LOGIT, VALUE
from tests.experiments.measures.conftest import told
from tests.experiments.measures.pages import ONE_RUN, of_heads

PAIRS = "True\tthe king sleeps\nFalse\tthe king sleep\nTrue\tthe kings sleep\nFalse\tthe kings sleeps\n"
FEW = ("corpus.select.documents=2", "corpus.report.documents=3", 'probes.names=["position"]')


@pytest.fixture
def ablate(base: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return the function that runs a model on a few texts with changes as of --set."""

    def ablate(model: Path, *changes: str) -> Path:
        config = load_config(base, (*FEW, f"model.name='{model}'", *changes))
        return run(config, tmp_path / "runs", overwrite=True)

    return ablate


def tables(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    studies = Run.open(folder).tables
    return studies["ablations"], studies["ablation_contrasts"]


def test_heads_of_a_label_are_exchanged_beside_random_ones_of_the_same_layers(
    ablate: Callable[..., Path], speaker: Path
) -> None:
    changes = ('ablation.behaviours=["embedding"]', 'ablation.ways=["zero", "interchange"]', "ablation.draws=2")
    label = ('ablation.labels=["position: previous", "position: next"]', "ablation.items=9", "ablation.top=2")
    folder = ablate(speaker, *changes, *label)
    costs, contrasts = tables(folder)
    exchanged = costs[costs.way == "interchange"]
    assert set(exchanged.kind) == {"selected", "random"}
    assert set(exchanged.heads) == {2}
    assert {*contrasts.way} == {"zero", "interchange"}
    assert (contrasts[contrasts.way == "interchange"].cost > 0).any()
    assert "interchange" in (folder / "report" / "index.html").read_text("utf-8")


def test_single_heads_cannot_be_exchanged(ablate: Callable[..., Path], speaker: Path, base: Path) -> None:
    with pytest.raises(Exception, match="interchange ablates no single head: name another way before it"):
        load_config(base, ['ablation.behaviours=["embedding"]', 'ablation.ways=["interchange"]'])
    changes = ('ablation.behaviours=["embedding"]', 'ablation.ways=["zero", "interchange"]', "ablation.top=1")
    folder = ablate(speaker, *changes, 'ablation.labels=["position: previous"]', "ablation.draws=2", "ablation.items=9")
    assert set(tables(folder)[0].way) == {"zero"}
    note = "ablation: no label has two heads to be exchanged for sentence embedding; see top"
    assert note in Run.open(folder).record.notes


@pytest.mark.slow
def test_a_run_tells_what_heads_cost(ablate: Callable[..., Path], speaker: Path, tmp_path: Path) -> None:
    (tmp_path / "sleepers.txt").write_text(PAIRS, "utf-8")
    names = f'["loss", "embedding", "{tmp_path}/sleepers.txt"]'
    labels = 'ablation.labels=["position: previous"]'
    folder = ablate(speaker, f"ablation.behaviours={names}", labels, "ablation.draws=3", "ablation.items=9")
    costs, contrasts = tables(folder)
    assert set(costs.behaviour) == {"masked-LM loss", "sentence embedding", "sleepers"}
    of_pairs = costs[(costs.behaviour == "sleepers") & (costs.measure == "value")]
    assert of_pairs.groupby("kind").size().to_dict() == {"head": 4, "layer": 2, "random": 3, "selected": 1}
    assert set(costs.n[costs.behaviour != "sleepers"]) <= set(range(1, 10))
    lines = [line.split("\t")[1].split() for line in PAIRS.splitlines()]
    pairs = [
        MinimalPair(str(i), Kind(), tuple(good), tuple(bad))
        for i, (good, bad) in enumerate(zip(lines[::2], lines[1::2], strict=True))
    ]
    asked = preferences(MaskedLM.of(load_model(str(speaker))), "sleepers", pairs)
    texts = asked.texts([0, 1])
    with torch.no_grad():
        intact = asked.reader.read(texts.ids, texts.real, texts.selected)
        with intervene(asked.reader.module, Ablate(1, 0)):
            without = asked.reader.read(texts.ids, texts.real, texts.selected)
    values = asked.values([0, 1], texts, torch.stack([intact, without]), intact).mean(1)
    one = of_pairs[of_pairs["name"] == "2-1"].iloc[0]
    assert (one.intact, one.ablated) == pytest.approx(values.tolist(), abs=1e-6)
    assert one.cost == pytest.approx(float(values[0] - values[1]), abs=1e-6)
    assert len(contrasts) == 4, "two of texts, and of pairs value and accuracy"
    assert "ablation" in json.loads((folder / "run.json").read_text("utf-8"))["stages"]


COLUMNS = ["label", "variant", "layer", "head", "split", "margin", "grade"]
SCORES = pd.DataFrame(
    [
        ("all", "one way", 0, 1, "select", 0.3, True),
        ("all", "one way", 2, 0, "select", 0.2, False),
        ("all", "other way", 2, 0, "select", 0.4, False),
        ("all", "other way", 1, 1, "select", 0.1, False),
        ("all", "one way", 1, 1, "report", 0.1, True),
        ("all", "other way", 0, 0, "report", 0.2, True),
        ("far", "one way", 2, 2, "report", 0.5, True),
    ],
    columns=COLUMNS,
).assign(probe="agreement", holds=1.0)


def test_heads_are_chosen_by_verdict_or_by_their_largest_margin_in_any_variant() -> None:
    assert choose_heads(SCORES, "agreement: all", 0) == (((0, 0), (1, 1)), "specialised")
    assert choose_heads(SCORES, "agreement: all", 2) == (((0, 1), (2, 0)), "largest margin")
    none = SCORES.assign(grade=0)
    assert choose_heads(none, "agreement: all", 0) == (((2, 0),), "largest margin")
    assert choose_heads(SCORES, "position: all", 0)[0] == ()


UNITS = {VALUE: "nats between the two sentences", ACCURACY: "share of pairs", ATTRACTED: "share of pairs"}
COSINE = "cosine with the intact embedding"


def heads(behaviour: str, unit: str, way: str, measure: str, size: float, layers: int = 6) -> pd.DataFrame:
    """Invented costs: head 3-5 costs ten times `size`, without 2-1 the model does better by three times that."""
    cost, p = size * np.linspace(-0.5, 0.5, layers * 12), np.full(layers * 12, 0.8)
    for place, times in {28: 10, 12: -3}.items():
        cost[place], p[place] = size * times, 0.002
    told = {"behaviour": behaviour, "unit": unit, "way": way, "measure": measure, "kind": "head", "heads": 1}
    numbers = {"intact": 0.75, "ablated": 0.75 - cost, "cost": cost, "ci_low": cost - 0.01, "ci_high": cost + 0.02}
    return of_heads(ABLATIONS, layers, 12, **told, n=1500, clusters=318, **numbers, p=p, p_adjusted=p)


def costs() -> pd.DataFrame:
    sizes = {VALUE: 0.2, ACCURACY: 0.01, ATTRACTED: 0.01}
    parts = [heads("grammar", UNITS[of], way, of, sizes[of]) for way in ("zero", "mean") for of in UNITS]
    parts += [heads("sentence embedding", COSINE, "zero", VALUE, 0.001)]
    return pd.concat([*parts, heads("4-1 on <obj>", "accuracy", "zero", VALUE, 0.01, layers=3)], ignore_index=True)


def contrasts(**changes: Any) -> pd.DataFrame:
    row = {**ABLATION_CONTRASTS.missing, **ONE_RUN, "behaviour": "grammar", "way": "zero", "name": "agreement: all"}
    row |= {"by": "specialised", "heads": "3-5 4-1", "draws": 20, "n": 1500, "clusters": 318, "cost": 0.123}
    row |= {"random_cost": 0.012, "random_least": -0.01, "random_most": 0.05, "difference": 0.111, "p": 1 / 21}
    row |= {"ci_low": 0.02, "ci_high": 0.2, **changes}
    return pd.DataFrame([row | {"measure": measure, "unit": unit} for measure, unit in UNITS.items()])


def test_the_costliest_heads_come_first_and_those_that_surely_help_last(measured: Callable[..., Run]) -> None:
    run = measured(ablations=costs())
    text = told(AblationMeasure, run)
    assert "cost, mean, nats between the two sentences" in text
    rows = [line for line in text.splitlines() if re.match(r"\| \d-", line)]
    accuracies = "10.0 [9.0, 12.0] | 10.0 [9.0, 12.0]"
    assert rows[0].startswith(f"| 3-5 | 2.00 [1.99, 2.02] | 0.002 | {accuracies} | 2.00 [1.99, 2.02] |")
    assert rows[8].startswith("| 2-1 | -0.600 [-0.610, -0.580]")
    assert "1 of 72 heads make the result on grammar significantly worse, and 1 significantly better (" in text
    assert "1 of 72 heads cost significantly more on" in text
    assert "zero and mean 1.00" in text
    maps = [*AblationMeasure.maps(run)]
    assert len({one.title for one in maps}) == 8
    assert maps[0].values[2][4] == 2
    of_three = maps[-1]
    assert of_three.unit == "percentage points"
    assert np.isnan(of_three.values[3:]).all()
    assert not np.isnan(of_three.values[:3]).any()


@pytest.mark.parametrize(("unit", "worse", "first"), [("nats a label", "none", "1-1"), ("score", "1", "3-5")])
def test_of_labels_the_logit_difference_decides_but_not_over_a_score_of_ones_own(
    measured: Callable[..., Run], unit: str, worse: str, first: str
) -> None:
    value = heads("labels of a", unit, "zero", VALUE, 0.2)
    logit = heads("labels of a", "logits", "zero", LOGIT, 0.1).assign(p_adjusted=1.0)
    logit.loc[0, "cost"] = 9.0
    run = measured(ablations=pd.concat([value, logit], ignore_index=True))
    text = told(AblationMeasure, run)
    assert f"Ablated alone, {worse} of 72 heads make the result on labels of a" in text
    assert next(line for line in text.splitlines() if re.match(r"\| \d-", line)).startswith(f"| {first} | ")
    assert ("significantly worsens" in AblationMeasure.without(run, "3-5")) == (worse == "1")
    (row,) = contrasts(behaviour="labels of a")[:1].to_dict("records")
    against = pd.DataFrame([row | {"measure": VALUE, "unit": unit}, row | {"measure": LOGIT, "unit": "logits"}])
    text = told(AblationMeasure, measured(ablations=run.tables["ablations"], ablation_contrasts=against))
    assert ("labels of a, logit difference: without" in text) == (unit != "score")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "That is significantly more (difference 11.1 [2.0, 20.0], p = 0.048)."),
        ({"ci_low": -0.01}, "That is not significantly more"),
        ({"by": "largest margin"}, "without the 2 heads with the largest margins on agreement: all (3-5, 4-1)"),
        ({"elsewhere": 1}, "random heads of the same layers, 1 of them of other layers, for theirs have too few 1.2"),
    ],
)
def test_selected_heads_are_told_on_the_most_telling_measure(
    measured: Callable[..., Run], change: dict[str, Any], said: str
) -> None:
    text = told(AblationMeasure, measured(ablations=costs(), ablation_contrasts=contrasts(**change)))
    assert "- grammar, accuracy with attractors: without the 2 heads" in text
    assert said in text


def test_the_first_screen_tells_comparisons_or_single_heads_and_what_is_lost_without_a_head(
    measured: Callable[..., Run],
) -> None:
    nothing = Verdicts(RunThresholds(), ())
    single, *_ = AblationMeasure.effects(measured(ablations=costs()), nothing)
    assert "Ablated alone, 1 of 72 heads make the result on grammar significantly worse, and" in single
    four = pd.concat([contrasts(), contrasts(name="agreement: far")], ignore_index=True)
    run = measured(ablations=costs(), ablation_contrasts=four)
    counted, first, *_, more = AblationMeasure.effects(run, nothing)
    assert "in 6 of 6 comparisons" in counted
    assert first.startswith("grammar: ablating the 2 heads of agreement: all costs 0.123 nats between")
    assert more == "The other 3 comparisons are in the section Ablation."
    assert AblationMeasure.without(run, "3-5") == (
        "Ablated alone, it significantly worsens the result on grammar (cost 2.00 [1.99, 2.02] nats between the two "
        "sentences)."
    )
    assert "significantly improves" in AblationMeasure.without(run, "2-1")
    assert "does not significantly change" in AblationMeasure.without(run, "1-1")
    assert AblationMeasure.without(run, "9-9") == ""
    far = measured(ablations=heads("embedding", COSINE, "zero", VALUE, 0.001))
    assert AblationMeasure.without(far, "3-5").endswith("cosine, significantly more than the median head does.")


@pytest.mark.slow
def test_every_option_is_heard(ablate: Callable[..., Path], speaker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    ways = 'ablation.ways=["uniform", "resample"]'
    changes = ("ablation.layers=false", "ablation.draws=2", "ablation.top=1", "ablation.items=5")
    folder = ablate(speaker, 'ablation.behaviours=["embedding"]', ways, *changes)
    costs, contrasts = tables(folder)
    assert list(dict.fromkeys(costs.way)) == ["uniform", "resample"]
    assert set(costs.kind) == {"head", "selected", "random"}
    assert costs.n.max() <= 5
    assert (contrasts.draws == 2).all()
    assert (contrasts["name"] == "position: previous").all(), "what matches the embedding"
    assert (contrasts.by == "largest margin").all()
    _, nothing = tables(ablate(speaker, 'ablation.behaviours=["embedding"]', "ablation.draws=0"))
    assert nothing.empty
