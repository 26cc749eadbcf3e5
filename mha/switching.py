"""Models of `transformers` opened to hooks: led through `attend`, seen at their softmax, or refused with the reason."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from torch import nn

from mha.attention import attend
from mha.foreign import attention_setting, has_attention_interface, set_attention
from mha.own_attention import refusal, seen_by_softmax
from mha.projections import HookError

NAME = "headscope"
"The name under which `attend` is registered with the attention interface."


@contextmanager
def opened(model: nn.Module) -> Iterator[None]:
    """Have hooks see the attention of a model of `transformers` while the block runs; other modules stay as they are.

    Attention goes through `attend` where `transformers` lets it be replaced; else the model's own eager code runs, and
    is seen at its softmax. Raises HookError, with the reason, for a model whose heads cannot be seen.
    """
    transformers = sys.modules.get("transformers")
    if transformers is None or not isinstance(model, transformers.PreTrainedModel):
        yield
        return
    if (reason := refusal(model)) is not None:
        raise HookError(f"{type(model).__name__}: {reason}")
    parts: list[Any] = [part for part in model.modules() if isinstance(part, transformers.PreTrainedModel)]
    own = [(part.config, attention_setting(part.config)) for part in parts]
    replaceable = has_attention_interface(model)
    try:
        if replaceable:
            _register()
            model.set_attn_implementation(NAME)
        else:
            for config, _ in own:
                set_attention(config, "eager")
        with nullcontext() if replaceable else seen_by_softmax(model):
            yield
    finally:
        for config, setting in own:
            set_attention(config, setting)


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, eager_mask)
