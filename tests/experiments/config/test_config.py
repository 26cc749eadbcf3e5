import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from pydantic import BaseModel, ValidationError

from experiments.atlas.grid import load_atlas
from experiments.config.config import Config, ConfigError, CorpusPart, resolved
from experiments.config.file import CONFIGS, find_config
from experiments.run.config import RunConfig, load_config

SHIPPED = sorted(CONFIGS.glob("*.toml"))

CHANGED: dict[str, Any] = {
    "name": "other",
    "seed": 7,
    "model.name": "somewhere/else",
    "model.source": "permuted",
    "model.revision": "v2",
    "corpus.select.name": "ewt-train",
    "corpus.select.path": "/data/some.conllu",
    "corpus.select.first": 11,
    "corpus.select.documents": 12,
    "corpus.select.seed": 13,
    "corpus.select.wide": True,
    "corpus.select.column": "review",
    "corpus.select.subset": "plain",
    "corpus.select.split": "test",
    "corpus.select.sets": ["marvin-linzen", "grammar"],
    "corpus.report.name": "ewt-dev",
    "corpus.report.path": "/data/more.conllu",
    "corpus.report.first": 14,
    "corpus.report.documents": 15,
    "corpus.report.seed": 16,
    "corpus.report.wide": True,
    "corpus.report.sets": ["opensesame"],
    "corpus.report.column": "review",
    "corpus.report.subset": "plain",
    "corpus.report.split": "test",
    "corpus.annotate": "spacy:en_core_web_sm",
    "corpus.language": "de",
    "corpus.text": "raw",
    "probes.names": ["agreement"],
    "probes.trained": True,
    "probes.trained_pairs": 40,
    "scoring.batch_pieces": 512,
    "scoring.reduce": "first",
    "scoring.maps": "norms",
    "scoring.window_words": 50,
    "scoring.replicates": 99,
    "scoring.flips": 99,
    "scoring.metrics": True,
    "scoring.kept_mb": 64,
    "verdict.alpha": 0.01,
    "verdict.margin": 0.2,
    "controls.random": 3,
    "controls.permuted": 0,
    "controls.select_documents": 30,
    "controls.permutations_tried": 7,
    "controls.words": False,
    "controls.precision": "bf16",
    "model.precision": "bf16",
    "model.device": "cpu",
    "controls.arcs": False,
    "behaviour.corpora": ["grammar", "grammar-pronouns", "blimp"],
    "behaviour.first": 20,
    "behaviour.method": "pll",
    "behaviour.seed": 17,
    "circuits.enabled": True,
    "circuits.words": 40,
    "circuits.sentences": 7,
    "circuits.relations": "/data/pairs.tsv",
    "answers.questions": 70,
    "answers.texts": 7,
    "answers.one_head": 7,
    "answers.shortest": 5,
    "answers.longest": 9,
    "ablation.behaviours": ["embedding", "grammar"],
    "ablation.ways": ["mean", "resample"],
    "ablation.layers": False,
    "ablation.items": 7,
    "ablation.labels": ["agreement: all", "reflexive"],
    "ablation.top": 3,
    "ablation.draws": 4,
    "ablation.downstream": 2,
    "importance.behaviours": ["loss"],
    "importance.items": 7,
    "importance.directions": 3,
    "importance.taylor": False,
    "slopes.behaviours": ["loss"],
    "slopes.items": 7,
    "slopes.directions": 3,
    "pruning.behaviours": ["loss"],
    "pruning.items": 7,
    "pruning.directions": 3,
    "pruning.step": 0.25,
    "pruning.draws": 2,
    "pruning.left": 0.75,
    "gates.behaviours": ["embedding"],
    "gates.items": 7,
    "gates.prices": [0.02, 0.2],
    "gates.steps": 11,
    "gates.rate": 0.02,
    "gates.weights": True,
    "gates.weights_rate": 0.001,
    "patching.enabled": True,
    "patching.items": 7,
    "patching.seed": 5,
    "transfer.behaviours": ["grammar"],
    "transfer.items": 7,
    "transfer.seed": 5,
    "classifiers.tasks": ["all"],
    "classifiers.pairs": True,
    "classifiers.examples": 40,
    "classifiers.random": False,
    "classifiers.layers": False,
    "classifiers.codes": 2,
    "classifiers.coded": ["coreference"],
    "classifiers.parser": True,
    "classifiers.sentences": 30,
    "classifiers.workers": 3,
    "drift.texts": 7,
    "heads.texts": 7,
    "heads.groups": 3,
    "heads.permutations": 99,
    "heads.relations": 5,
    "heads.largest": 3,
    "heads.choice_texts": 70,
    "heads.words": 900,
    "few_labels.relations": 3,
    "few_labels.arcs": [5, 50],
    "few_labels.draws": 4,
    "few_labels.largest": 2,
    "mixing.texts": 5,
    "explanation.sentences": 40,
    "explanation.classifiers": 3,
    "explanation.seed": 7,
    "chains.enabled": True,
    "chains.texts": 7,
    "chains.random": False,
    "relatedness.ratings": ["men", "simlex"],
    "relatedness.permutations": 99,
    "sinks.texts": 7,
    "states.texts": 9,
    "states.contexts": 3,
    "states.sets": 2,
    "probing.sentences": 9,
    "probing.labelled": 8,
    "probing.pairs": 7,
    "deciles.enabled": True,
    "deciles.random_texts": 9,
    "shapes.enabled": False,
    "shapes.threshold": 2.0,
    "page.examples": 5,
    "page.sentences": 6,
    "biographies.probes": ["position"],
    "biographies.labels": ["det", "obj"],
    "biographies.steps": [0, 100],
    "biographies.first": 50,
    "biographies.replicates": 20,
    "biographies.match_texts": 5,
    "biographies.within_layers": True,
}
"A value other than the default for every key; what each does is tested where the table of its name is."


def keys(section: type[BaseModel], before: str = "") -> Iterator[str]:
    """Yield the dotted keys of a section and of those inside it."""
    for name, field in section.model_fields.items():
        kinds = getattr(field.annotation, "__args__", (field.annotation,))
        inner = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        yield from keys(inner[0], f"{before}{name}.") if inner else [f"{before}{name}"]


def put(table: dict[str, Any], key: str, value: Any) -> None:
    *tables, last = key.split(".")
    for part in tables:
        table = table.setdefault(part, {})
    table[last] = value


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


# --- what can be said


def test_every_key_is_given_another_value_by_a_test() -> None:
    # test_training.py, for clusters test_workers.py, test_corpora.py for texts, and test_adding.py for measures
    others = ("model.step", "train.", "cluster.", "corpus.select.texts", "corpus.report.texts", "measures")
    elsewhere = [key for key in keys(RunConfig) if key.startswith(others)]
    assert sorted([*CHANGED, *elsewhere]) == sorted(keys(RunConfig))


@pytest.mark.parametrize("key", CHANGED)
def test_a_key_is_read_from_the_file_and_from_set_alike(key: str, write: Any) -> None:
    file = {"path": "/data/other.conllu"}
    places = dict.fromkeys(("first", "column", "subset", "split"), file) | {"path": {}, "sets": {"name": "agreement"}}
    place = places.get(key.rpartition(".")[2], {"name": "grammar"})
    table: dict[str, Any] = {"name": "least", "corpus": {"select": dict(place), "report": dict(place)}}
    if "name" in place:
        put(table, f"corpus.{'select' if key.startswith('corpus.report') else 'report'}.seed", 1)
    elif place:
        put(table, "corpus.report.path", "/data/third.conllu")
    if not place:
        put(table, "corpus.select.path", "/data/a.conllu")
        put(table, "corpus.report.path", "/data/b.conllu")
    if key == "model.revision":
        put(table, "model.name", "hub:owner/name")
    if key.startswith(("biographies", "drift")):
        put(table, "model.source", "checkpoint")
    if key.startswith("answers"):
        put(table, "train", {"data": {"name": "grammar"}, "steps": 1, "masking": {"answers": ["is", "are"]}})
    default = load_config(write(tomli_w.dumps(table)))
    value = tomli_w.dumps({"v": CHANGED[key]}).partition("=")[2].strip()
    by_set = load_config(write(tomli_w.dumps(table)), [f"{key}={value}"])
    put(table, key, CHANGED[key])
    assert at(resolved(by_set), key) == CHANGED[key]
    assert load_config(write(tomli_w.dumps(table))) == by_set != default


def test_defaults_are_those_of_the_sections(write: Any) -> None:
    config = load_config(write())
    assert config == RunConfig(name="least", corpus={"select": {"name": "grammar"}})
    assert config.corpus.report is None
    assert (config.model.name, config.model.source) == ("minilm", "pretrained")
    assert (config.controls.random, config.controls.permuted, config.controls.permutations_tried) == (2, 3, 20)
    assert config.controls.precision == config.model.precision == "fp32", "grades do not depend on the processor"
    assert config.controls.words
    assert config.controls.arcs


def test_controls_may_be_switched_by_true_and_false_too(write: Any) -> None:
    controls = load_config(write(), ["controls.random=true", "controls.permuted=false"]).controls
    assert (controls.random, controls.permuted) == (1, 0)
    assert type(controls.random) is type(controls.permuted) is int


def test_a_config_without_the_tables_of_studies_is_not_made() -> None:
    values = {"name": "bare", "corpus": {"select": {"name": "grammar"}}}
    assert RunConfig.model_validate(values).name == "bare"
    with pytest.raises(TypeError, match=r"experiments\.run\.config"):
        Config.model_validate(values)


def test_a_config_cannot_be_changed(write: Any) -> None:
    config = load_config(write())
    with pytest.raises(ValidationError, match="frozen"):
        config.seed = 1  # type: ignore[misc]


def test_what_was_resolved_can_be_read_again_and_says_the_same(write: Any, tmp_path: Path) -> None:
    config = load_config(write(), ["corpus.report={path='b.conllu', first=3}", "scoring.reduce='first'"])
    again = tmp_path / "folder" / "config.toml"
    again.parent.mkdir()
    again.write_text(tomli_w.dumps(resolved(config)))
    assert load_config(again) == config


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_configs_that_come_with_headscope_are_valid_and_named_as_their_files(path: Path) -> None:
    load = load_atlas if "[corpora." in path.read_text(encoding="utf-8") else load_config
    assert load(path).name == path.stem


# --- --set


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        ("seed=3", "seed", 3),
        (" seed = 3 ", "seed", 3),
        ("name=plain", "name", "plain"),
        ("name='quoted'", "name", "quoted"),
        ('name="quoted"', "name", "quoted"),
        ("name=v1.2", "name", "v1.2"),
        ("model.name=org/model", "model.name", "org/model"),
        ("model.name=a=b", "model.name", "a=b"),
        ("probes.trained=true", "probes.trained", True),
        ("probes.names=['position', 'agreement']", "probes.names", ["position", "agreement"]),
        ("corpus.select={name='grammar', seed=4}", "corpus.select.seed", 4),
        ("corpus.select.documents=9", "corpus.select.documents", 9),
    ],
)
def test_set_takes_toml_values_and_bare_words(change: str, key: str, value: Any, write: Any) -> None:
    assert at(resolved(load_config(write(), [change])), key) == value


def test_later_changes_win(write: Any) -> None:
    assert load_config(write(), ["seed=1", "seed=2"]).seed == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("seed", "--set seed: expected key=value"),
        ("name.x=3", "--set name.x=3: name is not a table"),
        ("name.x.y=3", "--set name.x.y=3: name is not a table"),
    ],
)
def test_a_change_that_cannot_be_made_is_quoted(change: str, message: str, write: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        load_config(write(), [change])


# --- what is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("sed=1", "unknown key 'sed'; did you mean 'seed'?"),
        ("scoring.replicate=9", "unknown key 'scoring.replicate'; did you mean 'replicates'?"),
        ("corpus.report.nam='x'", "unknown key 'corpus.report.nam'; did you mean 'name'?"),
        ("page.zebra=1", "unknown key 'page.zebra'; known here are examples, sentences"),
        ("=1", "unknown key ''; known here are name, seed, model, train, corpus, probes, scoring, controls, verdict"),
        ("seed=many", "seed: Input should be a valid integer"),
        ("seed=-1", "seed: Input should be greater than or equal to 0"),
        ("seed=2.5", "seed: Input should be a valid integer"),
        ("name=a/b", "name: String should match pattern"),
        ("name=.hidden", "name: String should match pattern"),
        ("model=minilm", "model: expected a table with name, source, step, precision, device, revision; got 'minilm'"),
        (
            "corpus.report=grammar",
            "corpus.report: expected a table with name, path, texts, column, subset, split, first, documents",
        ),
        (
            "model.source=trained",
            "model.source: Input should be 'pretrained', 'random', 'permuted', 'checkpoint' or 'train'",
        ),
        ("model.revision=v2", "model: 'revision' is for a model of the hub, called \"hub:owner/name\""),
        ("scoring.reduce=sum", "scoring.reduce: Input should be 'mean' or 'first'"),
        ("scoring.batch_pieces=0", "scoring.batch_pieces: Input should be greater than or equal to 1"),
        ("scoring.window_words=1", "scoring.window_words: Input should be greater than or equal to 2"),
        ("scoring.replicates=9", "scoring.replicates: Input should be greater than or equal to 10"),
        ("probes.trained_pairs=19", "probes.trained_pairs: Input should be greater than or equal to 20"),
        ("probes.trained=perhaps", "probes.trained: Input should be a valid boolean"),
        ("controls.random=-1", "controls.random: Input should be greater than or equal to 0"),
        ("controls.permuted=some", "controls.permuted: Input should be a valid integer"),
        ("controls.words=some", "controls.words: Input should be a valid boolean"),
        ("page.examples=-1", "page.examples: Input should be greater than or equal to 0"),
        ("probes.names=dependency", "probes.names: Input should be a valid tuple"),
        ("probes.names=[]", "probes.names: Tuple should have at least 1 item"),
        ("probes.names=['position', 'position']", "probes.names: probe 'position' is named twice"),
        ("probes.names=['dependancy']", "probes.names: unknown probe 'dependancy'; did you mean 'dependency'?"),
        ("probes.names=['zebra']", "probes.names: unknown probe 'zebra'; known are "),
        ("corpus.select.name=ewt-dv", "corpus.select: unknown corpus 'ewt-dv'; did you mean 'ewt-dev'?"),
        ("corpus.select.name=gramar", "corpus.select: unknown corpus 'gramar'; did you mean 'grammar'?"),
        ("corpus.select.path=x.conllu", "corpus.select: a corpus has either a name, a path or texts"),
        ("corpus.select={first=3}", "corpus.select: a corpus has either a name, a path or texts"),
        ("corpus.select.first=0", "corpus.select.first: Input should be greater than or equal to 1"),
        ("corpus.select.first=3", "corpus.select: 'first' is for a file; the grammar takes documents"),
        ("corpus.select={path='x', seed=3}", "corpus.select: 'seed' is for the grammar; a file takes first"),
        ("corpus.select={path='x', wide=true}", "corpus.select: 'wide' is for the grammar; a file takes first"),
        (
            "corpus.select={name='gum-dev', documents=3}",
            "corpus.select: 'documents' is for the grammar; a file takes fi",
        ),
        ("corpus={}", "'corpus.select' is missing"),
        ("corpus.report={name='grammar', documents=9}", "corpus: 'select' and 'report' are the same corpus, so heads"),
        (
            "corpus={select={name='gum-dev', first=3}, report={name='gum-dev'}}",
            "corpus: 'select' and 'report' are the same corpus",
        ),
        ("corpus.select={name='senses', first=3}", "corpus.select: 'first' is for a file; the grammar takes documents"),
        ("corpus.select.sets=['opensesame']", "corpus.select: 'sets' is for the corpus of agreement"),
        ("corpus.select={path='x', sets=['opensesame']}", "corpus.select: 'sets' is for the corpus of agreement"),
        ("corpus.select={name='agreement', wide=true}", "corpus.select: 'wide' is for the grammar; a file takes first"),
        (
            "corpus.select={name='agreement', sets=['grammar', 'grammar']}",
            "corpus.select: 'sets' names a set twice",
        ),
        ("corpus.select={name='agreement', sets=[]}", "corpus.select.sets: Tuple should have at least 1 item"),
        ("corpus.select={name='agreement', sets=['linzen']}", "corpus.select.sets.0: Input should be 'marvin-linzen'"),
        ("relatedness.ratings=['mem']", "relatedness: unknown ratings 'mem'; did you mean 'men'?"),
        ("relatedness.ratings=['men', 'men']", "relatedness: ratings 'men' are named twice"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line_with_file_and_key(change: str, message: str, write: Any) -> None:
    assert complaint(write(), change).startswith(message)


def test_a_missing_key_is_named(write: Any) -> None:
    assert complaint(write('name = "x"')) == "'corpus' is missing"
    assert complaint(write('corpus.select.name = "grammar"')) == "'name' is missing"
    assert complaint(write("")) == "'name' is missing"


def test_what_is_not_toml_is_said_with_its_line(write: Any) -> None:
    assert re.match(r"not TOML: .*line 2", complaint(write("name = 'x'\nseed = = 3\n")))


@pytest.mark.parametrize("text", ["seed = " + "7" * 5000, "seed = " + "[" * 5000, "seed = " + "{a=" * 5000])
def test_numbers_and_tables_without_end_are_no_toml(text: str, write: Any) -> None:
    assert complaint(write(text)).startswith("not TOML: ")


def test_what_is_not_a_text_file_is_said(tmp_path: Path) -> None:
    assert complaint(tmp_path) == "is a folder, expected a file"
    path = tmp_path / "latin.toml"
    path.write_bytes('name = "é"'.encode("latin-1"))
    assert complaint(path).startswith("not UTF-8 (byte 8)")


def test_for_a_missing_config_those_that_exist_are_named(tmp_path: Path) -> None:
    message = complaint(tmp_path / "quikstart.toml")
    assert message.startswith("no such config; headscope comes with ")
    assert all(path.stem in message for path in SHIPPED)
    assert str(SHIPPED[0].parent) in message


def test_a_config_that_comes_along_is_found_by_its_name_unless_a_file_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(Path("quickstart")) == load_config(CONFIGS / "quickstart.toml")
    assert find_config(Path("claims/heads")) == CONFIGS / "claims" / "heads.toml"
    Path("quickstart").write_text("name = 'mine'")
    assert find_config(Path("quickstart")) == Path("quickstart")


# --- paths


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


def test_a_short_name_is_not_mistaken_for_a_folder_beside_the_config(write: Any, tmp_path: Path) -> None:
    (tmp_path / "minilm").mkdir()
    assert load_config(write(), ["model.name=minilm"]).model.name == "minilm"


def test_the_home_folder_may_be_written_as_a_tilde(write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    config = load_config(write(), ["model.name=~/model", "corpus.select={path='~/a.conllu'}"])
    assert config.model.name == str(tmp_path / "model")
    assert config.corpus.select.path == tmp_path / "a.conllu"


def test_the_resolved_config_is_valid_toml_without_absent_keys(write: Any) -> None:
    text = tomli_w.dumps(resolved(load_config(write())))
    assert "report" not in tomllib.loads(text)["corpus"]
    assert tomllib.loads(text)["scoring"]["replicates"] == 2000
