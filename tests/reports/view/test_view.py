"""The page of one's own texts holds every weight, and refuses maps that do not fit."""

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
from reports.scores.shortest_table import shortest_table
from reports.view.view import LEFT_OUT, LONG, KnownRole, Level, MapSide, Panel, TextAttention, known_roles
from tests.reports.views import attention, level, random_maps

WORDS = ["[CLS]", "Mira", "<b>&</script>", "slept", "[SEP]"]
PIECES = ["[CLS]", "mira", "<", "b", ">", "slept", "[SEP]"]


@pytest.fixture
def shown() -> TextAttention:
    """Return attention on five words, one of which is of three pieces."""
    return attention(WORDS, pieces=PIECES)


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


def test_the_page_holds_every_weight_in_255_steps_loads_nothing_and_hostile_words_are_text(
    tmp_path: Path, shown: TextAttention
):
    roles = {"1-2": KnownRole(("<i>", "<i>"), "a & b", (("<i>",) * 8,))}
    view = write_view(tmp_path / "deep" / "view.html", [Panel("mini & lm", [shown], roles)], ["a <note>"])
    html, kept = view.read_text(encoding="utf-8"), told(view)
    assert not re.search(r"(src|href)=[\"'](?!data:,|#)", html)
    for name, tokens, maps in (("words", WORDS, shown.words.maps), ("pieces", PIECES, shown.pieces.maps)):
        found = weights(kept[name]["weights"], 2, 3, len(tokens), len(tokens))
        assert np.abs(found - maps).max() <= 0.5 / 255 + 1e-9
        assert kept[name]["queries"] == kept[name]["keys"] == {"tokens": tokens, "special": [0, len(tokens) - 1]}
    assert WORDS[2] not in html
    assert "<i>" not in html
    assert "a &lt;note&gt;" in html
    assert "mini &amp; lm" in html
    assert html.count("</script>") == html.count("<script")


def test_where_attention_goes_is_summed_over_the_rows_of_words(tmp_path: Path):
    maps = np.array([[[[1.0, 0, 0, 0], [0.5, 0.2, 0.2, 0.1], [0.1, 0.4, 0.4, 0.1], [0, 0, 0, 1.0]]]])
    own = TextAttention("", "a b", level(maps, ["[", "a", "b", "]"]), level(maps, ["[", "a", "b", "]"]))
    bare = replace(own, words=level(maps, "abcd", special=()))
    texts = (own, replace(own, crossed=True), bare)
    kept = [told(write_view(tmp_path / "view.html", [Panel("m", [one])]))["where"] for one in texts]
    assert kept[0] == {"special tokens": [0.4], "itself": [0.3], "previous word": [0.2], "next word": [0.1]}
    assert kept[1] == {"special tokens": [0.4], "words": [0.6]}
    assert "special tokens" not in kept[2]
    assert kept[2]["itself"] == [pytest.approx((1 + 0.2 + 0.4 + 1) / 4)]


def test_of_a_pair_the_other_text_is_a_place_that_attention_goes_to(tmp_path: Path):
    maps = np.array([[[[1.0, 0, 0, 0], [0.5, 0.2, 0.2, 0.1], [0.1, 0.4, 0.4, 0.1], [0, 0, 0.7, 0.3]]]])
    side = MapSide(["[", "a", "]", "b"], [0, 2], 3)
    pair = TextAttention("", "a b", Level(maps, side, side), Level(maps, side, side))
    kept = told(write_view(tmp_path / "view.html", [Panel("m", [pair])]))
    assert kept["where"] == {"special tokens": [0.7], "itself": [0.25], "words of the other text": [0.05]}
    assert kept["words"]["queries"]["second"] == kept["pieces"]["keys"]["second"] == 3


def test_small_weights_are_left_out_of_long_texts_but_count_where_attention_goes(tmp_path: Path):
    found = {}
    for n in (LONG, LONG + 1):
        even = level(np.full((1, 1, n, n), 1 / n), ["w"] * n)
        page = write_view(tmp_path / "view.html", [Panel("m", [TextAttention("", "", even, even)])])
        kept = told(page)
        assert kept["where"]["other words"][0] > 0.95
        found[n] = weights(kept["words"]["weights"], n, n).max(), LEFT_OUT in page.read_text(encoding="utf-8")
    assert found == {LONG: (2 / 255, False), LONG + 1: (0, True)}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (random_maps(2, 3, 4, 4), r"maps \[layer, head, query, key\] of 5 queries and 5 keys, got .*3, 4, 4\)"),
        (random_maps(2, 3, 5, 5)[0], "got shape"),
        (random_maps(2, 3, 5, 5) * 100, r"expected attention in \[0, 1\]"),
        (random_maps(2, 3, 5, 5) * np.nan, r"expected attention in \[0, 1\]"),
    ],
)
@pytest.mark.parametrize("kind", ["words", "pieces"])
def test_maps_that_do_not_fit_are_refused_and_the_old_page_stays(
    tmp_path: Path, shown: TextAttention, kind: str, wrong: np.ndarray, message: str
):
    view = tmp_path / "view.html"
    view.write_text("old")
    bad = {"words": shown.words, "pieces": shown.words} | {kind: replace(shown.words, maps=wrong)}
    with pytest.raises(ValueError, match=message):
        write_view(view, [Panel("m", [replace(shown, **bad)])])
    for panels in ([], [Panel("m", [])], [Panel("m", [shown]), Panel("n", [replace(shown, title="another")])]):
        with pytest.raises(ValueError, match="expected panels with the same views"):
            write_view(view, panels)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"view.html": "old"}


def test_the_page_opens_on_the_first_finding_or_on_the_head_with_the_least_entropy(tmp_path: Path, run: Run):
    maps = np.full((2, 2, 4, 4), 0.25)
    maps[1, 0] = np.eye(4)
    flat = attention(["a", "b", "c", "d"], shape=(2, 2))
    sharp = replace(flat, words=replace(flat.words, maps=maps), pieces=replace(flat.pieces, maps=maps))
    assert data(write_view(tmp_path / "view.html", [Panel("m", [sharp])]))["first"] == "2-1"
    small = attention(["a", "b", "c", "d"], shape=(1, 2))
    assert data(write_view(tmp_path / "view.html", [Panel("m", [sharp]), Panel("n", [small])]))["first"] == "1-1"
    found = next(row["name"] for row in shortest_table(run).frame.to_dict("records") if row["grade"])
    assert next(iter(known_roles(run))) == found
    known = data(write_view(tmp_path / "view.html", [Panel("m", [sharp], {"1-2": KnownRole(None, "", ())})]))
    assert known["first"] == "1-2"


def test_roles_are_those_of_the_cards_and_share_letters_over_panels(run: Run, tmp_path: Path, shown: TextAttention):
    source, found = CardSource(run), known_roles(run)
    assert {name: role.main[1] for name, role in found.items() if role.main} == dict(source.main_roles)
    assert any(not role.main for role in found.values())
    two = [
        Panel(one, [shown], {f"1-{i}": KnownRole(main, "", ()) for i, main in enumerate(mains, start=1)})
        for one, mains in (("m", [("a", "det"), ("a", "obj")]), ("n", [("b", "obj"), ("b", "obj"), ("a", "obj")]))
    ]
    kept = data(write_view(tmp_path / "view.html", two))
    marks = [(one["probe"], one["label"], one["letter"]) for one in kept["marks"]]
    assert marks == [("a", "obj", "O"), ("b", "obj", "B"), ("a", "det", "D")]
    assert [[main for main, *_ in panel["roles"].values()] for panel in kept["panels"]] == [[2, 0], [1, 1, 0]]
