"""Relations between heads: a whole run, its keys, and numbers of the page."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.measures.headset import HeadSetMeasure
from experiments.run.config import load_config
from experiments.run.run import run
from mha import load_model
from probes.weights.subspaces import head_weights, subspace_overlap
from reports import Run
from reports.blocks.block import Charts
from tests.reports.head_rows import head_tables

ON = ("heads={texts=12, groups=3, permutations=99, relations=3, largest=3}", 'probes.names=["dependency", "position"]')
MANY = ("corpus.select.documents=40", "corpus.report.documents=40")


@pytest.fixture(scope="module")
def together(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of the tiny model that looks at heads as a set; not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        return run(load_config(base, (*ON, *MANY)), tmp_path_factory.mktemp("together"), page=False)


@pytest.mark.slow
def test_a_run_writes_every_table_and_tells_what_was_compared(together: Path) -> None:
    found = Run.open(together)
    assert set(found.tables) >= {*HeadSetMeasure.tables}
    assert (len(found.tables["distances"]), len(found.tables["places"])) == (6, 4)
    assert len(found.tables["subspaces"]) == 6 * 3 * 2, (
        "W_V, W_O and outputs, own and with randomly initialised weights"
    )
    assert [found.facts("heads")[name] for name in ("texts", "left_out")] == [7, 5], "of 12; 5 are too long"
    assert found.tables["distances"].distance.between(0, np.log(2)).all()
    assert sorted(found.tables["places"].group.unique()) == [1, 2, 3], "as many as the config says"
    contrasts = found.tables["contrasts"]
    assert contrasts[["what", "weights"]].to_numpy().tolist() == [
        [what, weights] for weights in ("own", "random") for what in ("maps", "W_V", "W_O", "outputs")
    ]
    assert (contrasts.pairs_within == 2).all()
    assert (contrasts.pairs_between == 4).all()


@pytest.mark.slow
def test_subspaces_are_those_of_the_model_s_weights(together: Path, tiny: Path) -> None:
    table = Run.open(together).tables["subspaces"]
    for weights, source in (("own", "pretrained"), ("random", "random")):
        spans = head_weights(load_model(str(tiny), source, 0))
        for what in ("W_V", "W_O"):
            rows = table[(table.what == what) & (table.weights == weights)]
            overlap, nearest = subspace_overlap(spans[what])
            np.testing.assert_allclose(rows.overlap, overlap[np.triu_indices(4, 1)])
            np.testing.assert_allclose(rows.nearest, nearest[np.triu_indices(4, 1)])


@pytest.mark.slow
def test_heads_are_compared_by_the_maps_that_the_run_reads(together: Path, scored: Callable[..., Run]) -> None:
    found, plain = scored(*ON, *MANY, "scoring.maps='rollout'"), Run.open(together)
    for name, what in (("distances", "distance"), ("places", "distance")):
        assert found.tables[name][what].between(0, np.log(2)).all()
        assert (found.tables[name][what] - plain.tables[name][what]).abs().max() > 1e-3
    contrasts = [run.tables["contrasts"].set_index(["what", "weights"])["between"] for run in (found, plain)]
    assert abs(contrasts[0]["maps", "random"] - contrasts[1]["maps", "random"]) > 1e-6, "fresh weights are read alike"


@pytest.mark.slow
def test_heads_are_compared_on_no_more_words_than_asked(scored: Callable[..., Run]) -> None:
    few = scored("heads={texts=12, relations=0, words=20}", 'probes.names=["position"]', *MANY).facts("heads")
    assert 0 < few["words"] <= 20
    assert few["texts"] + few["left_out"] < 12


def test_the_page_has_means_over_pairs_and_a_plane(measured: Callable[..., Run]) -> None:
    record = {"texts": 40, "words": 512, "left_out": 3, "stress": 0.12, "silhouette": 0.31}
    blocks = [*HeadSetMeasure.page(measured({"heads": record}, **head_tables()))]
    page = "\n\n".join(block.markdown for block in blocks)
    assert "All 5 heads were compared on 40 texts of the report split, 512 words; 3 more could not be read" in page
    assert "Heads of one layer are nearer to each other in their maps (0.20 nats) than heads of two layers" in page
    assert "heads read (W\\_V): those of two heads overlap by 29.0 %" in page, "(4 * 0.2 + 6 * 0.35) / 10"
    assert "weights by 8.0 %; 100.0 % of pairs overlap more than any pair" in page
    assert "into 2 groups, of 3, 2 heads (mean silhouette 0.31)." in page
    assert "| maps: distance, nats | 0.320 | 0.200 | 0.400 | 0.004 | 0.020 | – |" in page
    (plane,), overlaps = (block.charts for block in blocks if isinstance(block, Charts))
    assert [row["head"] for row in plane.spec["layer"][0]["data"]["values"]] == ["1-1", "1-2", "1-3", "2-1", "2-2"]
    shares = pd.DataFrame(overlaps[0].spec["data"]["values"])
    assert shares.groupby("weights")["share"].sum().to_list() == pytest.approx([100, 100])
    peak = shares[(shares["weights"] == "this model") & (shares["from"] <= 0.6) & (shares["to"] >= 0.6)]
    assert peak["share"].sum() == pytest.approx(10), "one of ten pairs"
