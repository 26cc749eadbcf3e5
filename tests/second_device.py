"""A second device that is none: its tensors lie on the CPU and say that they lie elsewhere, as strictly as a GPU does.

Where tensors of both devices meet, or a tensor of it is to become an array, torch's own error is raised; float64 it has
as little as MPS. Imported, it is torch's device "second" for as long as the process lives.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "second"

MOVING = ("aten::_to_copy", "aten::copy_")
"Operations that take tensors from one device to another."

INDEXING = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")
"Operations of which the indices may lie on the CPU, also where what is indexed does not."


class SecondTensor(Tensor):
    """A tensor of the second device."""

    own: Tensor

    @staticmethod
    def __new__(cls, own: Tensor) -> "SecondTensor":
        """Wrap a tensor of the CPU."""
        layout = {"strides": own.stride(), "storage_offset": own.storage_offset(), "dtype": own.dtype}
        made = Tensor._make_wrapper_subclass(cls, own.size(), device=torch.device(NAME, 0), **layout)
        made.own = own
        return made

    def __repr__(self) -> str:
        """Show what it holds."""
        return f"SecondTensor({self.own!r})"

    def tolist(self) -> Any:
        """Return its numbers, which torch does of a device but not of a subclass."""
        return self.own.tolist()

    def __getitem__(self, index: Any) -> Any:
        """Take lists as indices, of which torch would make a tensor by a way that knows no device in Python."""
        return super().__getitem__(as_index(index))

    def __setitem__(self, index: Any, values: Any) -> None:
        """Take lists as indices here too."""
        super().__setitem__(as_index(index), values)

    @classmethod
    def __torch_dispatch__(
        cls, operation: Any, types: Any, inputs: Sequence[Any] = (), named: Mapping[str, Any] | None = None
    ) -> Any:
        """Run an operation on the device."""
        return compute(operation, inputs, named or {})


def as_index(index: Any) -> Any:
    """Return an index with tensors in the place of lists."""
    if isinstance(index, tuple):
        return tuple(map(as_index, index))
    return torch.tensor(index, dtype=torch.int64) if isinstance(index, list) else index


def compute(operation: Any, inputs: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Run an operation of whose inputs one lies on the device, or which makes a tensor there."""
    if operation._schema.name == "aten::_has_compatible_shallow_copy_type":
        return False
    tensors = [one for one in tree_leaves((inputs, named)) if isinstance(one, Tensor)]
    refuse_mixing(operation._schema.name, inputs, tensors)
    place = named.get("device")
    found = operation(*tree_map(unwrapped, inputs), **tree_map(unwrapped, dict(named)))
    if place is not None and torch.device(place).type == "cpu":
        return found
    return tree_map(lambda one: wrapped(one, tensors), found)


def refuse_mixing(name: str, inputs: Sequence[Any], tensors: Sequence[Tensor]) -> None:
    """Raise what torch raises on a GPU for tensors of the CPU among others; those of no dimension may be there."""
    if name in MOVING:
        return
    if name in INDEXING and isinstance(inputs[0], SecondTensor):
        tensors = [inputs[0], *(one for one in tree_leaves(inputs[2:]) if isinstance(one, Tensor))]
    elsewhere = [one for one in tensors if not isinstance(one, SecondTensor) and one.ndim]
    if elsewhere and len(elsewhere) < len(tensors):
        shapes = ", ".join(str([*one.shape]) for one in elsewhere)
        raise RuntimeError(f"Expected all tensors to be on the same device, but {name} has of the cpu: {shapes}")


def unwrapped(given: Any) -> Any:
    """Return what stands for an input on the CPU."""
    if isinstance(given, SecondTensor):
        return given.own
    return torch.device("cpu") if isinstance(given, torch.device) else given


def wrapped(found: Any, tensors: Sequence[Tensor]) -> Any:
    """Return a result as a tensor of the device; an input that was changed in place as itself."""
    if not isinstance(found, Tensor):
        return found
    if found.dtype == torch.float64:
        raise TypeError(f"the device {NAME!r} has no float64")
    same = [one for one in tensors if found is getattr(one, "own", one)]
    if same:
        return same[0]
    with torch.inference_mode(torch.is_inference_mode_enabled() and all(one.is_inference() for one in tensors)):
        return SecondTensor(found)


_setup_privateuseone_for_python_backend(NAME)
_library = torch.library.Library("_", "IMPL")
_library.fallback(lambda operation, *inputs, **named: compute(operation, inputs, named), "PrivateUse1")
