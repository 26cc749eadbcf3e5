"""Pages ask nobody for anything: a policy in each forbids it, and they work as well with it."""

import json
import re
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
  if (kind === "connect-src") fetch(url).catch(() => {});
  if (kind === "img-src") add("img", {src: url});
  if (kind === "script-src-elem") add("script", {src: url});
  if (kind === "style-src-elem") add("link", {rel: "stylesheet", href: url});
  if (kind === "frame-src") add("iframe", {src: url});
  if (kind === "script-src") setTimeout(() => { try { new Function("return 1")() } catch {} });
  return Promise.race([broken, new Promise((late) => setTimeout(late, 2000, "nothing"))]);
}"""
"Breaks the policy in one way, and tells which of its lines that was."


def test_every_page_has_the_policy_before_all_that_it_holds_for() -> None:
    begun = [text for path in FILES.values() if "<html" in (text := path.read_text(encoding="utf-8"))]
    (frame,) = begun
    before, _, policy = frame.partition('http-equiv="Content-Security-Policy" content="')
    assert re.findall(r"<(\w+)", before) == ["html", "head", "meta", "meta"]
    lines = dict(line.split(maxsplit=1) for line in policy.partition('"')[0].split("; "))
    assert lines["default-src"] == lines["form-action"] == lines["base-uri"] == "'none'"
    assert {source for line in lines.values() for source in line.split()} == {"'none'", "'unsafe-inline'", "data:"}


def test_scripts_of_ours_make_no_code_of_texts_and_no_two_files_have_one_name() -> None:
    scripts = [path.read_text(encoding="utf-8") for name, path in FILES.items() if name.endswith(".js")]
    assert not [found[0] for text in scripts if (found := re.search(r"\beval\(|new Function|\bfetch\(|XMLHttp", text))]
    assert "ast: true" in FILES["charts.js"].read_text(encoding="utf-8")
    every = [path for path in FILES["frame.html.j2"].parents[1].rglob("*.*") if path.suffix in (".j2", ".css", ".js")]
    assert len(every) == len(FILES)


@pytest.fixture(scope="module", params=["charts", "view"])
def strict(request: pytest.FixtureRequest, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A page with charts or maps, open under its policy, and what it complained of."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "charts":
        (folder / "sandbox.json").write_text(json.dumps(small_record()), encoding="utf-8")
        path = write_sandbox_page(folder)
    else:
        panel = Panel("m", [attention(["[CLS]", "Mira", "sank", "[SEP]"], shape=(2, 3))])
        path = write_view(folder / "view.html", [panel])
    context = browser.new_context()
    page, said = context.new_page(), list[str]()
    page.on("console", lambda one: said.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda asked: said.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None)
    page.goto(path.as_uri())
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
    "line", ["connect-src", "img-src", "script-src-elem", "style-src-elem", "frame-src", "script-src"]
)
def test_what_would_ask_the_network_is_stopped(line: str, strict: Any) -> None:
    page, _ = strict
    assert page.evaluate(ASKS, line) == line
