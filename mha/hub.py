"""Models of `transformers`: led through `attend` by its attention interface, or refused with the reason."""

from __future__ import annotations

import sys
from typing import Any

from torch import nn

from mha.attention import attend
from mha.foreign import attention_setting, has_attention_interface, set_attention
from mha.projections import HookError

NAME = "headscope"
"The name under which `attend` is registered with the attention interface."


def switch_attention(model: nn.Module) -> Any:
    """Lead the attention of a `transformers` model through `attend`; return its own setting, None for other modules.

    Raises HookError for a model that keeps attention code of its own.
    """
    transformers = sys.modules.get("transformers")
    if transformers is None or not isinstance(model, transformers.PreTrainedModel):
        return None
    if not has_attention_interface(model):
        raise HookError(
            f"{type(model).__name__} keeps attention code of its own, outside the attention interface of transformers: "
            "its heads cannot be seen"
        )
    _register()
    own = {id(part): attention_setting(part.config) for part in _parts(model)}
    model.set_attn_implementation(NAME)
    return own


def restore_attention(model: nn.Module, own: Any) -> None:
    """Give a model back the setting that `switch_attention` returned."""
    if own is not None:
        for part in _parts(model):
            set_attention(part.config, own[id(part)])


def _parts(model: nn.Module) -> list[Any]:
    from transformers import PreTrainedModel

    return [module for module in model.modules() if isinstance(module, PreTrainedModel)]


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, eager_mask)
