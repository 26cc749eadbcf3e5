"""Private names of other packages: each does what headscope needs of it, says what breaks, and is used in one file."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from mha import foreign
from mha.foreign import ForeignNameError


def test_avx512_alone_is_no_instruction_for_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Ice Lake server is such a processor."""
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace(_is_mkldnn_bf16_supported=lambda: True))
    for has in (True, False):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda has=has: has)
        assert foreign.has_bf16_instructions() == has
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert foreign.has_bf16_instructions()


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        (lambda: foreign.has_attention_interface(nn.Linear(1, 1)), "transformers .* has no Linear._can_set_attn_impl"),
        (lambda: foreign.attention_setting(SimpleNamespace()), "transformers .* no SimpleNamespace._attn_impl"),
        (lambda: foreign.set_attention(SimpleNamespace(), "eager"), "transformers .* no SimpleNamespace._attn_impl"),
    ],
)
def test_a_name_that_a_package_no_longer_has_is_reported(call: Callable[[], object], missing: str) -> None:
    with pytest.raises(ForeignNameError, match=missing):
        call()
