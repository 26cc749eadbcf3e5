"""What one imports, and what is said where a folder of one's own hides a part of it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import headscope as hs

ROOT = Path(__file__).parents[2]


def typed(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return what Python answers to `code` in a folder, with headscope on its path."""
    where = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env=where, capture_output=True, text=True)


def test_every_name_is_there_and_has_its_docstring() -> None:
    assert {"load", "score", "view", "ablate", "compare", "open_run", "probe", "corpus"} <= {*hs.__all__}
    assert all(getattr(hs, name).__doc__ for name in hs.__all__)
    assert {*hs.__all__} <= {*dir(hs)}
    with pytest.raises(AttributeError, match=r"no attribute 'scores'; it offers load, "):
        _ = hs.scores


def test_every_name_has_its_types() -> None:
    declared = next(node for node in ast.parse(Path(hs.__file__).read_text("utf-8")).body if isinstance(node, ast.If))
    assert {name.asname for line in declared.body for name in line.names} == {*hs.__all__}  # type: ignore[attr-defined]


def test_importing_it_loads_nothing_heavy(tmp_path: Path) -> None:
    answer = typed("import headscope, sys; print({'torch', 'pandas', 'experiments.api'} & {*sys.modules})", tmp_path)
    assert answer.stdout == "set()\n", answer.stderr


@pytest.mark.parametrize("room", ["experiments", "reports", "probes", "mha"])
@pytest.mark.parametrize("ending", ["", ".py"])
def test_a_package_or_file_of_the_same_name_has_results_by_its_path(room: str, ending: str, tmp_path: Path) -> None:
    hides = tmp_path / f"{room}{ending}"
    file = hides if ending else hides / "__init__.py"
    file.parent.mkdir(exist_ok=True)
    file.touch()
    for code in ("import headscope", f"import {room}; import headscope"):
        last = typed(code, tmp_path).stderr.splitlines()[-1]
        assert last == (
            f"ImportError: the package {room} of headscope, in {ROOT}, is hidden by {hides}: "
            "give that another name, or start Python elsewhere"
        )


def test_a_folder_without_init_and_a_result_of_the_same_name_are_no_matter(tmp_path: Path) -> None:
    for room in hs.ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "mine.csv").touch()
    answer = typed("import headscope as hs; print(hs.corpus({'name': 'grammar', 'documents': 2}).size())", tmp_path)
    assert "sentences" in answer.stdout, answer.stderr
