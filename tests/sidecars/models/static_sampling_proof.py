"""Runs in the sidecar's interpreter: SmolVLA's actions by LeRobot, as written here, and by a recording of it.

python static_sampling_proof.py FOLDER DTYPE; prints JSON. On a CPU a trace of the tensor operations stands in for a
CUDA graph: like it, it replays what was recorded and knows nothing of Python's branches, or of the values that were
there then.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()

import torch  # noqa: E402
from traced import traced  # noqa: E402

from openral_policy_nodes.families.lerobot import model as served  # noqa: E402
from openral_policy_nodes.families.lerobot.checkpoint import read_checkpoint  # noqa: E402
from openral_policy_nodes.families.lerobot.static_sampling import use_static_sampling  # noqa: E402

CAMERA = "observation.images.camera1"


def chunks(model: served.LeRobotModel) -> list[np.ndarray[Any, Any]]:
    """Two batches of two, then one of one: other values and another sentence, then another shape."""
    rng, made = np.random.default_rng(3), []
    for count, sentence in ((2, "open the drawer"), (2, "press the big red button now"), (1, "open it")):
        names = [f"episode-{row}" for row in range(count)]
        images = rng.integers(0, 256, (count, 64, 64, 3), np.uint8)
        state = rng.standard_normal((count, 4)).astype(np.float32)
        made.append(model.predict({CAMERA: images}, state, [sentence] * count, names))
    return made


def apart(mine: list[Any], other: list[Any]) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(mine, other, strict=True))


def main(folder: str, dtype: str) -> None:
    torch.set_num_threads(1)
    checkpoint = read_checkpoint(Path(folder))
    cast, served.cast_products = served.cast_products, lambda policy, dtype: None
    plain = chunks(served.LeRobotModel(checkpoint, "cpu", dtype, 0))
    served.cast_products = cast
    ours = chunks(served.LeRobotModel(checkpoint, "cpu", dtype, 0))
    model = served.LeRobotModel(checkpoint, "cpu", dtype, 0)
    sampling = use_static_sampling(model._policy, traced)
    recorded = chunks(model)
    weight = model._policy.model.action_in_proj.weight
    print(
        json.dumps(
            {
                "cast": apart(ours, plain),
                "recorded": apart(recorded, plain),
                "recordings": sampling.call.recorded,
                "refused": sampling.call.refused,
                "weights": str(weight.dtype),
                "different": not np.array_equal(plain[0], plain[1]),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
