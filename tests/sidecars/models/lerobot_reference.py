"""Runs in the sidecar's interpreter: a chunk by LeRobot's own public calls, with none of openral's serving code.

python lerobot_reference.py FOLDER INPUT.npz OUTPUT.npy SEED
"""

from __future__ import annotations

import sys

import numpy as np

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()

import torch  # noqa: E402
from lerobot.configs.policies import PreTrainedConfig  # noqa: E402
from lerobot.policies.factory import get_policy_class, make_pre_post_processors  # noqa: E402

CAMERA = "observation.images.camera1"


def main(folder: str, source: str, target: str, seed: int) -> None:
    config = PreTrainedConfig.from_pretrained(folder)
    overrides = {"device_processor": {"device": "cpu"}}
    if config.type == "smolvla":
        config.vlm_model_name = f"{folder}/vlm"
        overrides["tokenizer_processor"] = {"tokenizer_name": f"{folder}/vlm"}
    policy = get_policy_class(config.type).from_pretrained(folder, config=config)
    before, after = make_pre_post_processors(config, folder, preprocessor_overrides=overrides)
    given = np.load(source)

    def batch(instant: int) -> dict:
        pixels = torch.from_numpy(given["images"][:, instant]).permute(0, 3, 1, 2).contiguous().float() / 255
        state = torch.from_numpy(given["state"][:, instant])
        return before(
            {CAMERA: pixels, "observation.state": state, "task": [str(t) for t in given["instructions"]]}
        )

    policy.reset()
    if config.type == "diffusion":
        policy.select_action(batch(0))  # fills the queues of observations
        policy._queues["action"].clear()
        torch.manual_seed(seed)
        actions = [after(policy.select_action(batch(1))) for _ in range(config.n_action_steps)]
        chunk = torch.stack(actions, dim=1)
    else:
        torch.manual_seed(seed)
        raw = policy.predict_action_chunk(batch(1))
        chunk = torch.stack([after(raw[:, row]) for row in range(raw.shape[1])], dim=1)
    np.save(target, chunk.numpy())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
