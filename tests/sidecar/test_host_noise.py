"""The noise of a policy is the same on every device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from openral_sidecar.host_noise import HostNoise

DRAWS: list[Callable[[str], torch.Tensor]] = [
    lambda device: torch.randn(3, 4, device=device),
    lambda device: torch.randn(size=(3, 4), dtype=torch.bfloat16, device=torch.device(device)),
    lambda device: torch.normal(mean=0.0, std=1.0, size=(3, 4), device=device),
]


@pytest.mark.gpu
@pytest.mark.parametrize("draw", DRAWS)
def test_a_gpu_gets_the_numbers_of_the_cpu(draw: Callable[[str], torch.Tensor]) -> None:
    torch.manual_seed(7)
    expected = draw("cpu")
    torch.manual_seed(7)
    with HostNoise():
        drawn = draw("cuda")

    assert drawn.device.type == "cuda"
    assert torch.equal(drawn.cpu(), expected)


@pytest.mark.parametrize("draw", DRAWS)
def test_another_device_takes_its_numbers_from_the_cpu_s_generator(
    draw: Callable[[str], torch.Tensor],
) -> None:
    """The device `meta` has no numbers, but draws for it move the CPU's generator on as draws for the CPU do."""
    torch.manual_seed(7)
    shape, expected = draw("cpu").shape, torch.randn(2)
    torch.manual_seed(7)
    with HostNoise():
        drawn = draw("meta")

    assert (drawn.device.type, drawn.shape) == ("meta", shape)
    assert torch.equal(torch.randn(2), expected)


def test_a_draw_with_a_generator_of_its_own_is_left_alone() -> None:
    own = torch.Generator().manual_seed(3)
    expected = torch.randn(2, generator=torch.Generator().manual_seed(3))
    with HostNoise():
        assert torch.equal(torch.randn(2, generator=own, device="cpu"), expected)
