"""Devices by name, what is read in parts where memory lacks, and a GPU beside the CPU wherever a test has one."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from mha import Encoder, Model, collate, load_model, stream_maps
from mha.causal.interventions import Ablate
from mha.causal.sweep import TextBatch, sweeping
from mha.device import DeviceError, devices_there, find_device, in_parts
from mha.models.maps import MAPS, stream_lengths, stream_outputs
from mha.models.masked_prediction import MaskedLM
from mha.models.states import layer_states
from tests.mha.conftest import model_of, text_of

FULL = "CUDA out of memory. Tried to allocate 2.00 GiB.\nmore"


TEXTS = [text_of(*[1] * words) for words in (2, 4, 4, 1, 3)]


@pytest.fixture
def model(build: Callable[..., Encoder]) -> Model:
    return model_of(build(), 2)


def test_auto_is_the_first_device_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: True)
    assert devices_there() == ("mps", "cpu")
    assert find_device("auto").type == "mps"
    assert find_device("cpu").type == "cpu"
    monkeypatch.setattr("torch.__version__", "2.9.1")
    assert devices_there() == ("cpu",), "torch 2.9 does not sum rows there"
    monkeypatch.setattr("torch.__version__", "3.0.0+cpu")
    assert devices_there() == ("mps", "cpu")


def test_a_model_that_is_loaded_for_a_device_that_is_not_there_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mha.device.devices_there", lambda: ("cpu",))
    with pytest.raises(DeviceError, match="got 'mps'"):
        load_model("no such model", device="mps")


def test_where_not_one_fits_the_error_says_what_to_do() -> None:
    def read(part: slice) -> None:
        raise torch.OutOfMemoryError(FULL)

    with pytest.raises(
        DeviceError, match=r"^texts of 9 pieces: memory does not hold even one .*2.00 GiB\.\); take shorter"
    ):
        list(in_parts(read, 3, "texts of 9 pieces"))


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a device hold two texts, and one only from the second layer of a pass on."""
    attend = Encoder.forward

    def forward(encoder: Encoder, pieces: Tensor, *more: object, **named: object) -> Tensor:
        def check(*_: object) -> None:
            if len(pieces) > 1:
                raise torch.OutOfMemoryError(FULL)

        handle = encoder.layers[1].register_forward_pre_hook(check)
        try:
            return attend(encoder, pieces, *more, **named)
        finally:
            handle.remove()

    monkeypatch.setattr(Encoder, "forward", forward)


def shown(model: Model, maps: str) -> list[tuple[int, Tensor]]:
    found: list[tuple[int, Tensor]] = []
    batch = collate(TEXTS)
    stream_maps(
        model, batch, lambda *seen: found.append(seen), [lambda layer, _, own: found.append((layer, own))], maps=maps
    )
    stream_outputs(model, batch, lambda *seen: found.append(seen))
    stream_lengths(model, batch, lambda layer, own, lengths: found.extend([(layer, own), (layer, lengths)]))
    return found


@pytest.mark.parametrize("maps", MAPS)
def test_a_batch_that_memory_does_not_hold_is_shown_as_if_it_did(
    maps: str, model: Model, request: pytest.FixtureRequest
) -> None:
    """Each layer once, also where memory lacks in the middle of a pass."""
    expected = shown(model, maps)
    request.getfixturevalue("small_memory")
    found = shown(model, maps)
    assert [layer for layer, _ in found] == [layer for layer, _ in expected]
    for (_, one), (_, other) in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_an_error_of_what_looks_at_maps_is_its_own(model: Model) -> None:
    """A layer that was taken in part is not shown again."""
    with pytest.raises(torch.OutOfMemoryError):
        stream_maps(model, collate(TEXTS), lambda layer, maps: (_ for _ in ()).throw(torch.OutOfMemoryError(FULL)))


def sweep(lm: MaskedLM) -> Tensor:
    batch = collate(TEXTS)
    texts = TextBatch(batch.ids, batch.mask, torch.arange(len(TEXTS)) * 6 + 1)
    variants = [(Ablate(layer, head),) for layer in range(2) for head in range(4)]
    with sweeping(lm) as ready:
        trace = ready.trace(texts)
        return torch.cat([output for _, output in ready.run(texts, variants, trace)])


def test_sweeps_read_fewer_copies_where_memory_lacks(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = MaskedLM(model, model.module, 4, None)
    expected, read = sweep(lm), MaskedLM.read

    def short(lm: MaskedLM, ids: Tensor, *more: object) -> Tensor:
        if len(ids) > 2 * len(TEXTS):
            raise torch.OutOfMemoryError(FULL)
        return read(lm, ids, *more)

    monkeypatch.setattr(MaskedLM, "read", short)
    torch.testing.assert_close(sweep(lm), expected, rtol=1e-5, atol=1e-5)


def test_bf16_reaches_logits_states_and_sweeps(model: Model) -> None:
    """Numbers move by the rounding of bfloat16, and are float32 all the same."""
    rough = replace(model, precision="bf16")
    both = [MaskedLM(one, one.module, 4, None) for one in (model, rough)]
    batch = collate(TEXTS)
    ways: list[tuple[Tensor, Tensor]] = [
        tuple(lm.log_probabilities(batch.ids, batch.mask, torch.ones(5, dtype=torch.long)) for lm in both),
        tuple(layer_states(one, batch) for one in (model, rough)),
        tuple(sweep(lm) for lm in both),
    ]
    for exact, moved in ways:
        assert moved.dtype == torch.float32
        assert not torch.equal(exact, moved)
        assert (exact - moved).norm() < 0.05 * exact.norm()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("maps", MAPS)
def test_maps_on_cuda_are_those_of_the_cpu(maps: str, model: Model, record_property: Callable[..., None]) -> None:
    """Within 1e-5; where another key has the highest weight, the two are as near, and these cases are counted."""
    found: dict[str, list[Tensor]] = {"cpu": [], "cuda": []}
    for device, kept in found.items():
        placed = replace(model, module=deepcopy(model.module).to(device))
        stream_maps(placed, collate(TEXTS), lambda layer, seen, kept=kept: kept.append(seen.cpu()), maps=maps)
    others = 0
    for one, other in zip(found["cpu"], found["cuda"], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
        apart = one.argmax(-1) != other.argmax(-1)
        lead = one.amax(-1) - one.gather(-1, other.argmax(-1, keepdim=True))[..., 0]
        assert (lead[apart] <= 2e-5).all()
        others += int(apart.sum())
    record_property("near ties decided otherwise", others)
