"""Private names of other packages: each does what headscope needs of it, says what breaks, and is used in one file."""

import ast
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers as hub
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import nn

from mha import foreign
from mha.foreign import ForeignNameError

ROOT = Path(__file__).parents[2]
ROOMS = ("mha", "probes", "reports", "experiments")
ONE_FILE = "mha/foreign.py"

SIZES: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}


def test_only_models_behind_the_attention_interface_have_it() -> None:
    """Without it a model with attention code of its own would be scored on maps that it does not use."""
    assert foreign.has_attention_interface(hub.BertModel(hub.BertConfig(vocab_size=9, **SIZES)))
    assert not foreign.has_attention_interface(hub.MPNetModel(hub.MPNetConfig(vocab_size=9, **SIZES)))


def test_the_setting_of_attention_is_read_and_comes_back() -> None:
    """Without it a model would be left on our attention after its heads were looked at."""
    model = hub.BertModel(hub.BertConfig(vocab_size=9, **SIZES))
    model.set_attn_implementation("eager")
    own = foreign.attention_setting(model.config)
    model.set_attn_implementation("sdpa")
    assert (own, foreign.attention_setting(model.config)) == ("eager", "sdpa")
    foreign.set_attention(model.config, own)
    assert foreign.attention_setting(model.config) == "eager"


def test_bf16_instructions_are_those_of_the_processor() -> None:
    """Without it precision "auto" would train in bfloat16 where that is slower than float32, or the other way round."""
    flags = Path("/proc/cpuinfo")
    if not flags.is_file() or "flags" not in (text := flags.read_text("utf-8")):
        pytest.skip("this system does not list the instructions of its processor")
    assert foreign.has_bf16_instructions() == ("avx512_bf16" in text)


def test_avx512_alone_is_no_instruction_for_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Ice Lake server is such a processor."""
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace(_is_mkldnn_bf16_supported=lambda: True))
    for has in (True, False):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda has=has: has)
        assert foreign.has_bf16_instructions() == has
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert foreign.has_bf16_instructions()


def test_an_accelerator_is_forgotten_with_its_precision() -> None:
    """Without it a second training in one process would keep the precision of the first."""
    foreign.reset_accelerator()
    Accelerator(mixed_precision="bf16")
    assert AcceleratorState().mixed_precision == "bf16"
    foreign.reset_accelerator()
    assert Accelerator(mixed_precision="no").mixed_precision == "no"
    foreign.reset_accelerator()


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


def test_names_of_torch_and_accelerate_that_are_gone_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(AcceleratorState, "_reset_state")
    with pytest.raises(
        ForeignNameError, match=r"accelerate .* has no AcceleratorState._reset_state, .*constraints\.txt"
    ):
        foreign.reset_accelerator()
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace())
    with pytest.raises(ForeignNameError, match=r"torch .* has no SimpleNamespace\._is_mkldnn_bf16_supported"):
        foreign.has_bf16_instructions()


def is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def own_names(tree: ast.AST) -> set[str]:
    """Names that a file defines: of functions, classes, variables, fields, and what it sets on self or cls."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                found.add(name)
    return found


def foreign_names(source: str) -> set[str]:
    """Private names in `source` that belong to neither the file nor a room."""
    tree, found = ast.parse(source), set()
    own = own_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if is_private(name) and name not in own:
                found.add(name)
            case ast.ImportFrom(module=str(module), names=names) if module.partition(".")[0] not in ROOMS:
                found |= {f"{module}.{one.name}" for one in names if is_private(f"{module}.{one.name}")}
            case ast.Import(names=names):
                found |= {one.name for one in names if is_private(one.name)}
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]
            ):
                found |= {name} - own if is_private(name) else set()
    return found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("model._modules", {"_modules"}),
        ("from torch._C import Size", {"torch._C.Size"}),
        ("from torch import _dynamo", {"torch._dynamo"}),
        ("import torch._inductor", {"torch._inductor"}),
        ("getattr(model, '_buffers', None)", {"_buffers"}),
        ("from mha.pieces import _cut\nfrom __future__ import annotations\nmodel.__dict__", set()),
        ("class A:\n    def _b(self): self._c = 1\n    def d(self, other): return other._c, other._b", set()),
    ],
)
def test_a_private_name_is_seen_wherever_it_stands(source: str, found: set[str]) -> None:
    assert foreign_names(source) == found


def test_one_file_alone_uses_private_names_of_other_packages() -> None:
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]
    users = {str(file.relative_to(ROOT)): found for file in files if (found := foreign_names(file.read_text("utf-8")))}
    assert users == {ONE_FILE: {"_attn_implementation"}}
