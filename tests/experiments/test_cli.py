import errno
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch

from experiments import cli
from experiments.commands import options
from mha import HookError
from reports import Run

COMMANDS = (
    *("train", "run", "atlas", "view", "head", "flow", "profile", "report", "export", "compare", "match", "targets"),
    *("design", "claim", "reproduce", "sandbox", "list", "fetch", "doctor"),
)
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
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[-1] == f"page: {page}"
    assert page.is_file()
    record, config = Run.open(page.parents[1]).record, shlex.quote(str(base))
    assert record.seed == 3
    assert record.command.startswith(f"headscope run {config} --out ")
    assert record.command.endswith(" --set 'probes.names=[\"position\"]' --set seed=3")
    assert f"headscope run {config}" in (page.parent / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_report_is_made_anew_from_the_numbers_alone(
    headscope: Callable[..., Any], whole: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(whole, tmp_path / "copy")
    before = (folder / "report" / "index.html").read_text(encoding="utf-8")
    shutil.rmtree(folder / "report")
    said = headscope("report", folder)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[-1] == f"page: {folder / 'report' / 'index.html'}"
    assert (folder / "report" / "index.html").read_text(encoding="utf-8") == before


@pytest.mark.parametrize("kind", ["sandbox", "atlas"])
def test_a_page_is_made_anew_from_its_record(
    headscope: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made: list[Path] = []
    monkeypatch.setattr(
        f"reports.{kind}.page.write_{kind}_page", lambda folder, step: made.append(folder) or folder / "x.html"
    )
    (tmp_path / f"{kind}.json").write_text("{}", encoding="utf-8")
    said = headscope("report", tmp_path)
    assert (said.code, said.out, made) == (0, f"page: {tmp_path / 'x.html'}\n", [tmp_path])


def test_a_view_ends_with_its_page(headscope: Callable[..., Any], tiny: Path, tmp_path: Path) -> None:
    said = headscope("view", "The dog saw it.", "--model", tiny, "--out", tmp_path / "page.html")
    assert (said.code, said.out, said.err) == (0, f"page: {tmp_path / 'page.html'}\n", "")
    assert "saw" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_open_shows_the_page_in_the_browser(
    headscope: Callable[..., Any], tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(cli.typer, "launch", opened.append)
    headscope("view", "The dog", "--model", tiny, "--out", tmp_path / "page.html")
    assert opened == []
    headscope("view", "The dog", "--model", tiny, "--out", tmp_path / "page.html", "--open")
    assert opened == [str(tmp_path / "page.html")]


@pytest.mark.parametrize("what", ["probes", "corpora", "models", "findings"])
def test_lists_are_printed_as_json(what: str, headscope: Callable[..., Any]) -> None:
    said = headscope("list", what, "--json")
    assert (said.code, said.err) == (0, "")
    assert json.loads(said.out)


@pytest.mark.parametrize("words", [(), ("--help",), *((command, "--help") for command in COMMANDS)], ids=" ".join)
def test_help_is_given(words: Sequence[str], headscope: Callable[..., Any]) -> None:
    said = headscope(*words)
    assert (said.code, said.err) == (0, "")
    assert all(command in said.out for command in (words[:-1] or COMMANDS))


def test_help_names_the_table_that_is_trained(headscope: Callable[..., Any]) -> None:
    assert "A TOML config with [train], " in headscope("train", "--help").out


def test_help_is_quick_because_it_loads_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; sys.argv = ['headscope', '--help']\n"
        "from experiments.cli import main\n"
        "try: main()\n"
        "finally: print({'torch', 'transformers', 'pandas', 'datasets', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.slow
def test_lists_do_not_load_torch() -> None:
    code = (
        "import sys; from experiments.commands.listing import LISTS\n"
        "[rows() for name, rows in LISTS.items() if name != 'findings']\n"
        "print({'torch', 'pandas', 'scipy'} & set(sys.modules))\n"
        "LISTS['findings']()\n"
        "print({'torch', 'transformers', 'datasets', 'sklearn', 'matplotlib', 'altair'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\nset()\n"


@pytest.mark.slow
def test_the_card_of_a_head_does_not_load_torch(whole: Path) -> None:
    code = (
        f"import sys; sys.argv = ['headscope', 'head', {str(whole)!r}, '1-1']\n"
        "from experiments.cli import main\n"
        "try: main()\n"
        "finally: print({'torch', 'transformers', 'datasets', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_every_command_is_in_the_help() -> None:
    assert tuple(command.name for command in cli.app.registered_commands) == COMMANDS


def test_the_version_is_told(headscope: Callable[..., Any]) -> None:
    assert re.fullmatch(r"headscope \d+\.\d+\.\d+\n", headscope("--version").out)


def test_more_is_said_where_one_asks_and_nothing_where_one_does_not(
    headscope: Callable[..., Any], tiny: Path, tmp_path: Path
) -> None:
    words = ("flow", "a dog", "--model", tiny, "--out", tmp_path / "flow.csv")
    said = headscope("--verbose", *words)
    assert said.err.splitlines()[0] == "loading the program ..."
    assert said.err.splitlines()[2] == "attention flow: 1 to do"
    assert re.fullmatch(r"attention flow: done in \d+\.\d s", said.err.splitlines()[3])
    quiet = headscope("-q", *words)
    assert (quiet.err, quiet.out) == ("", said.out)


def test_names_are_completed() -> None:
    assert options.model_names("min") == ["minilm"]
    assert options.corpus_names("grammar-") == ["grammar-reflexives", "grammar-pronouns"]
    assert options.probe_names("agr") == ["agreement"]
    assert options.finding_names("clark-rel") == ["clark-relations"]
    assert options.list_names("fin") == ["findings"]


@pytest.mark.slow
def test_a_shell_completes_the_names_that_an_option_takes() -> None:
    place = {"COMP_WORDS": "headscope view x --model min", "COMP_CWORD": "4"}
    command = [sys.executable, "-c", "from experiments.cli import main; main()"]
    environment = {**os.environ, "_HEADSCOPE_COMPLETE": "complete_bash", **place}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.split() == ["minilm"]


# --- mistakes of the user


WORD = "{}\tword\t_\tNOUN\t_\t_\t{}\t{}\t_\t_\n"
GOOD = f"# sent_id = a\n{WORD.format(1, 0, 'root')}{WORD.format(2, 1, 'nsubj')}\n"
BROKEN = {
    "bad head": (GOOD + WORD.format(1, 9, "root") + "\n", "5: head 9 is outside the sentence"),
    "no number as head": (GOOD + WORD.format(1, "x", "root") + "\n", "5: head 'x' is not a number"),
    "cycle": (
        GOOD + WORD.format(1, 2, "dep") + WORD.format(2, 1, "dep") + WORD.format(3, 0, "root") + "\n",
        "5: the heads go in a circle",
    ),
    "no root": (GOOD + WORD.format(1, 2, "dep") + WORD.format(2, 1, "dep") + "\n", "5: no root"),
    "missing columns": (GOOD + "1\tword\t_\n\n", "5: 3 columns, expected 10"),
    "wrong encoding": (GOOD + WORD.format(1, 0, "root").replace("word", "Wört") + "\n", "5: not UTF-8"),
    "empty": ("", " no sentence in the file"),
    "line 100": ("\n" * 99 + WORD.format(1, 7, "root") + "\n", "100: head 7 is outside the sentence"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_corpus_is_told_with_file_and_line_and_leaves_nothing(
    case: str, mistake: Callable[..., str], base: Path, tmp_path: Path
) -> None:
    text, message = BROKEN[case]
    file, out = tmp_path / "broken.conllu", tmp_path / "out"
    file.write_bytes(text.encode("latin-1"))
    said = mistake("run", base, "--out", out, *POSITION, "--set", f"corpus.report={{path='{file}'}}")
    assert said.startswith(f"{file}:{message}")
    assert not out.exists()
    cache = Path(os.environ["HEADSCOPE_CACHE"])
    assert [path.name for path in cache.rglob(".*")] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("corpus.select={path='none.conllu'}", r".*none\.conllu: no such file; .*"),
        ("corpus.select={path='.'}", r".*: is a folder, expected a file, or a folder with .*"),
        (
            "corpus.select={name='ewt-dev'}",
            r"corpus 'ewt-dev' is not at .*; set HEADSCOPE_DATA to the folder that holds ud_english_ewt/.*",
        ),
        (
            "corpus.select={name='ewt-dv'}",
            r".*\.toml: corpus.select: unknown corpus 'ewt-dv'; did you mean 'ewt-dev'.*",
        ),
        ("model.name='minilmm'", r"unknown model 'minilmm'; did you mean 'minilm'\?"),
        ("model.name='./nowhere'", r"unknown model '\./nowhere': no such folder; known by name: minilm, .*"),
        ("probes.names=['agrement']", r".*\.toml: probes.names: unknown probe 'agrement'; did you mean 'agreement'\?"),
        ("scoring.replicats=20", r".*\.toml: unknown key 'scoring.replicats'; did you mean 'replicates'\?"),
        (
            "probes.names=['coreference']",
            r"nothing to score on the select split, grammar-1: .* longer than the model.*",
        ),
        ("seed", "--set seed: expected key=value"),
    ],
)
def test_a_config_that_cannot_be_run_is_told_and_leaves_nothing(
    change: str, message: str, mistake: Callable[..., str], base: Path, tmp_path: Path
) -> None:
    said = mistake("run", base, "--out", tmp_path / "out", "--set", change)
    assert re.fullmatch(message, said)
    assert list(tmp_path.rglob("out/*")) == []


def test_a_model_folder_without_a_model_is_told(mistake: Callable[..., str], tmp_path: Path) -> None:
    assert "no config.json" in mistake("view", "a dog", "--model", tmp_path, "--out", tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_config_is_told_with_those_that_exist(mistake: Callable[..., str], tmp_path: Path) -> None:
    said = mistake("run", tmp_path / "none.toml", "--out", tmp_path / "out")
    assert said.startswith(f"{tmp_path / 'none.toml'}: no such config; headscope comes with")
    assert list(tmp_path.iterdir()) == []


def test_an_out_that_cannot_be_a_folder_is_told(mistake: Callable[..., str], base: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert mistake("run", base, "--out", tmp_path / "file") == f"{tmp_path / 'file'}: File exists"
    assert mistake("run", base, "--out", tmp_path / "file" / "deep").startswith(str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_is_no_run_is_told(mistake: Callable[..., str], whole: Path, tmp_path: Path) -> None:
    assert "no such folder" in mistake("report", tmp_path / "none")
    assert "not a finished run folder, run.json" in mistake("report", tmp_path)
    broken = shutil.copytree(whole, tmp_path / "broken")
    (broken / "run.json").write_text("{")
    assert mistake("report", broken).startswith(f"{broken / 'run.json'}:1: not valid JSON")
    shutil.copy(whole / "run.json", broken)
    (broken / "scores.parquet").write_text("cut")
    assert mistake("report", broken).startswith(f"{broken / 'scores.parquet'}: not a readable parquet file")
    same = (broken / "report" / "index.html").read_bytes() == (whole / "report" / "index.html").read_bytes()
    assert same, "the older page stays"


@pytest.mark.parametrize(("text", "message"), [("  ", "the text has no words"), ("x " * 99, "the text has 101 pieces")])
def test_a_text_that_cannot_be_viewed_is_told(
    text: str, message: str, mistake: Callable[..., str], tiny: Path, tmp_path: Path
) -> None:
    assert mistake("view", text, "--model", tiny, "--out", tmp_path / "page.html").startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_a_view_on_the_place_of_a_folder_is_told(mistake: Callable[..., str], tiny: Path, tmp_path: Path) -> None:
    assert mistake("view", "a dog", "--model", tiny, "--out", tmp_path) == f"{tmp_path}: Is a directory"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-q", "-v", "list", "probes"), "Invalid value: --quiet and --verbose are opposites"),
        (("list", "nonsense"), "no list of 'nonsense'; known are probes, corpora, models, findings"),
        (("list", "probe"), "no list of 'probe'; did you mean 'probes'?"),
        (("rnu",), "No such command 'rnu'."),
        (("run",), "Missing argument"),
        (("list", "probes", "--jsn"), "No such option: --jsn"),
        (("list", "probes", "more"), "Got unexpected extra argument"),
        (("run", "a.toml", "--set"), "Option '--set' requires an argument"),
    ],
)
def test_a_command_that_cannot_be_understood_is_told(
    words: Sequence[str], message: str, mistake: Callable[..., str]
) -> None:
    assert mistake(*words).startswith(message)


def test_a_model_whose_attention_cannot_be_seen_is_told(
    mistake: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unseen(name: str) -> None:
        raise HookError("attention of its own")

    monkeypatch.setattr("experiments.heads.flow.load_model", unseen)
    assert mistake("flow", "a dog", "--out", tmp_path / "flow.csv") == "attention of its own"


def test_messages_are_printed_as_they_are(
    mistake: Callable[..., str], base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize("error", [errno.EACCES, errno.EROFS])
def test_a_folder_that_may_not_be_written_ends_a_run_with_one_line(
    error: int, mistake: Callable[..., str], base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, out = os.mkdir, tmp_path / "out"

    def mkdir(path: str | Path, *more: Any, **options: Any) -> None:
        if Path(path).is_relative_to(out):
            raise OSError(error, os.strerror(error), str(path))
        made(path, *more, **options)

    monkeypatch.setattr("os.mkdir", mkdir)  # root, who runs tests in containers, may write anywhere
    said = mistake("run", base, "--out", out, *POSITION)
    assert said.startswith(str(out))
    assert said.endswith(f": {os.strerror(error)}")
    assert not out.exists()


def test_an_interrupted_run_leaves_nothing_and_ends_with_130(
    headscope: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, base: Path, tmp_path: Path
) -> None:
    def interrupt(*anything: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.run.scope.score_table", interrupt)
    said = headscope("run", base, "--out", tmp_path, *POSITION)
    assert (said.code, said.out) == (130, "")
    assert "Traceback" not in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_installed_command_ends_a_mistake_with_one_line_and_code_2(base: Path, tmp_path: Path) -> None:
    file = tmp_path / "broken.conllu"
    file.write_text(BROKEN["bad head"][0])
    words = ["run", str(base), "--out", str(tmp_path / "out"), "--set", f"corpus.select={{path='{file}'}}"]
    command = [sys.executable, "-c", "from experiments.cli import main; main()", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"headscope: {file}:5: head 9 is outside the sentence (1 words)\n"


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


def test_a_device_that_is_not_there_is_refused(
    headscope: Callable[..., Any], base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mha.device.devices_there", lambda: ("cpu",))
    code, _, err = headscope("run", base, "--set", "model.device=cuda", "--out", tmp_path)
    assert code == 2
    assert "model.device: expected one of auto, cpu, got 'cuda'" in " ".join(err.split())
