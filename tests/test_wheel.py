"""A wheel that is built and installed where the source is not runs what comes with it."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("mha", "probes", "reports", "experiments", "headscope")
SMALLEST = (
    *("probes.names=['position']", "corpus.select.documents=6", "corpus.report.documents=6", "page.examples=1"),
    *("scoring.replicates=10", "probes.trained=false", "heads.texts=0", "heads.relations=0"),
    *("controls.random=0", "controls.permuted=0", "controls.orders=0"),
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the headscope command of an environment that has the wheel, and the packages of this one beside it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ROOMS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run([sys.executable, *build], check=True, capture_output=True)
    venv.create(folder / "environment", with_pip=False)
    binaries = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    pip = ["-m", "pip", "--python", str(binaries / "python"), "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([sys.executable, *pip, *map(str, folder.glob("*.whl"))], check=True, capture_output=True)
    [packages] = (folder / "environment").rglob("site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return binaries / "headscope"


def headscope(command: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a folder that has neither the source nor a config."""
    away = command.parents[1]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "HEADSCOPE"))}
    environment["HEADSCOPE_CACHE"] = str(away / "cache")
    return subprocess.run([command, *words], cwd=away, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_wheel_runs_the_quickstart_by_its_name_and_has_what_commands_read(installed: Path) -> None:
    changes = [word for change in SMALLEST for word in ("--set", change)]
    done = headscope(installed, "run", "quickstart", *changes)
    assert done.returncode == 0, done.stderr
    page = installed.parents[1] / "runs" / "quickstart" / "report" / "index.html"
    assert page.is_file()
    assert "Traceback" not in done.stderr
    for words in (("list", "findings"), ("fetch", "--list"), ("head", "runs/quickstart", "1-1"), ("claim", "none")):
        done = headscope(installed, *words)
        assert "Traceback" not in done.stderr, done.stderr
    assert "no such config; headscope comes with" in done.stderr
