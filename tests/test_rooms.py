"""The order of the rooms: who may import whom, and what no room may hold."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.test_imports import ROOT, imports_of

MAY_IMPORT = {
    "mha": {"mha"},
    "probes": {"probes", "mha"},
    "reports": {"reports"},
    "experiments": {"experiments", "reports", "probes", "mha"},
}
TABLES = "reports.tables."
"Where columns are declared, once for those who fill them and for those who show them: `probes` may import it."
RUNS_MODELS = {"torch", "transformers", "datasets", "sklearn", "safetensors", "tokenizers"}
NO_SUBJECT = {"utils", "helpers", "common", "misc"}

IMPORT_ALL_OF_REPORTS = """
import importlib, pkgutil, sys
import reports
for module in pkgutil.walk_packages(reports.__path__, "reports."):
    importlib.import_module(module.name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def modules_of(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imported_packages(source: str) -> set[str]:
    """Packages that `source` imports anywhere; relative imports stay in their room."""
    return {module.partition(".")[0] for module, _ in imports_of(source)}


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_the_rooms_before_it(room: str) -> None:
    modules = modules_of(room)
    assert modules, f"{room} holds no module"
    forbidden = set(MAY_IMPORT) - MAY_IMPORT[room]
    wrong = {
        f"{module.relative_to(ROOT)} imports {name}"
        for module in modules
        for name, _ in imports_of(module.read_text("utf-8"))
        if name.partition(".")[0] in forbidden and not (room == "probes" and name.startswith(TABLES))
    }
    assert wrong == set()


def test_no_module_of_reports_imports_what_runs_a_model() -> None:
    wrong = {m.name: sorted(imported_packages(m.read_text("utf-8")) & RUNS_MODELS) for m in modules_of("reports")}
    assert {module: names for module, names in wrong.items() if names} == {}


@pytest.mark.slow
def test_importing_all_of_reports_loads_no_torch_and_no_other_room() -> None:
    command = [sys.executable, "-c", IMPORT_ALL_OF_REPORTS]
    loaded = set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())
    assert "reports" in loaded
    assert loaded & {"torch", "transformers", "mha", "probes", "experiments"} == set()


OPTIONAL = {
    **{"rdkit": "chemistry", "peft": "peft", "spacy": "annotate"},
    **dict.fromkeys(("dask", "dask_jobqueue", "distributed"), "cluster"),
    **dict.fromkeys(("nnsight", "transformer_lens"), "bench"),
}
"Packages that only some commands import, and say so where they are missing: which extra brings them."

OF_NOTEBOOKS = {"IPython"}
"Imported where a notebook runs, which brings it."


def test_every_import_is_a_declared_dependency_that_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    plain = {re.split(r"[^\w.-]", one)[0].lower().replace("_", "-") for one in project["dependencies"]}
    extras = {name: " ".join(wanted) for name, wanted in project["optional-dependencies"].items()}
    brought_by = packages_distributions()
    imported = set[str]().union(
        *(imported_packages(m.read_text("utf-8")) for room in MAY_IMPORT for m in modules_of(room))
    )
    undeclared = {
        name
        for name in imported - set(sys.stdlib_module_names) - set(MAY_IMPORT)
        if not plain & {found.lower().replace("_", "-") for found in brought_by.get(name, ())}
    }
    assert undeclared == {*OPTIONAL, *OF_NOTEBOOKS}
    assert all(name.replace("_", "-") in extras[extra] for name, extra in OPTIONAL.items())


@pytest.mark.parametrize("version", ["3.11.2", "3.11.5", "3.13.1"])
def test_every_pin_has_one_version_for_a_python(version: str) -> None:
    """From 13.0 on pymdown-extensions needs Python 3.11.5."""
    pins = [Requirement(line) for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if line[:1] != "#"]
    meant = [pin.name for pin in pins if pin.marker is None or pin.marker.evaluate({"python_full_version": version})]
    assert sorted({*meant}) == sorted(meant) == sorted({pin.name for pin in pins})


def test_the_hosted_ci_tests_every_system_and_python_that_is_supported() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    matrix = yaml.safe_load(text)["jobs"]["test"]["strategy"]["matrix"]
    assert [system.partition("-")[0] for system in matrix["system"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"] == ["3.11", "3.12", "3.13"]
    assert "://" not in text, "packages come from where pip looks for them"


UNIX_ONLY = {"fcntl", "resource", "pwd", "grp", "termios"}


def test_no_module_needs_a_part_of_python_that_windows_lacks() -> None:
    """Such imports stand in functions, or where one that fails is caught."""
    wrong = {}
    for room in (*MAY_IMPORT, "tests"):
        for module in modules_of(room):
            plain = [node for node in ast.parse(module.read_text("utf-8")).body if isinstance(node, ast.Import)]
            if found := {alias.name for node in plain for alias in node.names} & UNIX_ONLY:
                wrong[str(module.relative_to(ROOT))] = found
    assert wrong == {}


def test_every_module_has_a_subject() -> None:
    folders = [*MAY_IMPORT, "tests"]
    assert [str(m) for folder in folders for m in modules_of(folder) if m.stem in NO_SUBJECT] == []
