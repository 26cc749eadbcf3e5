"""Adding a study: the files that name it, counted; and a tree without them, which runs and writes its page."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROOMS = ("mha", "probes", "reports", "experiments")
NAME = "drift"
"A study with all that a study can have: a measure, a section of configs, a table, a section of the page, methods."

REGISTRIES = {
    "experiments/run/studies.py": (
        "from experiments.studies.maps.drift import DriftStudy",
        "    DriftStudy,",
    ),
    "reports/studies/registry.py": ('    "drift",',),
}
"The tuples of studies -> the lines there that name the study."

SOURCE = (".py", ".j2", ".css", ".js", ".toml")

USERS = ("experiments/configs", "experiments/findings", "reports/published")
"What uses studies once they are there."


def naming() -> Iterator[str]:
    """Yield the files of source and templates whose path or text has the name of the study."""
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in SOURCE):
        file = path.relative_to(ROOT).as_posix()
        if not file.startswith(USERS) and (
            NAME in file or re.search(rf"(?<!a){NAME}", path.read_text("utf-8"), re.IGNORECASE)
        ):
            yield file


def lines(file: str) -> list[str]:
    """Return the lines of a registry that name the study."""
    return [line for line in (ROOT / file).read_text("utf-8").splitlines() if re.search(NAME, line, re.IGNORECASE)]


def test_a_study_is_named_by_nine_files_and_by_three_lines_of_registries() -> None:
    assert sorted(naming()) == [
        "experiments/run/studies.py",
        "experiments/studies/maps/drift.py",
        "probes/maps/drift.py",
        "reports/studies/drift/__init__.py",
        "reports/studies/drift/drift.html.j2",
        "reports/studies/drift/drift.md.j2",
        "reports/studies/drift/section.py",
        "reports/studies/drift/study.py",
        "reports/studies/registry.py",
    ]
    assert {file: tuple(lines(file)) for file in REGISTRIES} == REGISTRIES


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the source, compiled as it is, without the study: its files, and the lines of registries."""
    copy = tmp_path_factory.mktemp("tree")
    for room in ROOMS:
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("published"))
    (copy / "reports/published").symlink_to(ROOT / "reports/published")
    for file in naming():
        if file in REGISTRIES:
            kept = [line for line in (ROOT / file).read_text("utf-8").splitlines() if line not in lines(file)]
            (copy / file).write_text("\n".join(kept) + "\n", encoding="utf-8")
        else:
            (copy / file).unlink()
    return copy


TYPED = """
import json, pathlib, sys
from matplotlib.figure import Figure
Figure.savefig = lambda figure, file, **options: pathlib.Path(file).touch()
from experiments.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["headscope", *words]
    try:
        main()
    except SystemExit as end:
        print(f"exit code {end.code or 0}", flush=True)
"""
"Types several commands in one process, which draws no figures."


def in_tree(tree: Path, *commands: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run the command line of a tree."""
    command = [sys.executable, "-c", TYPED, json.dumps(commands)]
    return subprocess.run(command, cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, capture_output=True, text=True)


@pytest.mark.slow
def test_without_these_files_a_run_works_and_its_page_is_written(tree: Path, base: Path, tmp_path: Path) -> None:
    words = ("run", str(base), "--out", str(tmp_path))
    done = in_tree(tree, words, (*words, "--set", "drift.texts=3"))
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("exit")] == ["exit code 0", "exit code 2"]
    for name in ("index.html", "report.md"):
        assert "Attention statistics" in (tmp_path / "quick/report" / name).read_text("utf-8")
    config = (tmp_path / "quick/config.toml").read_text("utf-8")
    assert "[answers]" in config
    assert "[drift]" not in config
    assert "unknown key 'drift'" in done.stderr
