import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch

from experiments import cli
from experiments.commands import options
from experiments.config.config import Config
from reports import Run
from reports.scores.shortest_table import shortest_table

POSITION = ("--set", 'probes.names=["position"]')


@pytest.fixture
def mistake(headscope: Callable[..., Any]) -> Callable[..., str]:
    """Return the function that calls headscope wrongly and returns the line that it says."""

    def mistake(*words: object) -> str:
        said = headscope(*words)
        assert (said.code, said.out) == (2, "")
        lines = said.err.splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("headscope: ")
        return lines[0].removeprefix("headscope: ")

    return mistake


# --- success


@pytest.mark.slow
def test_a_run_ends_with_its_page(headscope: Callable[..., Any], base: Path, tmp_path: Path) -> None:
    said = headscope("run", base, "--out", tmp_path / "deep" / "out", *POSITION, "--set", "seed=3")
    page = tmp_path / "deep" / "out" / "quick" / "report" / "index.html"
    assert (said.code, said.err, said.out.splitlines()[-1]) == (0, "", f"page: {page}")
    record, config = Run.open(page.parents[1]).record, shlex.quote(str(base))
    assert record.seed == 3
    assert record.command.startswith(f"headscope run {config} --out ")
    assert record.command.endswith(" --set 'probes.names=[\"position\"]' --set seed=3")
    assert f"headscope run {config}" in (page.parent / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_needs_no_config_and_ends_with_its_best_heads(
    headscope: Callable[..., Any],
    tiny: Path,
    tmp_path: Path,
    sentences: list[str],
    write_corpus: Callable[[Path, list[str]], Path],
) -> None:
    corpus = write_corpus(tmp_path / "my trees.conllu", sentences)
    few = ("--set", "controls={random=0,permuted=0,orders=0}", "--set", "heads={texts=0,relations=0}")
    said = headscope(
        "run", "--model", tiny, "--corpus", corpus, "--probes", "dependency,position", "--out", tmp_path, *few
    )
    assert (said.code, said.err) == (0, "")
    run = Run.open(tmp_path / f"{tiny.name}-my-trees")
    assert set(run.scores["probe"]) == {"dependency", "position"}
    assert str(shortest_table(run)) in said.out


def test_options_stand_in_place_of_a_config_and_a_run_without_both_says_what_it_needs(
    mistake: Callable[..., str], tmp_path: Path
) -> None:
    assert "or --model and --corpus" in mistake("run", "--model", "minilm")
    (tmp_path / "some.toml").write_text('name = "some"', encoding="utf-8")
    asked = mistake(
        "run", tmp_path / "some.toml", "--model", "minilm", "--corpus", "grammar", "--probes", "dependencies"
    )
    assert "unknown probe 'dependencies'" in asked


def test_a_page_is_made_anew_from_its_record(
    headscope: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.statements.sandbox_page.write_sandbox_page", lambda folder, step: folder / "x.html")
    (tmp_path / "sandbox.json").write_text("{}", encoding="utf-8")
    assert headscope("report", tmp_path) == (0, f"page: {tmp_path / 'x.html'}\n", "")


def test_a_view_opens_its_page_where_asked(
    headscope: Callable[..., Any], tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(cli.typer, "launch", opened.append)
    for words in ((), ("--open",)):
        headscope("view", "The dog saw it.", "--model", tiny, "--out", tmp_path / "page.html", *words)
    assert opened == [str(tmp_path / "page.html")]


HEAVY = {"torch", "transformers", "datasets", "sklearn"}
MAIN = "from experiments.cli import main\ntry: main()\nfinally: "
CARD = pytest.param("head {run} 1-1", HEAVY, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("words", "unloaded"),
    [("--help", HEAVY | {"pandas", "matplotlib"}), ("list probes", HEAVY | {"pandas", "scipy"}), CARD],
)
def test_what_needs_no_model_is_quick_because_it_loads_no_torch(
    words: str, unloaded: set[str], request: pytest.FixtureRequest
) -> None:
    words = words.format(run=request.getfixturevalue("whole")) if "{run}" in words else words
    code = f"import sys; sys.argv = ['headscope', *{words.split()!r}]\n{MAIN}print({unloaded} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_the_version_has_results(headscope: Callable[..., Any]) -> None:
    assert re.fullmatch(r"headscope \d+\.\d+\.\d+\n", headscope("--version").out)


@pytest.mark.parametrize(
    ("what", "begin", "names"),
    [
        ("models", "min", ["minilm"]),
        ("corpora", "grammar-", ["grammar-reflexives", "grammar-pronouns"]),
        ("findings", "clark-rel", ["clark-relations"]),
        ("probes", "agr", ["agreement"]),
        ("lists", "fin", ["findings"]),
        ("fetched", "ewt", ["ewt-dev"]),
    ],
)
def test_names_are_completed(what: str, begin: str, names: list[str]) -> None:
    assert options.named(what)(begin) == names


# --- mistakes of the user


MISTAKES = {
    "run {base} --out {out} --set seed": "--set seed: expected key=value",
    "run {base} --out {out} --set probes.names=['agrement']": "{base}: probes.names: unknown probe 'agrement'; did you",
    "run {base} --out {out} --set probes.names=['coreference']": "nothing to score on the select split, grammar-1: ",
    "run {base} --out {file}": "{file}: File exists",
    "run {out}/none.toml": "{out}/none.toml: no such config; headscope comes with",
    "view x --model {out} --out {out}.html": "unknown model '{out}': no such folder",
    "view dog --model {tiny} --out {tiny}": "{tiny}: Is a directory",
    "view dog --model {tiny} --word x": "Invalid value: --word goes with --explain",
    "view dog cat --model {tiny} --explain 1-1": "Invalid value: --explain walks through one text and one --model",
    "view dog --model {tiny} --explain 1-1 --maps norms": "Invalid value: --explain walks through one text and one",
    "view dog --model {tiny} --explain 9-9": "{tiny} has no head '9-9'; heads are named layer-head from 1: 1-1 to 2-2",
    "-q -v list probes": "Invalid value: --quiet and --verbose are opposites",
    "rnu": "No such command 'rnu'.",
    "run": "Invalid value: give a config, such as quickstart",
    "fetch": "Invalid value: fetch what? give names, --all, or --list",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_ends_with_one_line_and_leaves_nothing(
    words: str, mistake: Callable[..., str], base: Path, tiny: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    places = {"base": base, "tiny": tiny, "out": tmp_path / "out", "file": tmp_path / "file"}
    assert mistake(*words.format(**places).split()).startswith(MISTAKES[words].format(**places))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_is_no_run_has_results(mistake: Callable[..., str], tmp_path: Path) -> None:
    assert "no such folder" in mistake("report", tmp_path / "none")
    assert "folders with a page hold sandbox.json, */claim.json, " in mistake("report", tmp_path)


def test_messages_are_printed_as_they_are(mistake: Callable[..., str], base: Path, tmp_path: Path) -> None:
    odd = tmp_path / ("long " * 30) / "a:100:[red]b:smile:.conllu"
    odd.parent.mkdir()
    odd.touch()
    said = mistake("run", base, "--out", tmp_path / "out", "--set", f"corpus.select={{path='{odd}'}}")
    assert said == f"{odd}: no sentence in the file (0 bytes)"


# --- not the user's


def test_a_fault_of_our_own_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch, base: Path, tmp_path: Path) -> None:
    monkeypatch.setattr("experiments.run.scope.score_table", lambda *anything, **more: int("no number"))
    monkeypatch.setattr(sys, "argv", ["headscope", "run", str(base), "--out", str(tmp_path), *POSITION])
    with pytest.raises(ValueError, match="invalid literal"):
        cli.main()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_a_run_with_one_line_and_the_run_before_stays(
    mistake: Callable[..., str],
    headscope: Callable[..., Any],
    base: Path,
    tmp_path: Path,
    largest_file: Callable[[int], AbstractContextManager[None]],
) -> None:
    words = ("run", base, "--out", tmp_path, *POSITION)
    assert headscope(*words).code == 0
    before = Run.open(tmp_path / "quick").scores
    with largest_file(20_000):
        assert ": File too large" in mistake(*words)
    assert Run.open(tmp_path / "quick").scores.equals(before)
    assert headscope(*words).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["quick"]


def test_fast_leaves_out_what_takes_long_and_set_takes_it_back(
    headscope: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Config] = []

    def stop(config: Config, *anything: Any, **more: Any) -> None:
        asked.append(config)
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.run.run.run", stop)
    headscope("run", "quickstart", "--fast", "--set", "controls.orders=2", "--out", tmp_path)
    config: Any = asked[0]  # has the tables of measures too
    controls = config.controls
    assert (controls.random, controls.permuted, controls.orders) == (0, 0, 2)
    assert (config.heads.texts, config.heads.relations, config.shapes.enabled) == (0, 0, False)


@pytest.mark.parametrize(
    ("words", "works", "how"),
    [
        ("train scratch", "experiments.training.train.train_seeds", "with --resume continues the training."),
        (
            "atlas atlas",
            "experiments.compare.atlas.make_atlas",
            "Runs that are done are kept: the same command goes on.",
        ),
        ("claim claims/heads", "experiments.claims.study.run_claims", "the same command with --resume goes on."),
        ("sandbox --quick", "experiments.sandbox.study.run_study", "the same command with --resume goes on."),
        ("reproduce vig-2021", "experiments.reproduce.reproduce.reproduce", "goes on with them, without --fresh."),
    ],
)
def test_what_is_interrupted_ends_with_130_and_how_to_go_on(
    words: str, works: str, how: str, headscope: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*anything: Any, **more: Any) -> None:
        error = KeyboardInterrupt()
        error.add_note("the same command with --resume continues the run")  # of the run within a reproduction
        raise error

    monkeypatch.setattr(works, interrupt)
    said = headscope(*words.split())
    assert (said.code, said.out) == (130, "")
    assert said.err.splitlines()[-1].endswith(how)
    assert "continues the run" not in said.err


def test_a_memory_that_is_full_is_no_fault_of_headscope(
    headscope: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 2.00 GiB.")

    monkeypatch.setattr("experiments.cli.app", full)
    code, _, err = headscope("run", "config.toml")
    assert code == 2
    assert "CUDA out of memory. Tried to allocate 2.00 GiB. Take shorter texts, a smaller model" in " ".join(
        err.split()
    )
