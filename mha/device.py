"""Where models run: devices, the precision of products, and what is read in parts where memory lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import torch
from torch import Tensor, nn

from mha.foreign import has_bf16_instructions
from mha.messages import OneLineError

DEVICES = ("auto", "cpu", "cuda", "mps")
"auto: the first of cuda, mps and cpu that is there."

MPS_SINCE = (2, 10)
"The torch that can sum rows (`embedding_bag`) on MPS."

SHORT = ("out of memory", "DefaultCPUAllocator", "alloc_cpu")
"What torch's errors say where memory lacks, of whatever device."

Part = TypeVar("Part")


class DeviceError(OneLineError):
    """A device that is not there, or whose memory does not hold what is to be read."""


def devices_there() -> tuple[str, ...]:
    """Return the devices that torch can use on this machine, the one that "auto" takes first."""
    mps = torch.backends.mps.is_available() and tuple(map(int, torch.__version__.split(".")[:2])) >= MPS_SINCE
    there = {"cuda": torch.cuda.is_available(), "mps": mps, "cpu": True}
    return tuple(name for name, is_there in there.items() if is_there)


def find_device(name: str) -> torch.device:
    """Return a device of DEVICES; raises DeviceError for one that is not there."""
    there = devices_there()
    if name == "auto":
        return torch.device(there[0])
    if name not in there:
        raise DeviceError(
            f"model.device: expected one of auto, {', '.join(there)}, got {name!r}, which torch {torch.__version__} "
            'does not find on this machine; take device = "auto", or install the torch that is built for it'
        )
    return torch.device(name)


def device_of(module: nn.Module) -> torch.device:
    """Return where the weights of a module lie; the CPU for one without."""
    weights = next(module.parameters(), None)
    return torch.device("cpu") if weights is None else weights.device


def placed(module: nn.Module, device: torch.device) -> nn.Module:
    """Return the module, moved to a device."""
    if device.type == "cuda":  # else threads that begin at the same time would each load torch's linear algebra
        torch.linalg.qr(torch.eye(2, device=device))
    return module.to(device)


def moved(device: torch.device, tensor: Tensor | None) -> Tensor | None:
    """Return a tensor on a device; None where there is none."""
    return None if tensor is None else tensor.to(device)


def exact(device: torch.device) -> torch.dtype:
    """Return the type in which sums are made on a device: float64, or float32 where it has no other (MPS)."""
    return torch.float64 if device.type in ("cpu", "cuda") else torch.float32


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error says that the memory of a device is full."""
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in SHORT)


def in_parts(read: Callable[[slice], Part], count: int, what: str, *, most: int | None = None) -> Iterator[Part]:
    """Yield what `read` makes of `count` things in order: of all at once, or of halves where memory does not hold that.

    `most` is how many are tried at first. Raises DeviceError where it does not hold one of them; `what` says what is
    read.
    """
    most = count if most is None else most
    waiting = [slice(start, min(start + most, count)) for start in range(0, count, most)][::-1]
    while waiting:
        part = waiting.pop()
        found = _tried(read, part, what)
        if found is None:
            middle = (part.start + part.stop) // 2
            waiting += [slice(middle, part.stop), slice(part.start, middle)]
        else:
            yield found[0]


def _tried(read: Callable[[slice], Part], part: slice, what: str) -> tuple[Part] | None:
    """Return what is read; None where memory lacks, once the error, which holds the tensors of its pass, is gone."""
    try:
        return (read(part),)
    except RuntimeError as error:
        if not lacks_memory(error):
            raise
        if part.stop - part.start == 1:
            said = str(error).partition("\n")[0]
            raise DeviceError(
                f"{what}: memory does not hold even one at a time ({said}); take shorter texts, a smaller model, or a "
                'device with more memory (model.device = "cpu")'
            ) from None
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None


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
