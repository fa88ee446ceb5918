"""Clones a small dataset, in one process or in those of torchrun, and keeps each step's gradient, as it is clipped.

data_parallel_proof.py DATASET RECIPE OUT; the first process writes OUT/gradients.safetensors and OUT/losses.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch.optim.optimizer import register_optimizer_step_pre_hook

from openral_data.lerobot_v3 import open_dataset
from openral_training import bc
from openral_training.data_parallel import leads
from openral_training.mapping.dataset_recipe import load_cloning_recipe

BATCH = 7
"""Rows, which two processes cannot share evenly."""


def main(dataset: Path, recipe: str, out: Path) -> None:
    gradients: dict[str, torch.Tensor] = {}
    losses: list[float] = []

    def keep(optimiser: torch.optim.Optimizer, *given: Any) -> None:
        for index, parameter in enumerate(optimiser.param_groups[0]["params"]):
            gradients[f"{len(losses)}.{index}"] = parameter.grad.clone()

    hook = register_optimizer_step_pre_hook(keep)
    config = bc.BcConfig(steps=2, batch_size=BATCH, landmark_weight=0.2)
    bc.train(
        open_dataset(dataset),
        load_cloning_recipe(recipe),
        out,
        config,
        progress=lambda step, loss: losses.append(loss),
    )
    hook.remove()
    if leads():
        save_file(gradients, out / "gradients.safetensors")
        (out / "losses.json").write_text(json.dumps(losses))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
