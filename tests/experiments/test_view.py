import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments import view
from experiments.view import ViewError, write_sentence_view
from mha import align, load_model, record


@dataclass
class Shown:
    """What a page was asked to show."""

    words: list[str] = field(default_factory=list)
    maps: np.ndarray = field(default_factory=lambda: np.empty(0))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Return what the latest page was made from."""
    seen = Shown()
    write = view.write_view

    def keep(path: Path, **parts: Any) -> Path:
        seen.words, seen.maps = parts["words"], parts["maps"]
        return write(path, **parts)

    monkeypatch.setattr(view, "write_view", keep)
    return seen


@pytest.fixture
def known(tiny: Path) -> list[str]:
    """Return words that the tiny model has pieces for, one each."""
    vocabulary = json.loads((tiny / "tokenizer.json").read_text())["model"]["vocab"]
    return [word for word in vocabulary if word.isalpha() and len(word) > 3][:4]


def test_the_page_shows_words_and_special_tokens_in_their_places(
    tiny: Path, known: list[str], tmp_path: Path, shown: Shown
) -> None:
    page = write_sentence_view(" ".join(known), str(tiny), tmp_path / "new" / "page.html")
    assert page == tmp_path / "new" / "page.html"
    assert shown.words == ["[CLS]", *known, "[SEP]"]
    data = re.search(r"<script[^>]*application/json[^>]*>(.*?)</script>", page.read_text(encoding="utf-8"), re.S)
    assert data is not None
    assert json.loads(data[1])["words"] == shown.words


def test_maps_of_whole_words_are_those_of_the_model(tiny: Path, known: list[str], tmp_path: Path, shown: Shown) -> None:
    write_sentence_view(" ".join(known), str(tiny), tmp_path / "page.html")
    model = load_model(str(tiny))
    pieces = align(model.tokenizer, [known])[0]
    with torch.inference_mode(), record(model.module) as maps:
        model.run(torch.tensor(np.asarray(pieces.ids))[None], None)
    np.testing.assert_allclose(shown.maps, torch.stack(maps["pattern"])[:, 0].numpy(), atol=1e-6)


@pytest.mark.parametrize("text", ["dog", "(old,) xylophones don't qqq; -- dog.", "x " * 20])
def test_rows_of_all_heads_sum_to_one(text: str, tiny: Path, tmp_path: Path, shown: Shown) -> None:
    write_sentence_view(text, str(tiny), tmp_path / "page.html")
    size = len(text.split()) + 2
    assert shown.maps.shape == (2, 2, size, size)
    np.testing.assert_allclose(shown.maps.sum(-1), 1, atol=1e-5)
    assert (shown.maps >= 0).all()


def test_other_maps_are_shown_as_shares_and_named(tiny: Path, tmp_path: Path, shown: Shown) -> None:
    found = {}
    for kind in ("weights", "norms", "rollout"):
        page = write_sentence_view("the dog sleeps", str(tiny), tmp_path / "page.html", maps=kind)
        found[kind] = shown.maps
        np.testing.assert_allclose(shown.maps.sum(-1), 1, atol=1e-5)
        assert (f"maps: {kind}" in page.read_text(encoding="utf-8")) == (kind != "weights")
    assert np.abs(found["norms"] - found["weights"]).max() > 0.01
    np.testing.assert_allclose(found["rollout"][0], found["weights"][0], atol=1e-6)
    assert np.abs(found["rollout"][1] - found["weights"][1]).max() > 0.01
    with pytest.raises(ViewError, match="unknown maps 'norm'; known are weights, norms, rollout"):
        write_sentence_view("the dog", str(tiny), tmp_path / "page.html", maps="norm")


def test_words_are_divided_at_white_space_only(tiny: Path, tmp_path: Path, shown: Shown) -> None:
    write_sentence_view("  don't stop,\tdogs.\nnow ", str(tiny), tmp_path / "page.html")
    assert shown.words == ["[CLS]", "don't", "stop,", "dogs.", "now", "[SEP]"]


def test_pieces_of_a_word_are_summed_to_and_averaged_from(
    tiny: Path, known: list[str], tmp_path: Path, shown: Shown
) -> None:
    words = [known[0], "qzx", known[1]]
    write_sentence_view(" ".join(words), str(tiny), tmp_path / "page.html")
    model = load_model(str(tiny))
    pieces = align(model.tokenizer, [words])[0]
    with torch.inference_mode(), record(model.module) as maps:
        model.run(torch.tensor(np.asarray(pieces.ids))[None], None)
    raw = torch.stack(maps["pattern"])[:, 0].numpy()
    assert raw.shape[-1] == 7, "[CLS], a word, three pieces, a word, [SEP]"
    summed = np.concatenate([raw[..., :2], raw[..., 2:5].sum(-1, keepdims=True), raw[..., 5:]], -1)
    merged = np.concatenate([summed[..., :2, :], summed[..., 2:5, :].mean(-2, keepdims=True), summed[..., 5:, :]], -2)
    np.testing.assert_allclose(shown.maps, merged, atol=1e-6)


def test_a_word_that_is_said_twice_stays_two_words(tiny: Path, tmp_path: Path, shown: Shown) -> None:
    write_sentence_view("qzx qzx", str(tiny), tmp_path / "page.html")
    assert shown.words == ["[CLS]", "qzx", "qzx", "[SEP]"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text has no words"),
        (" \n\t", "the text has no words"),
        ("x " * 47, r"the text has 49 pieces, more than .*tiny reads \(48\)"),
        ("a \u200b dog", r"the tokenizer of .*tiny turns '\\u200b' into nothing; leave it out"),
    ],
)
def test_a_text_that_cannot_be_shown_is_refused_and_no_page_written(
    text: str, message: str, tiny: Path, tmp_path: Path
) -> None:
    with pytest.raises(ViewError, match=message):
        write_sentence_view(text, str(tiny), tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_text_as_long_as_the_model_is_shown(tiny: Path, tmp_path: Path, shown: Shown) -> None:
    write_sentence_view("x " * 46, str(tiny), tmp_path / "page.html")
    assert len(shown.words) == 48
