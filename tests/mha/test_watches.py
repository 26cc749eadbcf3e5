"""What a hook is shown of a call: parts of a batch, the keys that are no padding, and the call itself."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from mha import record
from mha.watches import Seen, call_of

LEAST = torch.finfo(torch.float32).min


def seen(bias: Tensor | None, value: Tensor | None = None) -> Seen:
    return Seen(
        "pattern",
        2,
        torch.arange(4.0).view(4, 1, 1, 1).expand(4, 2, 3, 3),
        bias,
        call=call_of(nn.Identity()),
        value=value,
    )


def test_a_part_of_the_texts_has_its_own_tensor_mask_and_values() -> None:
    bias, value = torch.rand(4, 1, 3, 3), torch.rand(4, 2, 3, 5)
    whole = seen(bias, value)
    part = whole.texts(slice(1, 3))
    assert part.tensor[:, 0, 0, 0].tolist() == [1, 2]
    assert part.bias is not None
    assert torch.equal(part.bias, bias[1:3])
    assert part.value is not None
    assert torch.equal(part.value, value[1:3])
    assert (part.site, part.layer, part.crossed, part.call) == ("pattern", 2, False, whole.call)


def test_a_mask_that_all_texts_share_stays_whole_and_none_stays_none() -> None:
    shared = torch.rand(1, 1, 3, 3)
    part = seen(shared).texts(slice(1, 3))
    assert part.bias is shared
    assert part.value is None
    assert seen(None).texts(slice(0, 1)).bias is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_key_that_no_query_may_attend_to_is_padding(dtype: torch.dtype) -> None:
    bias = torch.zeros(4, 1, 3, 3, dtype=dtype)
    bias[0, ..., 2] = torch.finfo(dtype).min
    bias[1, :, 0, 1] = torch.finfo(dtype).min  # one query alone, as in a causal mask
    bias[2, ..., 0] = -5.0  # a bias that is no mask
    keys = seen(bias).real_keys()
    assert keys is not None
    assert keys.tolist() == [[True, True, False], [True] * 3, [True] * 3, [True] * 3]


def test_a_mask_of_one_row_is_that_of_every_text_and_no_mask_says_nothing() -> None:
    bias = torch.tensor([0.0, LEAST, 0.0]).view(1, 1, 1, 3)
    keys = seen(bias).real_keys()
    assert keys is not None
    assert keys.tolist() == [[True, False, True]] * 4
    assert seen(None).real_keys() is None


def test_a_call_that_nobody_watches_has_its_module() -> None:
    module = nn.Identity()
    call = call_of(module, crossed=True)
    assert (call.module, call.watches, call.crossed) == (module, (), True)


def test_the_last_of_several_blocks_gives_a_model_its_own_attention_back() -> None:
    sizes: dict[str, Any] = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    model = BertModel(BertConfig(vocab_size=9, num_hidden_layers=1, **sizes)).eval()
    own, during = model.config._attn_implementation, []
    with record(model):
        with record(model), record(model):
            pass
        during.append(model.config._attn_implementation)
    assert during != [own]
    assert model.config._attn_implementation == own
