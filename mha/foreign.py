"""The private names of `torch`, `transformers` and `accelerate` that headscope depends on: no other file uses one."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from torch import nn


class ForeignNameError(RuntimeError):
    """An installed package lacks a private name that headscope depends on."""


def has_attention_interface(model: nn.Module) -> bool:
    """Return whether the attention of a `transformers` model can be replaced, instead of being code of its own."""
    return bool(_private(model, "_can_set_attn_implementation", "transformers")())


def attention_setting(config: Any) -> Any:
    """Return the attention implementation that a `transformers` config names."""
    return _private(config, "_attn_implementation", "transformers")


def set_attention(config: Any, setting: Any) -> None:
    """Give a `transformers` config back what `attention_setting` returned, unchecked."""
    attention_setting(config)
    config._attn_implementation = setting


def has_bf16_instructions() -> bool:
    """Return whether the processor multiplies matrices in bfloat16.

    Of an x86 processor torch says so as soon as it has AVX-512, with which it only imitates the products.
    """
    import torch

    able = bool(_private(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", "torch")())
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return able
    return able and bool(_private(torch.cpu, "_is_avx512_bf16_supported", "torch")())


def reset_accelerator() -> None:
    """Forget the precision of an earlier Accelerator of this process, which every later one would keep."""
    from accelerate.state import AcceleratorState

    _private(AcceleratorState, "_reset_state", "accelerate")()


def _private(owner: Any, name: str, package: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        kind = owner if isinstance(owner, type) else type(owner)
        raise ForeignNameError(
            f"{package} {version(package)} has no {kind.__name__}.{name}, which headscope needs; "
            f"install the version of {package} that constraints.txt names"
        ) from None
