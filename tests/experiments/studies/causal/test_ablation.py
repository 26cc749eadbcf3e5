"""Ablation in a run: what is switched off, which heads are chosen, and what is refused."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from experiments.config.config import ConfigError
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.studies.causal.ablation import choose_heads
from mha import Ablate, MaskedLM, ModelError, intervene, load_model
from probes.causal.ablation import Heads, measure
from probes.causal.behaviours import Behaviour, preferences
from probes.minimal_pairs import Kind, MinimalPair
from reports import Run

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
    studies = Run.open(folder).studies
    return studies["ablations"], studies["ablation_contrasts"]


@pytest.mark.slow
def test_a_run_tells_what_heads_cost_and_its_page_says_so(
    ablate: Callable[..., Path], speaker: Path, tmp_path: Path
) -> None:
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
    page = (folder / "report" / "index.html").read_text("utf-8")
    text = (folder / "report" / "report.md").read_text("utf-8")
    assert "Ablation" in page
    assert "## Ablation" in text
    assert "random heads of the same layers" in text
    assert (folder / "report" / "figures" / "ablation.png").is_file()
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

    def counted(behaviour: Behaviour, sets: Sequence[Heads], **named: Any) -> torch.Tensor:
        read.append(len(sets))
        return measure(behaviour, sets, **named)

    monkeypatch.setattr("experiments.run.behaviours.measure", counted)
    more = ("ablation.items=9", "ablation.draws=0", f'importance={{behaviours=["embedding"], items={items}}}')
    studies = Run.open(ablate(tiny, 'ablation.behaviours=["embedding"]', *more)).studies
    assert read == [5] * times, "the model as it is, and without each of 4 heads"
    single = studies["ablations"][studies["ablations"].kind == "head"]
    assert (single.cost.tolist() == studies["importance"].cost.tolist()) == (times == 1)


@pytest.mark.slow
@pytest.mark.usefixtures("without_page")
def test_accuracies_downstream_lose_by_heads_below_alone(
    ablate: Callable[..., Path], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.measures.ensembles.FEWEST", 5)
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


def test_a_run_that_names_no_behaviour_switches_nothing_off(scored: Callable[..., Run]) -> None:
    assert "ablations" not in scored().studies


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
