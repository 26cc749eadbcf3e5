"""Run the quick tests in a new environment, with another Python or the oldest libraries: `make versions`.

    python -m tests.hardness.versions --python python3.13
    python -m tests.hardness.versions --lowest

`--lowest` installs of every library the oldest version that pyproject.toml allows. Warnings are no errors there, since
older libraries warn of other things; the texts of helps are left out, which their library words.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from tests.hardness.record import RECORD, here, read, write

ROOT = Path(__file__).parents[2]
PART = "versions"

SHOWN = ("datasets", "numpy", "pandas", "pyarrow", "scikit-learn", "scipy", "torch", "transformers")
"Libraries whose versions the record names."

TOOLS = ["boto3>=1.40", "six>=1.16"]
"What the tools of tests bring along may not be as old as the rest allows: such a version does not run."

HELPS = "tests/test_unchanged.py"


def lowest(project: dict[str, Any]) -> list[str]:
    """Return the oldest version of each library that a project allows.

    >>> lowest({"dependencies": ["numpy>=2,<3", "pandas>=2.2"]})
    ['numpy==2', 'pandas==2.2']
    """
    return [re.sub(r">=([^,]+).*", r"==\1", line) for line in project["dependencies"]]


def environment(folder: Path, python: str, constraints: Path) -> Path:
    """Make an environment with headscope and the tools of its tests; return its Python."""
    inside = folder / "bin" / "python"
    if subprocess.run([python, "-m", "venv", folder], capture_output=True).returncode:  # Debian's has no ensurepip
        subprocess.run([python, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        subprocess.run([sys.executable, "-m", "pip", "--python", inside, "install", "-q", "pip"], check=True)
    install = [inside, "-m", "pip", "install", "-q", "-c", constraints, f"{ROOT}[minilm,dev,chemistry]"]
    subprocess.run(install, check=True)
    return inside


def tested(python: Path, report: Path, more: list[str]) -> dict[str, Any]:
    """Run tests; return how many passed and were skipped, and which failed."""
    command = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-m", "not slow", f"--junitxml={report}"]
    subprocess.run([*command, *more], cwd=ROOT, check=False)
    cases = [*ElementTree.parse(report).iter("testcase")]
    failed = [one for one in cases if one.find("failure") is not None or one.find("error") is not None]
    skipped = sum(one.find("skipped") is not None for one in cases)
    names = sorted(f"{one.get('classname')}::{one.get('name')}" for one in failed)
    return {"passed": len(cases) - skipped - len(failed), "skipped": skipped, "failed": names}


def versions(python: Path) -> dict[str, str]:
    """Return the versions of the Python and of the shown libraries in an environment."""
    asked = "import json, platform; from importlib.metadata import version; "
    asked += f"print(json.dumps({{'python': platform.python_version()}} | {{n: version(n) for n in {SHOWN}}}))"
    found = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True)
    return dict(json.loads(found.stdout))


def main() -> None:
    """Install, test, and put what came of it into the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the environment")
    parser.add_argument("--lowest", action="store_true", help="the oldest libraries that pyproject.toml allows")
    parser.add_argument("--record", type=Path, default=RECORD, help="where it is written down")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    with TemporaryDirectory() as folder:
        constraints = ROOT / "constraints.txt"
        if options.lowest:
            constraints = Path(folder) / "lowest.txt"
            project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
            constraints.write_text("\n".join([*lowest(project), *TOOLS]) + "\n", encoding="utf-8")
        inside = environment(Path(folder) / "environment", options.python, constraints)
        more = ["-o", "filterwarnings=default", "--ignore", HELPS] if options.lowest else []
        found = {"made_on": here(), **versions(inside), **tested(inside, Path(folder) / "tests.xml", more)}
    part = read(options.record).get(PART, {"command": "make versions", "environments": {}})
    name = f"Python {found['python']}, {'oldest libraries' if options.lowest else 'constraints.txt'}"
    part["environments"][name] = found
    print(json.dumps(found, indent=1))
    write(PART, part, options.record)
    sys.exit(bool(found["failed"]))


if __name__ == "__main__":
    main()
