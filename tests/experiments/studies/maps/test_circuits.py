from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from torch import nn

from experiments.config.config import ConfigError
from experiments.inputs.open_model import Opened
from experiments.record.progress import silent
from experiments.record.run_record import Journal
from experiments.run.config import load_config
from experiments.run.context import RunContext
from experiments.run.run import run
from experiments.studies.maps.circuits import CircuitsSection, CircuitStudy
from mha import load_model
from mha.models.circuits import CircuitError
from probes import Corpus
from reports import Run

ASK = ("circuits.enabled=true", "circuits.words=30", "circuits.sentences=4", 'probes.names=["position"]')


@pytest.mark.slow
def test_a_run_that_asks_has_a_row_a_head_and_says_what_was_left_out(scored: Callable[..., Run]) -> None:
    found = scored(*ASK)
    heads = found.studies["circuits"]
    assert len(heads) == 4
    assert set(heads["corpus"]) == set(found.scores.loc[found.scores["split"] == "report", "corpus"])
    assert found.record.circuits.words == 30
    assert "weights alone" in found.record.stages
    dropped = [part for part in found.record.dropped if part.reason.startswith("weights alone: ")]
    assert any("vocabulary does not have whole" in part.reason for part in dropped)
    too_long = sum(part.count for part in dropped if "longer than the model" in part.reason)
    assert found.record.circuits.sentences + too_long == 4
    assert "circuits" not in scored('probes.names=["position"]').studies


def test_relations_of_ones_own_are_read_relative_to_the_config(base: Path, tmp_path: Path) -> None:
    config = tmp_path / "base.toml"
    config.write_bytes(base.read_bytes())
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    with pytest.raises(CircuitError, match=r"pairs\.tsv:1: expected a relation and two words"):
        run(load_config(config, [*ASK, "circuits.relations=pairs.tsv"]), tmp_path)
    with pytest.raises(ConfigError, match=r"unknown key 'circuits\.word'; did you mean 'words'"):
        load_config(base, ["circuits.word=3"])


def test_other_architectures_are_refused_only_where_a_run_asks(base: Path, tiny: Path) -> None:
    other = replace(load_model(str(tiny)), module=nn.Identity(), architecture="gpt2")
    corpus = Corpus.of([])

    def asked(*options: str) -> CircuitStudy | None:
        config = load_config(base, options)
        run = RunContext(config, Opened(other, config), (corpus, corpus), Journal(), silent)
        return CircuitStudy.open(run, CircuitsSection.of(config))

    assert asked() is None
    with pytest.raises(CircuitError, match="not of 'gpt2'"):
        asked(*ASK)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("norms", marks=pytest.mark.slow), "rollout"])
def test_a_run_reads_the_maps_that_its_config_names_and_its_page_says_so(
    kind: str, base: Path, scored: Callable[..., Run], tmp_path: Path
) -> None:
    probes = 'probes.names=["position", "dependency"]'
    found = run(load_config(base, [f"scoring.maps={kind}", probes, "page.examples=1"]), tmp_path)
    read, plain = Run.open(found), scored(probes)
    scores, weights = read.scores, plain.scores
    assert set(scores["maps"]) == {kind}
    assert set(weights["maps"]) == {"weights"}
    key = ["probe", "label", "variant", "name", "split"]
    one, other = (frame.set_index(key).sort_index() for frame in (scores, weights))
    assert (one["n"] == other["n"]).all()
    assert (one["accuracy"] != other["accuracy"])[one["n"] > 0].any()
    pd.testing.assert_frame_equal(
        read.studies["shapes"], plain.studies["shapes"]
    )  # they are those of attention, whatever is scored
    html = (found / "report" / "index.html").read_text(encoding="utf-8")
    assert f"This run did not read attention weights but {kind}" in html
    assert f"<b>{kind}</b>" in html
