import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest

from reports import write_view

WORDS = ["[CLS]", "Mira", "<b>&</script>", "slept", "[SEP]"]


def maps(layers: int = 2, heads: int = 3, n: int = len(WORDS)) -> np.ndarray:
    raw = np.random.default_rng(3).exponential(1, (layers, heads, n, n))
    return raw / raw.sum(-1, keepdims=True)


@pytest.fixture
def view(tmp_path: Path) -> Path:
    return write_view(tmp_path / "deep" / "view.html", model="mini & lm", words=WORDS, maps=maps(), notes=["a <note>"])


def test_the_page_holds_every_weight_in_255_steps_and_loads_nothing(view: Path):
    html = view.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=[\"'](?!data:,|#)", html)
    data = json.loads(html.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    kept = np.frombuffer(base64.b64decode(data["weights"]), dtype=np.uint8).reshape(2, 3, 5, 5) / 255
    assert np.abs(kept - maps()).max() <= 0.5 / 255 + 1e-9
    assert (data["layers"], data["heads"], data["words"], data["special"]) == (2, 3, WORDS, [0, 4])


def test_hostile_words_stay_text(view: Path):
    html = view.read_text(encoding="utf-8")
    assert WORDS[2] not in html
    assert "&lt;b&gt;&amp;&lt;/script&gt;" in html
    assert "a &lt;note&gt;" in html
    assert html.count("</script>") == html.count("<script")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (maps(n=4), r"expected maps \[layer, head, query, key\] for 5 words, got shape \(2, 3, 4, 4\)"),
        (maps()[0], "got shape"),
        (maps() * 100, r"expected attention in \[0, 1\]"),
        (maps() * np.nan, r"expected attention in \[0, 1\]"),
    ],
)
def test_maps_that_do_not_fit_are_refused_and_the_old_page_stays(view: Path, wrong: np.ndarray, message: str):
    before = view.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        write_view(view, model="m", words=WORDS, maps=wrong)
    assert view.read_text(encoding="utf-8") == before
    assert [path.name for path in view.parent.iterdir()] == ["view.html"]
