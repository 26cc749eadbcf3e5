"""Modules and paths that texts name: each exists, wherever the text stands."""

import ast
import functools
import importlib
import re
from pathlib import Path

import pytest

from experiments.run.config import RunConfig

ROOT = Path(__file__).parents[2]
ROOMS = ("mha", "probes", "reports", "experiments", "headscope")
CODE = (*ROOMS, "docs", "tests")

DOTTED = re.compile(rf"`((?:{'|'.join(ROOMS)})(?:\.\w+)+)`")
PATH = re.compile(rf"(?<![\w/.*(-])((?:{'|'.join(CODE)})/[\w/.-]*[\w/])(?![\w*{{])")
MACHINE = re.compile(r"(?<![\w.])/(?:tmp|home|root|work|Users|mnt)/[\w./-]*")
PLACEHOLDER = re.compile(r"[A-Z]{4,}|somebody")
"In a path that stands for others, or for a file that a page shows how to write."


def said_in(source: str) -> str:
    """Return the docstrings of a module, those of values included, and its comments."""
    strings = [
        node.value.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    return "\n".join([*strings, *re.findall(r"(?:^|  )# .*", source, re.MULTILINE)])


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Return the text of each page, template and module by its name; of a module what is said in it."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "mkdocs.yml", *(ROOT / "docs").glob("*.md")]
    found = {path: path.read_text(encoding="utf-8") for path in [*pages, *(ROOT / "reports").rglob("*.j2")]}
    modules = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    found |= {path: said_in(path.read_text(encoding="utf-8")) for path in modules}
    return {str(path.relative_to(ROOT)): text for path, text in found.items()}


@functools.cache
def resolves(name: str) -> bool:
    """Return whether a dotted name is a module, something in one, or a key of a config."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            fields = getattr(found, "__dataclass_fields__", {}) | getattr(found, "__annotations__", {})
            if not hasattr(found, part) and part not in fields:
                section = RunConfig.model_fields.get(parts[0])
                keys = getattr(section.annotation, "model_fields", {}) if section else {}
                return len(parts) == 2 and parts[1] in keys
            found = getattr(found, part, None)
        return True
    return False


def test_every_module_that_is_named_exists(texts: dict[str, str]) -> None:
    assert [resolves(name) for name in ("probes.names", "mha.maps", "probes.nothing")] == [True, False, False]
    named = {(page, name) for page, text in texts.items() for name in DOTTED.findall(text)}
    assert len(named) > 50
    assert sorted(f"{page}: {name}" for page, name in named if not resolves(name)) == []


def test_every_path_that_is_named_exists(texts: dict[str, str]) -> None:
    named = {(page, path) for page, text in texts.items() for path in PATH.findall(text)}
    assert len(named) > 50
    lost = [(page, path) for page, path in named if not PLACEHOLDER.search(path) and not (ROOT / path).exists()]
    assert sorted(f"{page}: {path}" for page, path in lost) == []


LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def test_every_link_of_a_page_leads_to_a_file_of_the_repository(texts: dict[str, str]) -> None:
    pages = {page: text for page, text in texts.items() if page.endswith(".md")}
    linked = [(page, link) for page, text in pages.items() for link in LINK.findall(text) if "://" not in link]
    assert len(linked) > 100
    assert [(page, link) for page, link in linked if not (ROOT / page).parent.joinpath(link).exists()] == []


def test_no_published_page_names_a_folder_of_a_machine() -> None:
    """A published command is one that a reader can type; its run was made under some folder of ours."""
    pages = [path for kind in ("md", "toml", "json", "csv") for path in (ROOT / "reports/published").rglob(f"*.{kind}")]
    assert len(pages) > 20
    named = {str(path.relative_to(ROOT)): MACHINE.findall(path.read_text(encoding="utf-8")) for path in pages}
    assert {name: found for name, found in named.items() if found} == {}
