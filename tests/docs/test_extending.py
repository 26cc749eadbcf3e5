"""The files that docs/extending.md writes out: they work as they stand there."""

import doctest
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from experiments.reproduce.judge import NOT_REPRODUCED, REPRODUCED, judge
from probes import registry
from tests.probes.conftest import asked as asked
from tests.probes.conftest import tree as tree

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shown(module: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """Return path -> the module that the page shows; a probe that it registers is forgotten after the test."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    found: dict[str, ModuleType] = {}
    for block in module("commands").blocks(ROOT / "docs" / "extending.md"):
        if block.title:
            name = block.title.removesuffix(".py").replace("/", ".")
            found[block.title] = ModuleType(name)
            monkeypatch.setitem(sys.modules, name, found[block.title])
            exec(compile(block.text, block.title, "exec"), vars(found[block.title]))
    return found


def test_the_probe_of_the_page_passes_its_own_test_and_doctest(
    shown: dict[str, ModuleType], tree: Callable[..., object], asked: Callable[..., object]
) -> None:
    probe, test = shown["probes/syntax/subject_object.py"], shown["tests/probes/syntax/test_subject_object.py"]
    assert "subject-object" in registry._registry
    doctested = doctest.testmod(probe)
    assert (doctested.attempted, doctested.failed) == (5, 0)
    test.test_the_subject_and_object_of_a_verb_ask_for_each_other(tree, asked)
    test.test_an_item_counts_by_its_order_and_among_all()


def test_the_finding_of_the_page_holds_on_its_planted_tables_and_fails_on_the_others(
    shown: dict[str, ModuleType],
) -> None:
    (finding,) = shown["experiments/findings/somebody_2020.py"].FINDINGS
    holds, fails = shown["tests/experiments/findings/somebody_2020.py"].PLANTED[finding.id]
    assert judge(finding, finding.numbers(holds)).verdict == REPRODUCED
    assert judge(finding, finding.numbers(fails)).verdict == NOT_REPRODUCED


def test_the_files_of_the_page_have_their_places_and_are_not_there_yet(shown: dict[str, ModuleType]) -> None:
    assert all((ROOT / path).parent.is_dir() and not (ROOT / path).exists() for path in shown)
