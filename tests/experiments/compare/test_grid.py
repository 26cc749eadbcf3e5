"""Grids: which runs they ask for, each with the config that a run of its own would have, and what is refused."""

from pathlib import Path

import pytest

from experiments.compare.grid import load_atlas
from experiments.config.config import ConfigError
from experiments.run.config import load_config

GRID = """
name = "many"
seeds = [0, 7]
[models.trained]
name = "minilm"
[models.drawn]
name = "minilm"
source = "random"
[corpora.small]
select = { name = "grammar", documents = 3, seed = 1 }
report = { name = "grammar", documents = 3, seed = 2 }
[corpora.own]
select = { path = "texts.conllu" }
[probes]
names = ["position"]
"""


def written(folder: Path, text: str = GRID) -> Path:
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    (folder / "texts.conllu").touch()
    return path


def test_there_is_a_run_for_each_model_corpus_and_seed_with_models_together(tmp_path: Path) -> None:
    atlas = load_atlas(written(tmp_path))
    assert [cell.name for cell in atlas.cells] == [
        *("trained-small-0", "trained-small-7", "trained-own-0", "trained-own-7"),
        *("drawn-small-0", "drawn-small-7", "drawn-own-0", "drawn-own-7"),
    ]
    assert (atlas.name, atlas.cluster.address, atlas.cluster.each_threads) == ("many", "", 0)
    assert {(cell.model, cell.corpus, cell.seed) for cell in atlas.cells} >= {("drawn", "own", 7)}


def test_a_model_may_read_some_of_the_corpora(tmp_path: Path) -> None:
    only = GRID.replace('source = "random"\n', 'source = "random"\ncorpora = ["own"]\n')
    atlas = load_atlas(written(tmp_path, only))
    assert [cell.name for cell in atlas.cells if cell.model == "drawn"] == ["drawn-own-0", "drawn-own-7"]
    wrong = GRID.replace('source = "random"\n', 'source = "random"\ncorpora = ["small", "other"]\n')
    with pytest.raises(ConfigError, match=r"models\.drawn\.corpora: 'other': expected some of small, own"):
        load_atlas(written(tmp_path, wrong))


def test_a_run_has_the_config_of_a_file_of_its_own(tmp_path: Path) -> None:
    alone = tmp_path / "alone.toml"
    alone.write_text(
        'name = "drawn-own-7"\nseed = 7\n[model]\nname = "minilm"\nsource = "random"\n[corpus]\n'
        'select = { path = "texts.conllu" }\n[probes]\nnames = ["position"]\n',
        encoding="utf-8",
    )
    assert load_atlas(written(tmp_path)).cells[-1].config == load_config(alone)


def test_keys_are_set_from_the_command_line(tmp_path: Path) -> None:
    changes = ["seeds=[3]", "models.trained.source=permuted", "cluster.address=local:4", "cluster.threads=2"]
    atlas = load_atlas(written(tmp_path), changes)
    assert {cell.seed for cell in atlas.cells} == {3}
    assert atlas.cells[0].config.model.source == "permuted"
    assert (atlas.cluster.address, atlas.cluster.each_threads) == ("local:4", 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "many"', 'name = "many"\nseed = 1', "grid.toml: seed: a grid has seeds"),
        ("[probes]", "[train]\n[probes]", "grid.toml: train: a grid has none; train first, and name the checkpoint"),
        ("seeds = [0, 7]", "seeds = [-1]", "grid.toml: seeds.0: "),
        ('source = "random"', 'source = "train"', "grid.toml: models.drawn: source is "),
        ('source = "random"', "sources = 1", "(models.drawn on corpora.small)"),
        ('names = ["position"]', 'names = ["nothing"]', "(models.trained on corpora.small)"),
    ],
)
def test_what_no_grid_is_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_atlas(written(tmp_path, GRID.replace(old, new, 1)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
