"""The page that walks through one head holds the numbers of every step, and follows the piece that one chooses."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.view.explain import COLUMNS, Explained, write_explanation

PIECES = ["[CLS]", "the", "<b>&</script>", "##'\"", "שלום", "the", "[SEP]"]
WORDS = ["", "the", "<b>&</script>'\"", "<b>&</script>'\"", "שלום", "the", ""]
HEADS, HEAD_DIM, MODEL = 3, 10, 30


def explained(**changes: Any) -> Explained:
    """Invented weights, from which every step follows: head 2 of 3 in layer 2 of 4."""
    rng, n = np.random.default_rng(4), len(PIECES)
    parts = {name: rng.normal(0, 0.1, (n, MODEL)) for name in ("piece", "position", "type")}
    parts["sum"] = parts["piece"] + parts["position"] + parts["type"]
    parts["LayerNorm"] = parts["sum"] / parts["sum"].std(1, keepdims=True)
    x = rng.normal(0, 1, (n, MODEL))
    query, key = (rng.normal(0, 1.5, (n, HEAD_DIM)) for _ in "QK")
    values = rng.normal(0, 1, (HEADS, n, HEAD_DIM))
    scores = query @ key.T / np.sqrt(HEAD_DIM)
    pattern = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    outputs = pattern @ values
    writes = np.einsum("hpd,hdm->hpm", outputs, rng.normal(0, 0.5, (HEADS, HEAD_DIM, MODEL)))
    bias = rng.normal(0, 0.1, MODEL)
    mixed = writes.sum(0) + bias
    added = x + mixed
    steps = {"x": x, "read": x, "query": query, "key": key, "value": values[1], "products": query @ key.T}
    steps |= {"scores": scores, "pattern": pattern, "outputs": outputs, "writes": writes, "bias": bias}
    steps |= {"mixed": mixed, "added": added, "normed": added / added.std(1, keepdims=True)}
    facts: dict[str, Any] = {"model": "mini & lm", "sentence": " ".join(dict.fromkeys(WORDS)), "layer": 1, "layers": 4}
    facts |= {"head": 1, "pieces": PIECES, "words": WORDS, "selected": 2, "embeddings": parts, "steps": steps}
    facts |= {"scaling": HEAD_DIM**-0.5, "pre": False, "differences": {"pattern": 3.04e-7, "head_output": 0.0}}
    return Explained(**(facts | changes))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_explanation(tmp_path_factory.mktemp("explain") / "deep" / "page.html", explained())


def test_the_page_holds_the_numbers_of_every_step_to_six_digits(page: Path):
    told = explained()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S)
    data = json.loads(found[1] if found else "")
    for name in ("query", "key", "value", "products", "scores", "pattern"):
        np.testing.assert_allclose(data[name], told.steps[name], rtol=1e-5)
    for name in ("x", "writes", "bias", "mixed", "added", "normed", "outputs"):
        np.testing.assert_allclose(data[name], told.steps[name][..., :COLUMNS], rtol=1e-5)
    np.testing.assert_allclose(data["output"], told.steps["outputs"][1], rtol=1e-5)
    for name in ("outputs", "writes", "mixed"):
        length = np.sqrt((told.steps[name] ** 2).sum(-1))
        np.testing.assert_allclose(data[f"{name}_length"], length, rtol=1e-5)
    assert [name for name, _ in data["embeddings"]] == ["piece", "position", "type", "sum", "LayerNorm"]
    np.testing.assert_allclose(data["embeddings"][3][1], told.embeddings["sum"][:, :COLUMNS], rtol=1e-5)


def test_shapes_and_differences_are_those_of_the_arrays_and_hostile_words_are_text(page: Path, tmp_path: Path):
    html = page.read_text("utf-8")
    said = " ".join(re.sub(r"<[^>]+>", "", html).split()).replace("\u00a0", " ")
    assert "[7 × 30] · [30 × 10] + [10] = [7 × 10]" in said
    assert "Head 2 fills columns 11 to 20 of 30" in said
    assert "√10 = 3.162" in said
    assert "the largest difference is 3.0e-7 for the attention weights and 0.0 for the head's output" in said
    assert not re.search(r"(src|href)=[\"'](?!data:,|#)", html)
    assert PIECES[2] not in html
    assert "&lt;b&gt;&amp;&lt;/script&gt;" in html
    assert html.count("</script>") == html.count("<script")
    other = write_explanation(tmp_path / "other.html", explained(pre=True, scaling=1)).read_text("utf-8")
    for sentence in ("This model does not divide", "pre-norm"):
        assert (sentence in html, sentence in other) == (False, True)


@pytest.mark.slow
def test_axe_finds_no_serious_fault_of_accessibility(serious_faults: Callable[[Path], list[str]], page: Path) -> None:
    assert serious_faults(page) == []


def row(page: Any, table: str, index: int) -> list[float]:
    texts = page.locator(f"#{table} tbody tr").nth(index).locator("td:not(.left)").all_inner_texts()
    return [float(text.replace("−", "-")) for text in texts if text]


@pytest.mark.slow
def test_the_row_of_the_chosen_piece_is_followed_through_all_steps(page: Path, opened: Any):
    shown, told = opened(page, width=390), explained().steps
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    assert shown.inner_text("#pieces [aria-checked=true]") == PIECES[2]
    for chosen in (2, 5):
        shown.locator("#pieces button").nth(chosen).click()
        powers = np.exp(told["scores"][chosen] - told["scores"][chosen].max())
        for at, expected in enumerate((told["products"][chosen], told["scores"][chosen], powers)):
            assert row(shown, "softmax", at)[:7] == pytest.approx(expected.tolist(), abs=0.006)
        weights = told["pattern"][chosen]
        assert row(shown, "softmax", 3) == pytest.approx([*weights, 1], abs=0.0006)
        mixed = [*(weights[4] * told["value"][4])[:COLUMNS], weights[4]]
        assert row(shown, "mixture", 4) == pytest.approx(mixed, abs=0.0006)
        assert row(shown, "mixture", 7) == pytest.approx(told["outputs"][1, chosen, :COLUMNS], abs=0.006)
        lengths = [row(shown, "writes", at)[-1] for at in range(3)]
        assert lengths == pytest.approx(np.linalg.norm(told["writes"][:, chosen], axis=-1).tolist(), abs=0.06)
        assert row(shown, "residual", 2) == pytest.approx(told["added"][chosen, :COLUMNS], abs=0.006)
    shown.select_option("#fits", "4")
    terms = told["query"][5] * told["key"][4]
    assert row(shown, "terms", 2) == pytest.approx([*terms[:COLUMNS], terms.sum()], abs=0.06)


@pytest.mark.slow
def test_next_back_and_the_arrow_keys_go_through_all_steps_and_pieces(page: Path, opened: Any):
    shown = opened(page)
    assert (shown.inner_text("#at"), shown.is_disabled("#back")) == ("11 steps", True)
    for step in range(1, 12):
        shown.keyboard.press("ArrowRight") if step % 2 else shown.click("#next")
        assert shown.inner_text("#at").startswith(f"Step {step} of 11: ")
    assert shown.is_disabled("#next")
    shown.click("#back")
    assert shown.inner_text("#at") == "Step 10 of 11: Residual connection and LayerNorm"
    shown.locator("#pieces [aria-checked=true]").focus()
    shown.keyboard.press("ArrowRight")
    assert shown.inner_text("#pieces [aria-checked=true]") == PIECES[3]


def test_a_step_that_is_not_finite_is_refused_and_the_older_page_stays(page: Path) -> None:
    before, steps = page.read_text("utf-8"), explained().steps
    with pytest.raises(ValueError, match="scores holds a number that is not finite"):
        write_explanation(page, explained(steps={**steps, "scores": steps["scores"] * np.inf}))
    assert page.read_text("utf-8") == before
