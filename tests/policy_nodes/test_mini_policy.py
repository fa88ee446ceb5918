"""A `mini` policy whose computation is recorded once and replayed, as it is on a GPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from openral_core.sentence_encoder import SentenceEncoder
from openral_core.types import PolicyBatch
from openral_policy_nodes.families.mini import policy as mini
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_sidecar.cuda_graph_call import CudaGraphCall, Function, Replay

CAMERAS = ("observation.images.camera1", "observation.images.camera2")


def _traced(function: Function, inputs: tuple[Tensor, ...]) -> Replay:
    """Stand for a CUDA graph: the operations of the call, without Python's branches."""
    graph = make_fx(lambda *given: function(*given))(*inputs)
    return lambda: graph(*inputs)


def _policy(device: str = "cpu") -> mini.MiniPolicy:
    torch.manual_seed(0)
    network = MiniNetwork(MiniConfig(CAMERAS, fine=8, landmarks=6, proposals=4, scaled=True))
    return mini.MiniPolicy(network, SentenceEncoder(), device)


def _seen(robots: int, seed: int) -> PolicyBatch:
    rng = np.random.default_rng(seed)
    images = {camera: rng.integers(0, 256, (robots, 96, 96, 3), np.uint8) for camera in CAMERAS}
    words = ["open the drawer", "push the button"]
    state = rng.standard_normal((robots, 4)).astype(np.float32)
    return PolicyBatch(images, state, [words[(seed + row) % 2] for row in range(robots)])


@pytest.mark.slow
def test_a_replay_acts_on_what_is_seen_and_said_now() -> None:
    plain, replayed = _policy(), _policy()
    replayed._infer = call = CudaGraphCall(replayed._actions, _traced)
    for robots, seed in ((2, 0), (2, 1), (2, 2), (1, 3)):
        seen = _seen(robots, seed)
        np.testing.assert_allclose(replayed.predict(seen), plain.predict(seen), atol=1e-6)
    assert (call.recorded, call.refused) == (2, "")


@pytest.mark.gpu
def test_on_a_gpu_it_is_replayed_and_acts_as_on_the_cpu() -> None:
    plain, replayed = _policy(), _policy("cuda")
    for seed in range(3):
        seen = _seen(2, seed)
        np.testing.assert_allclose(replayed.predict(seen), plain.predict(seen), atol=1e-4)
    assert isinstance(replayed._infer, CudaGraphCall)
    assert (replayed._infer.recorded, replayed._infer.refused) == (1, "")
