from pathlib import Path
from typing import Any

import pytest

from experiments.compare.grid import load_atlas
from experiments.config.config import ConfigError, CorpusPart, resolved
from experiments.config.file import CONFIGS, find_config
from experiments.run.config import config_tables, load_config, load_training
from probes import registry

SHIPPED = sorted(CONFIGS.glob("*.toml"))


def at(table: dict[str, Any], key: str) -> Any:
    for part in key.split("."):
        table = table[part]
    return table


LEAST = 'name = "least"\ncorpus.select.name = "grammar"\n'


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Return the function that writes a config file."""

    def write(text: str = LEAST) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def complaint(path: Path, *changes: str) -> str:
    """Return what is said about a config that cannot be used, without the name of the file."""
    with pytest.raises(ConfigError) as caught:
        load_config(path, changes)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_configs_that_come_with_headscope_are_valid_and_named_as_their_files(path: Path) -> None:
    load = load_atlas if "[corpora." in path.read_text(encoding="utf-8") else load_config
    assert load(path).name == path.stem


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        (" seed = 3 ", "seed", 3),
        ("name='quoted'", "name", "quoted"),
        ("name=v1.2", "name", "v1.2"),
        ("model.name=a=b", "model.name", "a=b"),
        ("probes.names=['position', 'agreement']", "probes.names", ["position", "agreement"]),
        ("corpus.select={name='grammar', seed=4}", "corpus.select.seed", 4),
    ],
)
def test_set_takes_toml_values_and_bare_words(change: str, key: str, value: Any, write: Any) -> None:
    assert at(resolved(load_config(write(), [change])), key) == value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("page.zebra=1", "unknown key 'page.zebra'; known here are examples, sentences"),
        ("model=minilm", "model: expected a table with name, source, step, precision, device, revision; got 'minilm'"),
        ("model.revision=v2", "model: 'revision' is for a model of the hub, called \"hub:owner/name\""),
        ("controls={permuted=1}", "controls: permuted = 1: how much they vary takes 2 at least; 0 switches them off"),
        ("controls.arcs=true", "unknown key 'controls.arcs'; known here are random, permuted, orders, sample_words"),
        ("probes.names=['position', 'position']", "probes.names: probe 'position' is named twice"),
        ("probes.baselines=['ofset']", "probes.baselines: unknown baseline 'ofset'; did you mean 'offset'?"),
        ("corpus.select.name=ewt-dv", "corpus.select: unknown corpus 'ewt-dv'; did you mean 'ewt-dev'?"),
        ("corpus.select.path=x.conllu", "corpus.select: a corpus has either a name, a path or texts"),
        ("corpus.select.first=3", "corpus.select: 'first' is for a file; the grammar takes documents"),
        ("corpus.select={path='x', seed=3}", "corpus.select: 'seed' is for the grammar; a file takes first"),
        ("corpus.select={name='agreement', wide=true}", "corpus.select: 'wide' is for the grammar; a file takes first"),
        ("corpus={}", "'corpus.select' is missing"),
        ("corpus.report={name='grammar', documents=9}", "corpus: 'select' and 'report' are the same corpus, so heads"),
        ("corpus={select={name='gum-dev', first=3}, report={name='gum-dev'}}", "corpus: 'select' and 'report' are the"),
        ("corpus.select={path='x', sets=['opensesame']}", "corpus.select: 'sets' is for the corpus of agreement"),
        ("corpus.select={name='agreement', sets=['grammar', 'grammar']}", "corpus.select: 'sets' names a set twice"),
        ("relatedness.ratings=['mem']", "relatedness: unknown ratings 'mem'; did you mean 'men'?"),
        ("relatedness.ratings=['men', 'men']", "relatedness: ratings 'men' are named twice"),
        ("ablation.behaviours=['loss', 'loss']", "ablation.behaviours: behaviour 'loss' is named twice"),
        ("ablation.behaviours=loss", "ablation.behaviours: expected a list, such as [\"loss\"]; got 'loss'"),
        ("scoring.window_words=2.5", "scoring.window_words: expected a whole number; got 2.5"),
        ("corpus.text=written", "corpus.text: expected 'words' or 'raw'; got 'written'"),
        ("train={data={name='grammar'}, heads=1}", "unknown key 'train.heads'; did you mean 'train.encoder.heads'?"),
        ("annotate=x", "unknown key 'annotate'; did you mean 'corpus.annotate'?"),
        ("enabled=true", "unknown key 'enabled'; known here are name, seed"),  # several tables have it
    ],
)
def test_what_cannot_be_used_is_said_in_one_line_with_file_and_key(change: str, message: str, write: Any) -> None:
    assert complaint(write(), change).startswith(message)


def test_controls_that_a_config_of_an_earlier_version_switched_off_are_off(write: Any) -> None:
    config = load_config(write(), ["controls={random=0, permuted=0, words=false, arcs=false}"])
    assert config == load_config(write(), ["controls={random=0, permuted=0, orders=0}"])
    assert load_config(write(), ["controls.arcs=false"]) == load_config(write())


def test_a_folder_in_place_of_a_config_has_results_from_a_run(tmp_path: Path) -> None:
    assert complaint(tmp_path) == "is a folder, expected a file, or the name of a config"
    (tmp_path / "run.json").touch()
    assert complaint(tmp_path).endswith("; headscope report makes the page of a run again")


def test_a_key_that_a_training_does_not_know_has_results_and_no_corpus_is_asked_of_it(write: Any) -> None:
    path = write('name = "small"\ntrain.data.name = "grammar"\ntrain.steps = 2\n')
    with pytest.raises(ConfigError, match=r"unknown key 'steps'; did you mean 'train\.steps'\?$"):
        load_training(path, ["steps=3"])
    assert load_training(path, ["train.steps=3"]).train.steps == 3


@pytest.mark.parametrize(
    ("name", "hint"),
    [("nsubj", "'nsubj' is a label of dependency: name that probe"), ("all", ""), ("zebra", "")],
)
def test_a_label_in_place_of_a_probe_has_results_with_its_probe(name: str, hint: str, write: Any) -> None:
    assert complaint(write(), f"probes.names=['{name}']").partition(" (")[2].removesuffix(")") == hint


OWN = "import headscope\n\n\n@headscope.probe\ndef mine(sentence):\n    return {1: 0}\n"


def test_probes_of_files_are_asked_beside_names_and_alone_without_them(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "rows.csv").write_text("text;query;gold\na b;1;0\n", encoding="utf-8")
    files = "probes.files=['own.py', 'rows.csv']"
    asked = [load_config(write(), [files, *names]).probes for names in ((), ("probes.names=['rare', 'mine']",))]
    assert [one.names for one in asked] == [("mine", "rows"), ("rare", "mine", "rows")]
    assert asked[0].files == (str(tmp_path / "own.py"), str(tmp_path / "rows.csv"))
    (tmp_path / "own.py").write_text(OWN.replace("mine", "other"), encoding="utf-8")
    assert load_config(write(), [files]).probes.names == ("other", "rows"), "a file is read anew"
    for name, text in (("twice.py", OWN.replace("mine", "rows")), ("none.py", ""), ("bad.csv", "text,query\na b,1")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name, said in (
        ("gone.py", "gone.py: no such file; expected a Python file with a probe"),
        ("gone.csv", "'gone.csv': no such file"),
        ("none.py", f"{tmp_path}/none.py: no @headscope.probe in it; each file defines probes of other names"),
        ("twice.py", f"{tmp_path}/twice.py: it cannot be loaded (ValueError: two probes are called 'rows'; one is of"),
        ("own.py', './own.py", f"{tmp_path}/own.py: an earlier file has other too"),
        ("bad.csv", f"{tmp_path}/bad.csv:2: expected text (a string or a list of words), query and gold"),
    ):
        assert complaint(write(), f"probes.files=['rows.csv', '{name}']").startswith(f"probes.files: {said}"), name


def test_a_config_that_comes_along_is_found_by_its_name_unless_a_file_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(Path("quickstart")) == load_config(CONFIGS / "quickstart.toml")
    assert find_config(Path("claims/heads")) == CONFIGS / "claims" / "heads.toml"
    Path("quickstart").write_text("name = 'mine'")
    assert find_config(Path("quickstart")) == Path("quickstart")


def test_paths_are_relative_to_the_config_file(write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    (tmp_path / "model").mkdir()
    text = 'name = "x"\nmodel.name = "model"\ncorpus = {select = {path = "a.conllu"}, report = {path = "../b.conllu"}}'
    config = load_config(write(text))
    assert config.model.name == str(tmp_path / "model")
    assert config.corpus.select.path == tmp_path / "a.conllu"
    assert config.corpus.report == CorpusPart(path=tmp_path.parent / "b.conllu")
    assert load_config(write(text), ["corpus.select.path=/c.conllu"]).corpus.select.path == Path("/c.conllu")


def test_a_model_folder_may_also_be_seen_from_the_current_folder_and_is_noted_whole(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    (here / "model").mkdir(parents=True)
    monkeypatch.chdir(here)
    assert load_config(write(), ["model.name=model"]).model.name == str(here / "model")
    assert load_config(write(), ["model.name=org/model"]).model.name == "org/model"
    (tmp_path / "minilm").mkdir()
    assert load_config(write(), ["model.name=minilm"]).model.name == "minilm", "a short name is no folder"
    monkeypatch.setenv("HOME", str(tmp_path))
    config = load_config(write(), ["model.name=~/minilm", "corpus.select={path='~/a.conllu'}"])
    assert (config.model.name, config.corpus.select.path) == (str(tmp_path / "minilm"), tmp_path / "a.conllu")


def test_what_a_call_asks_for_stands_in_the_tables_of_a_config_and_in_its_place(tmp_path: Path) -> None:
    assert config_tables(None, None, "", ()) == {}
    given = config_tables("grammar", str(tmp_path), "spacy:en_core_web_sm", "dependency")
    assert given == {
        "corpus": {
            "select": {"name": "grammar"},
            "report": {"path": str(tmp_path)},
            "annotate": "spacy:en_core_web_sm",
        },
        "probes": {"names": ["dependency"]},
    }
    (tmp_path / "some.toml").write_text('name = "some"\nprobes.trained = true\ncorpus.select.name = "senses"')
    config = load_config(tmp_path / "some.toml", ["seed=4"], config_tables("grammar", None, "", ["position"]))
    assert (config.name, config.seed, config.corpus.select.name) == ("some", 4, "grammar")
    assert (config.probes.names, config.probes.trained) == (("position",), True)


@pytest.mark.parametrize(
    ("model", "corpus", "name"),
    [("minilm", "grammar", "minilm-grammar"), ("hub:some/bert-x", "my trees.conllu.gz", "bert-x-my-trees")],
)
def test_a_run_without_a_config_is_called_after_its_model_and_corpus(
    model: str, corpus: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my trees.conllu.gz").touch()
    given = config_tables(corpus, None, "", ()) | {"model": {"name": model}}
    assert load_config(None, (), given).name == name


def test_files_of_the_hub_are_told_apart_by_their_whole_path_and_stay_as_they_are_given(write: Any) -> None:
    files = [f"hub:jumelet/multiblimp/{language}/data.tsv" for language in ("deu", "nld")]
    config = resolved(load_config(write(), [f"behaviour.corpora={files}", f"ablation.behaviours={files}"]))
    assert at(config, "behaviour.corpora") == at(config, "ablation.behaviours") == files
    twice = "behaviour: minimal pairs 'multiblimp-deu-data' are named twice"
    assert complaint(write(), f"behaviour.corpora={files[:1] * 2}").startswith(twice)
