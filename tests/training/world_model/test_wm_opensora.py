"""RLinf's layout: tiny files of exactly that form, converted, loaded and stepped through the same interface."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from openral_core.errors import ContractError, PolicyError
from openral_training.rl.envs.env_group import VecEnvSpec
from openral_training.world_model.env import WorldModelEnv
from openral_training.world_model.open import open_world_model
from openral_training.world_model.opensora.flow import follow, times_of
from openral_training.world_model.opensora.model import OpenSoraWorld, load_transformer
from openral_training.world_model.opensora.reward import FrameReward
from openral_training.world_model.opensora.transformer import VideoShape, VideoTransformer
from openral_training.world_model.unpickle_files import convert

TINY = VideoShape(width=24, depth=2, heads=2)
WORDS = "put the bowl on the plate"


def published(network: VideoTransformer) -> dict[str, torch.Tensor]:
    """Return tensors under the names of a published checkpoint, parts for text included."""
    out = {}
    for name, value in network.state_dict().items():
        name = name.replace("action_embedder.none", "action_encoder.none_action")
        out[name.replace("action_embedder.", "action_encoder.")] = value.clone().to(torch.bfloat16)
    out["rope.freqs"] = network.turns.clone()
    out["y_embedder.y_embedding"] = torch.zeros(300, 4096)
    out["fps_embedder.mlp.0.weight"] = torch.zeros(24, 256)
    for number in range(TINY.depth):
        out[f"spatial_blocks.{number}.cross_attn.q_linear.weight"] = torch.zeros(24, 24)
    return out


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    diffusers = pytest.importorskip("diffusers", reason="the extra `opensora`")
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("RLinf-OpenSora-tiny")
    save_file(published(VideoTransformer(TINY)), folder / "model-00001.safetensors")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    vae = diffusers.AutoencoderKL(
        down_block_types=["DownEncoderBlock2D"] * 4,
        up_block_types=["UpDecoderBlock2D"] * 4,
        block_out_channels=[4] * 4,
        layers_per_block=1,
        norm_num_groups=2,
        scaling_factor=0.13025,
    )
    vae.save_pretrained(folder / "vae", safe_serialization=True)
    torch.save(FrameReward().state_dict(), folder / "resnet_rm.pth")
    statistics = {"action": {"q01": [-1.0] * 7, "q99": [1.0] * 7}}
    (folder / "dataset_statistics.json").write_text(json.dumps(statistics), encoding="utf-8")
    (folder / "dataset").mkdir()
    for number in range(3):
        frames = np.empty(2, object)
        for step in range(2):
            image = np.full((128, 128, 3), 60 * number, np.uint8)
            frames[step] = {"image": image, "delta_action": np.zeros(7), "instruction": WORDS}
        np.save(folder / "dataset" / f"traj{number}.npy", frames, allow_pickle=True)
    convert(folder, numpy_objects=True)
    return folder


@pytest.mark.slow
def test_the_layout_is_an_environment_like_any_other(layout: Path) -> None:
    model, starts, scale = open_world_model(layout)
    assert isinstance(model, OpenSoraWorld)
    model._steps = 2
    env = WorldModelEnv(model, starts, scale, num_envs=2, horizon=16)
    env.reset([WORDS, WORDS], [0, 2])
    chunk = env.chunk_step(np.zeros((2, 8, 7), np.float32))
    frames = chunk.frames()
    assert frames.shape == (2, 8, 256, 256, 3)
    assert frames.dtype == np.uint8
    assert chunk.rewards.shape == (2, 8)
    assert ((chunk.likelihood > 0) & (chunk.likelihood < 1)).all()
    assert (frames[0] != frames[1]).any()


@pytest.mark.slow
def test_what_it_imagines_depends_on_the_actions_and_on_nobody_beside_it(layout: Path) -> None:
    model = OpenSoraWorld(layout, steps=2)
    first = model.begin(np.zeros((1, 32, 32, 3), np.uint8), np.zeros((1, 0), np.float32))
    before = first[None].repeat(2, 4, 1, 1, 1)
    actions, past_actions = np.zeros((2, 8, 7), np.float32), np.zeros((2, 4, 7), np.float32)
    actions[1, 3] = 1.0
    both = model.imagine(before, past_actions, actions, [5, 5]).latents
    alone = model.imagine(before[1:], past_actions[1:], actions[1:], [5]).latents
    assert torch.allclose(both[1:], alone, atol=1e-5)
    moved = (both[0] - both[1]).abs().flatten(1).amax(1)
    assert (moved[:3] < 1e-6).all()  # time is causal: what came before the action is as it was
    assert (moved[3:] > 1e-6).all()


@pytest.mark.slow
def test_a_policy_that_acts_on_a_state_is_told_that_there_is_none(layout: Path) -> None:
    from openral_training.rl.envs.world_model_simulator import WorldModelSimulator

    with pytest.raises(ContractError, match="without a state"):
        WorldModelSimulator(VecEnvSpec({}, 0, 1, 8), layout, 8, ())


def test_other_weights_are_refused(tmp_path: Path) -> None:
    save_file({"x": torch.zeros(1)}, tmp_path / "model-00001.safetensors")
    with pytest.raises(PolicyError, match="not an OpenSora transformer"):
        open_world_model(tmp_path)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("x_embedder.proj.weight", (24,)),
        ("action_encoder.fc.0.weight", (24,)),
        ("spatial_blocks.0.attn.q_norm.weight", (0,)),
        ("rope.freqs", (5, 3)),
    ],
)
def test_weights_of_other_shapes_are_refused(name: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "model-00001.safetensors"
    save_file(published(VideoTransformer(TINY)) | {name: torch.zeros(shape)}, path)
    with pytest.raises(PolicyError, match="not an OpenSora transformer told actions"):
        load_transformer(path)


def test_a_straight_flow_ends_where_it_leads_whatever_the_steps() -> None:
    target, noise = torch.full((1, 1, 8, 2, 2), 3.0), torch.randn(1, 1, 8, 2, 2)
    known = torch.zeros(1, 1, 4, 2, 2)
    clocks: list[torch.Tensor] = []

    def straight(latents: torch.Tensor, clock: torch.Tensor) -> torch.Tensor:
        clocks.append(clock)
        return torch.cat([torch.full_like(known, 9.0), target - noise], 2)

    for steps in (1, 5):
        assert torch.allclose(follow(straight, known, noise, times_of(steps, 256, 12)), target, atol=1e-5)
    assert (clocks[0][:, :4] == 0).all()
    assert (clocks[0][:, 4:] == 1000).all()
    times = times_of(30, 256, 12)
    assert times[0] == 1000
    assert times[-1] == 0
    assert all(a > b for a, b in itertools.pairwise(times))
