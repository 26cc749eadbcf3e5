import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import doctor
from experiments.commands.doctor import examine, examine_model
from tests.probes.causal.test_labels import planted, tokenizer


def state(what: str) -> doctor.CheckResult:
    (one,) = (one for one in examine() if one.what == what)
    return one


def test_everything_has_results_with_what_to_do(headscope: Callable[..., Any]) -> None:
    said = headscope("doctor", "--json")
    found = json.loads(said.out)
    assert (said.code, said.err) == (0, "")
    assert [one["what"] for one in found][:4] == ["headscope", "python", "packages", "device"]
    assert all(one["do"] for one in found if one["state"] != "fine" and one["what"] != "memory")
    assert "torch" in headscope("doctor").out


def test_a_package_that_is_not_there_is_broken_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, headscope: Callable[..., Any]
) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("no-such-package", "torch", "nor-this"))
    assert state("packages").state == "broken"
    said = headscope("doctor")
    assert said.code == 1
    assert "no-such-package, nor-this not installed" in said.out


def test_little_memory_and_no_browser_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.os, "sysconf", lambda name: 1_000_000 if name == "SC_PAGE_SIZE" else 2_000)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    assert (state("memory").state, state("memory").detail) == ("missing", "2.0 GB")
    assert state("browser for tests").state == "missing"


def test_of_a_classifier_its_labels_are_named_and_what_can_be_measured(tmp_path: Path) -> None:
    module, _ = planted(0)
    for folder, one in (("whole", module), ("encoder", module.bert)):
        one.save_pretrained(tmp_path / folder)
        tokenizer().save_pretrained(tmp_path / folder)
    found = {
        folder: next(one for one in examine_model(str(tmp_path / folder), "cpu") if one.what == "classifier")
        for folder in ("whole", "encoder")
    }
    assert (found["whole"].state, found["encoder"].state) == ("fine", "missing")
    assert "labels bad, good" in found["whole"].detail
