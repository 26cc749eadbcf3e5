"""The documentation as a site: it builds without a warning, every link leads somewhere, and it works from disk."""

import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value or "")
            elif name in ("href", "src") and value:
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built as `make docs` does; a warning fails it."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


@pytest.mark.slow
def test_every_link_leads_to_something_that_is_there(site: Path, pages: dict[Path, Page]) -> None:
    lost = []
    for path, page in pages.items():
        for link in {*page.links}:
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in pages[target].places):
                lost.append(f"{path.relative_to(site)} -> {link}")
    assert not lost
    assert len(pages) > 20


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page], site: Path) -> None:
    loaded = re.compile(r'<(?:script|img|iframe|link)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"')
    assert not [found for path in pages for found in loaded.findall(path.read_text(encoding="utf-8"))]


@pytest.mark.slow
def test_the_search_finds_pages_from_disk_without_a_request(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
    page.goto((site / "index.html").as_uri())
    page.locator("input[name=query]").first.click()
    page.keyboard.type("agreement verb")
    page.locator(".md-search-result__link").first.wait_for(state="attached")
    assert page.locator(".md-search-result__link").count() > 1
    assert said == []
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        *("index", "reference/config", "reference/python", "published/minilm-profile/report"),
    ],
)
def test_axe_finds_no_serious_fault_of_accessibility(
    site: Path, serious_faults: Callable[[Path], list[str]], place: str
) -> None:
    assert serious_faults(site / f"{place}.html") == []
