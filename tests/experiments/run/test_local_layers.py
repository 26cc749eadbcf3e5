"""Models of `transformers` whose layers alternate local and global attention, from the weights to the tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import transformers
from tokenizers import Tokenizer

from reports import Run
from reports.page.page import run_page

SIZES: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 16}
SIZES |= {"max_position_embeddings": 64, "initializer_range": 0.4, "pad_token_id": 0}
KINDS = {
    "modernbert": {"local_attention": 4, "global_attn_every_n_layers": 2},
    "gemma2": {"head_dim": 8, "num_key_value_heads": 1, "sliding_window": 4},
    "eurobert": {},
}


def told(scores: pd.DataFrame) -> dict[int, str]:
    """Return what the scores say of each layer."""
    rows = scores.drop_duplicates(["layer", "layer_attention"])
    return dict(zip(rows["layer"], rows["layer_attention"], strict=True))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("modernbert", ["global", "local (window 5)", "global"]),
        ("gemma2", ["local (window 4)", "global", "local (window 4)"]),
        ("eurobert", ["global"] * 3),
    ],
)
def test_scores_say_of_every_layer_whether_it_is_local(
    kind: str, expected: list[str], tiny: Path, scored: Callable[..., Run], tmp_path: Path
) -> None:
    tokenizer = Tokenizer.from_file(str(tiny / "tokenizer.json"))
    sizes = SIZES | KINDS[kind] | {"vocab_size": tokenizer.get_vocab_size()}
    sizes |= {"bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = transformers.AutoConfig.for_model(kind, **sizes)
        transformers.AutoModel.from_config(config).save_pretrained(tmp_path / kind)
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(tmp_path / kind)
    run, mixed = scored(f"model.name='{tmp_path / kind}'"), len({*expected}) == 2
    assert told(run.scores) == told(pd.read_csv(run.folder / "scores.csv")) == dict(enumerate(expected))
    assert ("Attention of the layer\n  Layer 2 is " + expected[1] in str(run.head("2-1"))) is mixed
    assert (">Layer’s attention</button>" in run_page(run).html) is mixed
