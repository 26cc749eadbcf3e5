"""The precision of products: float32, or bfloat16 where the processor has instructions for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

from mha.foreign import has_bf16_instructions

PRECISIONS = ("auto", "bf16", "fp32")
"""fp32: all is computed in float32. bf16: the products of weight matrices are made in bfloat16, with sums in float32;
scores, softmax and what hooks are shown are float32. auto: bf16 where the processor has instructions for it."""


def uses_bf16(precision: str, device: torch.device) -> bool:
    """Return whether products are made in bfloat16; "auto" does so where the processor has instructions for it."""
    if precision != "auto":
        return precision == "bf16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and has_bf16_instructions()


def name_of_precision(precision: str, device: torch.device) -> str:
    """Return what "auto" comes to: bf16 or fp32."""
    return "bf16" if uses_bf16(precision, device) else "fp32"


def autocast(bf16: bool, device: torch.device) -> AbstractContextManager[object]:
    """Return the context in which a model computes."""
    return torch.autocast(device.type, torch.bfloat16) if bf16 else nullcontext()
