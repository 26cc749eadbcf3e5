"""What the README and the documentation show to be typed: each command and program runs, or is on the list."""

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from experiments.cli import UsageError, app, main
from experiments.compare.grid import load_atlas
from experiments.config.file import find_config
from experiments.run.config import load_config, load_training
from experiments.run.run import run
from probes import registry
from tests.probes.causal.test_labels import opinions, planted
from tests.probes.causal.test_labels import tokenizer as tokenizer_of

ROOT = Path(__file__).parents[2]
QUICK = (
    'probes={names=["position", "dependency"]}',
    "corpus.select.documents=6",
    "corpus.report.documents=6",
    "scoring={replicates=10}",
    "controls={random=0, permuted=0, orders=0}",
    "heads={texts=0, relations=0}",
    "page.examples=1",
)
SMALLER = {"steps = 2000": "steps = 4", "documents = 2000": "documents = 200"}
"What the tests say in the place of what the pages say of a training."

Typed = list[tuple[str, str]]


@pytest.fixture(scope="module")
def commands(module: Callable[[str], ModuleType]) -> ModuleType:
    return module("commands")


@pytest.fixture(scope="module")
def listed(commands: ModuleType) -> set[str]:
    """Return the commands that no test runs."""
    return {shlex.join(shlex.split(command)) for some in commands.LIST.values() for command in some}


@pytest.fixture(scope="module")
def typed(commands: ModuleType) -> Typed:
    """Return each command with its page: those in blocks, and those in lines that are no mere mentions."""
    found: Typed = []
    for page in commands.PAGES:
        found += [(page.name, command) for block in commands.blocks(page) for command in block.commands]
        found += [(page.name, shlex.join(shlex.split(span))) for span in commands.spans(page) if not is_mention(span)]
    return list(dict.fromkeys(found))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commands: ModuleType) -> Path:
    """Return the current folder with what pages take for granted: configs, runs, findings, and files that they show.

    The run of the quickstart has less text and no controls.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path / "no data"))
    configs = ROOT / "experiments" / "configs"
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "configs").symlink_to(configs)
    with monkeypatch.context() as patch:
        patch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
        made = run(load_config(configs / "quickstart.toml", QUICK), tmp_path / "runs")
    for name in ("fast", "permuted"):
        shutil.copytree(made, tmp_path / "runs" / name)
    shutil.copytree(ROOT / "reports" / "published" / "findings", tmp_path / "runs" / "findings")
    (text,) = {
        block.text for page in commands.PAGES for block in commands.blocks(page) if 'name = "small"' in block.text
    }
    assert all(long in text for long in SMALLER)
    (tmp_path / "small.toml").write_text(smaller(text, SMALLER), encoding="utf-8")
    return tmp_path


def smaller(text: str, sizes: Mapping[str, str]) -> str:
    """Return text with other sizes."""
    for large, small in sizes.items():
        text = text.replace(large, small)
    return text


def is_mention(span: str) -> bool:
    """Return whether words in a line name a command without saying all that it takes; the name at least must exist."""
    first, *words = span.split()
    if first != "headscope":
        return False
    command = typer.main.get_command(app).commands[words[0]]
    if words == ["run"] or any(re.fullmatch(r"\[?[A-Z]+(\.\.\.)?\]?", word) for word in words):
        return True
    try:
        command.make_context(words[0], shlex.split(span)[2:])
    except UsageError as error:
        if type(error).__name__ != "MissingParameter":
            raise
        return True
    return False


def type_in(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what a shell would do with a line."""
    first, *words = shlex.split(command)
    if first == "export":
        name, _, value = words[0].partition("=")
        monkeypatch.setenv(name, value)
        return
    assert first == "headscope", "is run by no test: docs/commands.toml is the place for it"
    monkeypatch.setattr(sys, "argv", ["headscope", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code, f"exit code {end.value.code}"


CLASSIFIER = "hs.load(classifier"
"Of the program that takes a classifier which the reader has."

RULE = "gapped_rows("
"Of the program that trains one for a rule."


def programs(commands: ModuleType) -> list[Any]:
    """Return the blocks of Python that pages show."""
    return [block for page in commands.PAGES for block in commands.blocks(page) if block.language == "python"]


@pytest.mark.slow
def test_every_command_and_program_that_is_shown_runs_or_is_listed(
    commands: ModuleType,
    listed: set[str],
    typed: Typed,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for command in list(dict.fromkeys(command for _, command in typed if command not in listed)):
        capfd.readouterr()
        try:
            type_in(command, monkeypatch)
        except (AssertionError, pytest.fail.Exception) as error:
            where = {page for page, found in typed if found == command}
            pytest.fail(f"{command} (in {', '.join(sorted(where))}): {error}\n{capfd.readouterr().err}")
    assert (place / "view.html").is_file()
    own = (CLASSIFIER, RULE)
    texts = {block.text: block.page for block in programs(commands) if not any(one in block.text for one in own)}
    for text, page in texts.items():
        capfd.readouterr()
        exec(compile(text, page, "exec"), {})
        if page == "README.md":
            (shown,) = (block.text for block in commands.blocks(ROOT / page) if block.language == "text")
            assert capfd.readouterr().out.strip() == shown.strip()


def test_the_program_for_your_own_classifier_finds_the_planted_head(
    commands: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    (program,) = (block for block in programs(commands) if CLASSIFIER in block.text)
    (classifier, (layer, head)), rows = planted(3), opinions(60, 3)
    rows.to_csv("reviews.csv", index=False)
    there: dict[str, Any] = {"classifier": classifier, "tokenizer": tokenizer_of(), "rows": rows}
    exec(compile(program.text, program.page, "exec"), there)
    costs = there["run"].tables["ablations"].query("kind == 'head' and measure == 'accuracy'").set_index("name")["cost"]
    assert (costs.idxmax(), costs.max() > 0.2) == (f"{layer + 1}-{head + 1}", True)
    by = "labels of reviews: decided by the model's own head (BertForSequenceClassification: labels bad, good); correct"
    assert any(note.startswith(by) for note in there["run"].record.notes)


@pytest.mark.slow
def test_the_program_for_a_rule_names_the_head_that_learned_and_prints_what_the_page_shows(
    commands: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    (program,) = (block for block in programs(commands) if RULE in block.text)
    (shown,) = (block.text for block in commands.blocks(ROOT / "docs" / program.page) if block.language == "text")
    exec(compile(program.text, program.page, "exec"), {})
    printed, number = (
        capfd.readouterr().out,
        r" *(?<![\d.-])-?\d+(?:\.\d)?(?![\d.-])",
    )  # not those of the name of a head
    assert re.sub(number, " N", printed) == re.sub(number, " N", shown)
    for rule in ("agreement", "reflexive"):
        assert re.search(rf"{rule}: the head that learned is (\S+); needed by ablation: \1\n", printed)
    for found, said in zip(*(re.findall(number, text) for text in (printed, shown)), strict=True):
        assert abs(float(found) - float(said)) <= 6, (
            "processors round differently, and training adds up what they round"
        )


def test_every_config_that_is_shown_is_right(commands: ModuleType, tmp_path: Path) -> None:
    shown = {block.text for page in commands.PAGES for block in commands.blocks(page) if block.language == "toml"}
    assert len(shown) > 1
    for text in shown:
        whole = find_config(Path("atlas")).read_text(encoding="utf-8").partition("[cluster]")[0] + text
        grid = "[cluster]" in text or "[corpora." in text
        (tmp_path / "shown.toml").write_text(whole if text.startswith("[cluster]") else text, encoding="utf-8")
        (load_atlas if grid else load_config if "[corpus]" in text else load_training)(tmp_path / "shown.toml")


def test_the_list_has_only_what_pages_show_and_every_target_is_in_the_makefile(listed: set[str], typed: Typed) -> None:
    assert listed <= {command for _, command in typed}
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    made = {(page, command.split()[1]) for page, command in typed if command.startswith("make ")}
    assert [one for one in made if one[1] not in targets] == []
