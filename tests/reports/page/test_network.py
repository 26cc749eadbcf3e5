"""Pages ask nobody for anything: a policy in each forbids it, and they work as well with it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from reports import write_view
from reports.statements.sandbox_page import write_sandbox_page
from reports.templates.environment import FILES
from reports.view.view import Panel
from tests.reports.sandboxes import small_record
from tests.reports.views import attention

ASKS = """async (kind) => {
  const url = "http://127.0.0.1:9/leak";
  const broken = new Promise((seen) =>
    document.addEventListener("securitypolicyviolation", (event) => seen(event.effectiveDirective), {once: true}));
  const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
  if (kind === "fetch") fetch(url).catch(() => {});
  if (kind === "socket") try { new WebSocket("ws://127.0.0.1:9/") } catch {}
  if (kind === "beacon") navigator.sendBeacon(url, "x");
  if (kind === "image") add("img", {src: url});
  if (kind === "script") add("script", {src: url});
  if (kind === "style") add("link", {rel: "stylesheet", href: url});
  if (kind === "frame") add("iframe", {src: url});
  if (kind === "eval") setTimeout(() => { try { new Function("return 1")() } catch {} });
  return Promise.race([broken, new Promise((late) => setTimeout(late, 2000, "nothing"))]);
}"""
"Breaks the policy in one way, and tells which of its lines that was."


class _Policy(HTMLParser):
    """The policy of a page, and what came before it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.before: list[str] = []
        self.lines: dict[str, list[str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("http-equiv") == "Content-Security-Policy":
            parts = [line.split() for line in (found["content"] or "").split(";")]
            self.lines = {part[0]: part[1:] for part in parts}
        elif not self.lines:
            self.before.append(tag)


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with charts, and without its figures on the disk."""
    folder = tmp_path_factory.mktemp("sandbox")
    (folder / "sandbox.json").write_text(json.dumps(small_record()), encoding="utf-8")
    return write_sandbox_page(folder)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = ["[CLS]", "Mira", "sank", "[SEP]"]
    return write_view(tmp_path_factory.mktemp("view") / "view.html", [Panel("m", [attention(words, shape=(2, 3))])])


def test_every_page_is_made_of_the_frame_that_has_the_policy() -> None:
    begun = [name for name, path in FILES.items() if "<html" in path.read_text(encoding="utf-8")]
    assert begun == ["frame.html.j2"]


def test_the_policy_comes_before_all_that_it_holds_for_and_lets_nothing_in(charts: Path) -> None:
    policy = _Policy(charts.read_text(encoding="utf-8"))
    assert policy.before == ["html", "head", "meta"]
    assert policy.lines["default-src"] == policy.lines["form-action"] == policy.lines["base-uri"] == ["'none'"]
    allowed = {source for line in policy.lines.values() for source in line}
    assert allowed == {"'none'", "'unsafe-inline'", "data:"}


def test_scripts_of_ours_make_no_code_of_texts() -> None:
    scripts = [path.read_text(encoding="utf-8") for name, path in FILES.items() if name.endswith(".js")]
    assert not [found[0] for text in scripts if (found := re.search(r"\beval\(|new Function|\bfetch\(|XMLHttp", text))]
    assert "ast: true" in FILES["charts.js"].read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=["charts", "view"])
def strict(request: pytest.FixtureRequest, browser: Any) -> Any:
    """A page with charts or maps, open under its policy, and what it complained of."""
    context = browser.new_context()
    page, said = context.new_page(), list[str]()
    page.on("console", lambda one: said.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda asked: said.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None)
    page.goto(request.getfixturevalue(request.param).as_uri())
    yield page, said
    context.close()


def test_charts_and_maps_are_drawn_under_the_policy(strict: Any) -> None:
    page, said = strict
    for number in range(charts := page.locator("[data-chart]").count()):
        page.locator("[data-chart]").nth(number).scroll_into_view_if_needed()
    page.locator("[data-chart=drawn] svg" if charts else ".frame").first.wait_for(state="attached", timeout=5000)
    page.wait_for_timeout(500)
    assert page.locator("[data-chart=drawn] svg").count() == charts
    assert said == []


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("fetch", "connect-src"),
        ("socket", "connect-src"),
        ("beacon", "connect-src"),
        ("image", "img-src"),
        ("script", "script-src-elem"),
        ("style", "style-src-elem"),
        ("frame", "frame-src"),
        ("eval", "script-src"),
    ],
)
def test_what_would_ask_the_network_is_stopped(kind: str, line: str, strict: Any) -> None:
    page, _ = strict
    assert page.evaluate(ASKS, kind) == line
