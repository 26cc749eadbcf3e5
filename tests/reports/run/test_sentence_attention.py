"""The attention of every head on a few sentences: what is written is read, and what cannot be is refused."""

from pathlib import Path

import pandas as pd
import pytest

from reports import Run, write_attention
from reports.run.sentence_attention import SentenceAttention

Tables = dict[str, pd.DataFrame]


@pytest.fixture
def tables() -> Tables:
    words = ["Mira", "slept", "."]
    sentence = {"sentence": 0, "source": "own-1", "words": words, "pieces": [["Mi", "##ra"], ["slept"], ["."]]}
    arc = {"sentence": 0, "probe": "dependency", "label": "nsubj", "variant": "dependent->head", "query": 0, "key": 1}
    head = {"sentence": 0, "keys": [1, -2, 0, -1, 1, -2], "weights": [200, 50, 255, 0, 128, 127]}
    return {
        "sentences": pd.DataFrame([sentence | {"before": "[CLS]", "after": "[SEP]"}]),
        "gold": pd.DataFrame([arc]),
        "attention": pd.DataFrame([head | {"layer": at, "head": 0, "name": f"{at + 1}-1"} for at in range(2)]),
    }


def test_what_is_written_is_read_with_the_run_and_a_missing_table_is_no_finished_folder(
    tables: Tables, run_folder: Path
):
    assert Run.open(run_folder).attention is None
    write_attention(tables, run_folder)
    found = Run.open(run_folder).attention
    assert found is not None
    assert [list(word) for word in found.sentences["pieces"][0]] == [["Mi", "##ra"], ["slept"], ["."]]
    assert list(found.attention["keys"][1]) == [1, -2, 0, -1, 1, -2]
    assert found.gold.to_dict("records") == tables["gold"].to_dict("records")
    (run_folder / "gold.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"gold\.parquet"):
        SentenceAttention.read(run_folder)


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        ("sentences", {"pieces": [[["a"]]]}, "sentences.parquet: `words` and `pieces` differ in length"),
        ("gold", {"query": 3}, "gold.parquet: `query` or `key` is outside the sentence"),
        ("gold", {"key": -3}, "gold.parquet: `key` is below -2, in 1 row"),
        ("gold", {"sentence": 7}, "gold.parquet: `sentence` is none of sentences.parquet"),
        ("attention", {"keys": [[0] * 5] * 2}, "`keys` and `weights` are not equally many of every word"),
        ("attention", {"keys": [[3] * 6] * 2}, "`keys` names a word outside the sentence, in 2 row.* first is 0, 0, 0"),
        ("attention", {"weights": [[256] * 6] * 2}, "`weights` lies outside 0 to 255"),
    ],
)
def test_what_no_head_can_have_done_is_refused(tables: Tables, table: str, change: dict, message: str, tmp_path: Path):
    tables[table] = tables[table].assign(**change)
    with pytest.raises(ValueError, match=message):
        write_attention(tables, tmp_path)
    assert list(tmp_path.iterdir()) == []
