import pytest
import torch

from probes.mixing.identify import Recovery


def test_states_that_are_turned_embeddings_are_found_again_and_states_without_them_are_not() -> None:
    generator = torch.Generator().manual_seed(0)
    turn = torch.linalg.qr(torch.randn(8, 8, generator=generator)).Q

    def text() -> torch.Tensor:
        embeddings = torch.randn(6, 8, generator=generator)
        return torch.stack([embeddings, 3 * embeddings @ turn + 1, torch.ones(6, 8)])

    recovery = Recovery()
    for _ in range(40):
        recovery.add(text())
    found = torch.stack([recovery.fitted().identified(text()) for _ in range(20)]).mean(0)
    assert found[:2].tolist() == [1.0, 1.0]
    assert found[2].item() == pytest.approx(1 / 6, abs=0.05)
