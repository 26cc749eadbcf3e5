import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports import Run, write_view
from reports.heads.card_parts import CardSource
from reports.view.roles import KnownRole, known_roles
from reports.view.view import LEFT_OUT, LONG, Panel, TextAttention
from tests.reports.views import attention, level, random_maps

WORDS = ["[CLS]", "Mira", "<b>&</script>", "slept", "[SEP]"]
PIECES = ["[CLS]", "mira", "<", "b", ">", "slept", "[SEP]"]


@pytest.fixture
def shown() -> TextAttention:
    """Return attention on five words, one of which is of three pieces."""
    return attention(WORDS, pieces=PIECES)


@pytest.fixture
def view(tmp_path: Path, shown: TextAttention) -> Path:
    roles = {"1-2": KnownRole(("<i>", "<i>"), "a & b", (("<i>",) * 8,))}
    return write_view(tmp_path / "deep" / "view.html", [Panel("mini & lm", [shown], roles)], ["a <note>"])


def data(page: Path) -> dict[str, Any]:
    """Return what a page holds."""
    held = page.read_text(encoding="utf-8").split('<script type="application/json" id="data">')[1]
    found: dict[str, Any] = json.loads(held.split("</script>")[0])
    return found


def told(page: Path) -> dict[str, Any]:
    """Return what a page holds of its first view."""
    found: dict[str, Any] = data(page)["panels"][0]["views"][0]
    return found


def weights(packed: str, *shape: int) -> np.ndarray:
    return np.frombuffer(gzip.decompress(base64.b64decode(packed)), np.uint8).reshape(shape) / 255


def test_the_page_holds_every_weight_in_255_steps_and_loads_nothing(view: Path, shown: TextAttention):
    assert not re.search(r"(src|href)=[\"'](?!data:,|#)", view.read_text(encoding="utf-8"))
    kept = told(view)
    for name, tokens, maps in (("words", WORDS, shown.words.maps), ("pieces", PIECES, shown.pieces.maps)):
        found = weights(kept[name]["weights"], 2, 3, len(tokens), len(tokens))
        assert np.abs(found - maps).max() <= 0.5 / 255 + 1e-9
        assert kept[name]["queries"] == kept[name]["keys"] == {"tokens": tokens, "special": [0, len(tokens) - 1]}
    assert (kept["layers"], kept["heads"], kept["known"]) == (2, 3, True)


def test_where_attention_goes_is_summed_over_the_rows_of_words(tmp_path: Path):
    maps = np.array([[[[1.0, 0, 0, 0], [0.5, 0.2, 0.2, 0.1], [0.1, 0.4, 0.4, 0.1], [0, 0, 0, 1.0]]]])
    own = TextAttention("", "a b", level(maps, ["[", "a", "b", "]"]), level(maps, ["[", "a", "b", "]"]))
    crossed = replace(own, crossed=True)
    bare = replace(own, words=level(maps, "abcd", special=()))
    kept = [told(write_view(tmp_path / "view.html", [Panel("m", [one])]))["where"] for one in (own, crossed, bare)]
    share = {"special tokens": [0.4], "itself": [0.3], "previous word": [0.2], "next word": [0.1]}
    assert kept[0] == share
    assert kept[1] == {"special tokens": [0.4], "words": [0.6]}
    assert "special tokens" not in kept[2]
    assert kept[2]["itself"] == [pytest.approx((1 + 0.2 + 0.4 + 1) / 4)]


def test_small_weights_are_left_out_of_long_texts_but_count_where_attention_goes(tmp_path: Path):
    found = {}
    for n in (LONG, LONG + 1):
        even = level(np.full((1, 1, n, n), 1 / n), ["w"] * n)
        page = write_view(tmp_path / "view.html", [Panel("m", [TextAttention("", "", even, even)])])
        kept = told(page)
        assert kept["where"]["other words"][0] > 0.95
        found[n] = weights(kept["words"]["weights"], n, n).max(), LEFT_OUT in page.read_text(encoding="utf-8")
    assert found == {LONG: (2 / 255, False), LONG + 1: (0, True)}


def test_hostile_words_stay_text(view: Path):
    html = view.read_text(encoding="utf-8")
    assert WORDS[2] not in html
    assert "<i>" not in html
    assert "a &lt;note&gt;" in html
    assert "mini &amp; lm" in html
    assert html.count("</script>") == html.count("<script")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            random_maps(2, 3, 4, 4),
            r"expected maps \[layer, head, query, key\] of 5 queries and 5 keys, got .*3, 4, 4\)",
        ),
        (random_maps(2, 3, 5, 5)[0], "got shape"),
        (random_maps(2, 3, 5, 5) * 100, r"expected attention in \[0, 1\]"),
        (random_maps(2, 3, 5, 5) * np.nan, r"expected attention in \[0, 1\]"),
    ],
)
@pytest.mark.parametrize("kind", ["words", "pieces"])
def test_maps_that_do_not_fit_are_refused_and_the_old_page_stays(
    view: Path, shown: TextAttention, kind: str, wrong: np.ndarray, message: str
):
    before = view.read_text(encoding="utf-8")
    bad = {"words": shown.words, "pieces": shown.words} | {kind: replace(shown.words, maps=wrong)}
    with pytest.raises(ValueError, match=message):
        write_view(view, [Panel("m", [replace(shown, **bad)])])
    assert view.read_text(encoding="utf-8") == before
    assert [path.name for path in view.parent.iterdir()] == ["view.html"]


def test_panels_offer_the_same_views(tmp_path: Path, shown: TextAttention):
    other = replace(shown, title="another")
    for panels in ([], [Panel("m", [])], [Panel("m", [shown]), Panel("n", [other])]):
        with pytest.raises(ValueError, match="expected panels with the same views"):
            write_view(tmp_path / "view.html", panels)


def test_roles_are_those_of_the_cards(report: Path):
    run = Run.open(report.parent)
    source, found = CardSource(run), known_roles(run)
    assert {name: role.main[1] for name, role in found.items() if role.main} == dict(source.main_roles)
    name = next(iter(source.main_roles))
    label, variant, accuracy, interval, rival, margin, margin_interval, verdict = found[name].rows[0]
    said = f"{label}, {variant}: accuracy {accuracy} % {interval}; strongest baseline {rival}; "
    assert found[name].text == f"{said}margin {margin} {margin_interval}; {verdict}"
    assert label == "{}: {}".format(*(found[name].main or ()))
    assert any(not role.main for role in found.values())
