"""Ablation in a run: what is switched off, which heads are chosen, and what is refused."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.config.config import ConfigError
from experiments.measures.ablation import AblationMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from mha import Ablate, MaskedLM, ModelError, intervene, load_model
from probes.causal.ablation import Heads, measure
from probes.causal.ablation_table import ACCURACY, ATTRACTED, COLUMNS, CONTRASTS, VALUE
from probes.causal.behaviours import Behaviour, preferences
from probes.causal.head_sets import KINDS, MARGIN, SPECIALISED, choose_heads
from probes.minimal_pairs import Kind, MinimalPair
from reports import Run
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts
from reports.tables import ablations
from reports.tables.shared_columns import MEASURES
from tests.experiments.measures.conftest import told

PAIRS = "True\tthe king sleeps\nFalse\tthe king sleep\nTrue\tthe kings sleep\nFalse\tthe kings sleeps\n"
FEW = ("corpus.select.documents=2", "corpus.report.documents=3", 'probes.names=["position"]', "scoring.flips=99")


@pytest.fixture
def ablate(base: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return the function that runs a model on a few texts with changes as of --set."""

    def ablate(model: Path, *changes: str) -> Path:
        config = load_config(base, (*FEW, f"model.name='{model}'", *changes))
        return run(config, tmp_path / "runs", overwrite=True)

    return ablate


@pytest.fixture
def without_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)


def tables(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    studies = Run.open(folder).tables
    return studies["ablations"], studies["ablation_contrasts"]


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


@pytest.mark.slow
@pytest.mark.usefixtures("without_page")
def test_every_option_is_heard(ablate: Callable[..., Path], speaker: Path) -> None:
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


@pytest.mark.slow
@pytest.mark.usefixtures("without_page")
@pytest.mark.parametrize(("items", "times"), [(9, 1), (8, 2)])
def test_single_heads_are_switched_off_once_for_all_studies_that_ask_about_the_same(
    ablate: Callable[..., Path], tiny: Path, monkeypatch: pytest.MonkeyPatch, items: int, times: int
) -> None:
    read: list[int] = []

    def counted(behaviour: Behaviour, sets: Sequence[Heads], *way: str, **named: Any) -> torch.Tensor:
        read.extend([len(sets)] * (not way))
        return measure(behaviour, sets, *way, **named)

    monkeypatch.setattr("experiments.run.behaviours.measure", counted)
    more = ("ablation.items=9", "ablation.draws=0", f'importance={{behaviours=["embedding"], items={items}}}')
    studies = Run.open(ablate(tiny, 'ablation.behaviours=["embedding"]', *more)).tables
    assert read == [5] * times, "the model as it is, and without each of 4 heads"
    single = studies["ablations"][studies["ablations"].kind == "head"]
    assert (single.cost.tolist() == studies["importance"].cost.tolist()) == (times == 1)


@pytest.mark.slow
@pytest.mark.usefixtures("without_page")
def test_accuracies_downstream_lose_by_heads_below_alone(
    ablate: Callable[..., Path], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probes.evidence.relations.FEWEST", 5)
    more = ('probes.names=["dependency"]', "ablation.downstream=6", "ablation.layers=false")
    folder = ablate(tiny, *more, "corpus.select.documents=6", "corpus.report.documents=6")
    costs, contrasts = tables(folder)
    notes = json.loads((folder / "run.json").read_text("utf-8"))["notes"]
    of_first = [note for note in notes if "is of the first layer: no head is below it" in note]
    assert costs.behaviour.nunique() + len(of_first) == 6
    assert of_first, "some are of the first layer"
    assert set(costs.layer) == {0}
    assert (costs.unit == "accuracy").all()
    assert contrasts.empty


@pytest.mark.usefixtures("without_page")
def test_a_model_without_a_head_is_refused_before_anything_is_scored(
    ablate: Callable[..., Path], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "experiments.run.scope.score_corpus", lambda *words, **named: pytest.fail("something was scored")
    )
    with pytest.raises(ModelError, match="has no masked-LM head"):
        ablate(tiny, 'ablation.behaviours=["embedding", "loss"]')


def scores(rows: list[tuple[str, str, int, int, str, float, bool]]) -> pd.DataFrame:
    columns = ["label", "variant", "layer", "head", "split", "margin", "grade"]
    return pd.DataFrame(rows, columns=columns).assign(probe="agreement")


SCORES = scores(
    [
        ("all", "one way", 0, 1, "select", 0.3, True),
        ("all", "one way", 2, 0, "select", 0.2, False),
        ("all", "other way", 2, 0, "select", 0.4, False),
        ("all", "other way", 1, 1, "select", 0.1, False),
        ("all", "one way", 1, 1, "report", 0.1, True),
        ("all", "other way", 0, 0, "report", 0.2, True),
        ("all", "other way", 1, 1, "report", 0.2, True),
        ("far", "one way", 2, 2, "report", 0.5, True),
    ]
)


def test_heads_are_chosen_by_verdict_or_by_their_largest_margin_in_any_variant() -> None:
    assert choose_heads(SCORES, "agreement: all", 0) == (((0, 0), (1, 1)), "specialised")
    assert choose_heads(SCORES, "agreement: all", 2) == (((0, 1), (2, 0)), "largest margin")
    none = SCORES.assign(grade=0)
    assert choose_heads(none, "agreement: all", 0) == (((2, 0),), "largest margin")
    assert choose_heads(SCORES, "position: all", 0)[0] == ()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ('ablation.behaviours=["los"]', "ablation"),
        ('ablation.behaviours=["loss", "loss"]', "behaviour 'loss' is named twice"),
        ('ablation.ways=["noise"]', "ablation.ways"),
        ('ablation.ways=["zero", "zero"]', "way 'zero' is named twice"),
        ("ablation.ways=[]", "ablation.ways"),
        ('ablation.labels=["agreement: "]', 'expected "probe: label", such as "agreement: all", or "agreement"'),
        ('ablation.labels=["agrement: all"]', "did you mean 'agreement'"),
        ("ablation.items=1", "ablation.items: Input should be greater than or equal to 2"),
        ("ablation.layer=false", "unknown key 'ablation.layer'; did you mean 'layers'"),
    ],
)
def test_faults_in_the_table_are_told_in_one_line(base: Path, change: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(base, (change,))
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


ONE_RUN = {"model": "minilm", "step": pd.NA, "corpus": "EWT dev"}
UNITS = {VALUE: "nats between the two sentences", ACCURACY: "share of pairs", ATTRACTED: "share of pairs"}
COSINE = "cosine with the intact embedding"


def heads(behaviour: str, unit: str, way: str, measure: str, size: float, layers: int = 6) -> pd.DataFrame:
    """Invented costs: head 3-5 costs ten times `size`, without 2-1 the model does better by three times that."""
    cell = np.arange(layers * 12)
    cost, p = size * np.linspace(-0.5, 0.5, len(cell)), np.full(len(cell), 0.8)
    for place, times in {28: 10, 12: -3}.items():
        cost[place], p[place] = size * times, 0.002
    names = [f"{place // 12 + 1}-{place % 12 + 1}" for place in cell]
    about = {**ONE_RUN, "behaviour": behaviour, "unit": unit, "way": way, "measure": measure, "draw": 0, "kind": "head"}
    told = about | {"name": names, "layer": cell // 12, "head": cell % 12, "heads": 1, "n": 1500, "clusters": 318}
    numbers = {"intact": 0.75, "ablated": 0.75 - cost, "cost": cost, "ci_low": cost - 0.01, "ci_high": cost + 0.02}
    return pd.DataFrame(told | numbers | {"p": p, "p_adjusted": p})


def costs() -> pd.DataFrame:
    sizes = {VALUE: 0.2, ACCURACY: 0.01, ATTRACTED: 0.01}
    parts = [heads("grammar", UNITS[of], way, of, sizes[of]) for way in ("zero", "mean") for of in UNITS]
    parts += [heads("sentence embedding", COSINE, "zero", VALUE, 0.001)]
    return pd.concat([*parts, heads("4-1 on <obj>", "accuracy", "zero", VALUE, 0.01, layers=3)], ignore_index=True)


def contrasts(**changes: Any) -> pd.DataFrame:
    row = {**ONE_RUN, "behaviour": "grammar", "way": "zero", "name": "agreement: all", "by": "specialised"}
    row |= {"heads": "3-5 4-1", "draws": 20, "n": 1500, "clusters": 318, "cost": 0.123, "random_cost": 0.012}
    row |= {"random_least": -0.01, "random_most": 0.05, "difference": 0.111, "ci_low": 0.02, "ci_high": 0.2}
    row |= {"p": 1 / 21, "elsewhere": 0, **changes}
    return pd.DataFrame([row | {"measure": measure, "unit": unit} for measure, unit in UNITS.items()])


def test_the_tables_are_those_that_probes_make() -> None:
    own = {"model", "step", "corpus"}
    assert set(ablations.ABLATIONS.names) - own == set(COLUMNS)
    assert set(ablations.ABLATION_CONTRASTS.names) - own == set(CONTRASTS)
    assert (ablations.KINDS, MEASURES) == (KINDS, (VALUE, ACCURACY, ATTRACTED))
    assert ablations.SELECTED_BY == (SPECIALISED, MARGIN)


def test_the_costliest_heads_come_first_and_those_that_surely_help_last(measured: Callable[..., Run]) -> None:
    run = measured(ablations=costs())
    text = told(AblationMeasure, run)
    assert "cost, mean, nats between the two sentences" in text
    rows = [line for line in text.splitlines() if re.match(r"\| \d-", line)]
    assert rows[0].startswith("| 3-5 | 2.00 [1.99, 2.02] | 10.0 [9.0, 12.0] | 10.0 [9.0, 12.0] | 2.00 [1.99, 2.02] |")
    assert rows[8].startswith("| 2-1 | -0.600 [-0.610, -0.580]")
    assert "1 of 72 heads make the result significantly worse, and 1 significantly better." in text
    assert "1 significantly cost more than the median head." in text
    assert "zero and mean 1.00" in text
    (matrix,) = (block for block in AblationMeasure.page(run) if hasattr(block, "maps"))
    assert len(matrix.maps) == 8
    assert matrix.maps[0].values[2][4] == 2
    of_three = matrix.maps[-1]
    assert of_three.unit == "percentage points"
    assert np.isnan(of_three.values[3:]).all()
    assert not np.isnan(of_three.values[:3]).any()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "That is significantly more (difference 11.1 [2.0, 20.0], p = 0.048)."),
        ({"p": 2 / 21}, "That is not significantly more"),
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
    assert "Ablated alone, 1 of 72 heads make the result significantly worse, and" in single
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
