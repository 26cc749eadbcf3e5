"""What tests of the documentation share: its modules, which lie in no package."""

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.experiments.conftest import base as base
from tests.experiments.conftest import tiny as tiny
from tests.reports.conftest import serious_faults as serious_faults

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def module() -> Callable[[str], ModuleType]:
    """Return the function that imports a module of docs/."""

    def load(name: str) -> ModuleType:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(ROOT / "docs"))
            return importlib.import_module(name)

    return load
