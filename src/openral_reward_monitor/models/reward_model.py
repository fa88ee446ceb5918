"""The interface of reward models, and the table of reward families that load them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.plugin_table import load_plugin
from openral_rskill.registry import RSkillPackage

GROUP = "openral.reward_families"
"""Entry-point group of families that live in other distributions."""

BUILT_IN = {
    "fake": "openral_reward_monitor.models.fake:load",
    "mini": "openral_reward_monitor.models.mini.model:load",
    "robometer": "openral_reward_monitor.models.robometer.model:load",
    "sim_truth": "openral_reward_monitor.models.sim_truth:load",
}
"""Family name -> `module:function`, imported only when a reward skill of that family is loaded."""

TOLERANCE = 1e-3
"""Most by which a score may be outside 0..1, since rounding can cause as much."""


@dataclass(frozen=True)
class RewardScores:
    """Scores of T frames, in the order of the frames."""

    progress: NDArray[np.float32]
    """(T,) 0..1: progress of the task."""
    success: NDArray[np.float32]
    """(T,) 0..1: how likely the task is done."""


class RewardModel(Protocol):
    """Scores the progress of a task in a sequence of frames."""

    def score(self, frames: NDArray[np.uint8], instruction: str) -> RewardScores:
        """Score T frames.

        Args:
            frames: (T, H, W, 3) uint8 RGB, oldest first.
            instruction: the task in words.

        Raises:
            PolicyError: the model failed.
        """
        ...

    def close(self) -> None:
        """Free what the model holds, such as a server process; no call follows."""
        ...


FamilyLoader = Callable[[RSkillPackage, str], RewardModel]


def load_reward_model(package: RSkillPackage, device: str = "cpu") -> RewardModel:
    """Load the model of a skill of kind `reward`.

    Args:
        package: the skill, whose manifest names the family (see `reward_family`).
        device: torch device of the inference, such as `cpu` or `cuda:0`.

    Raises:
        PolicyError: the skill is not of kind reward, its family is unknown, or its weights cannot be loaded.
    """
    manifest = package.manifest
    if manifest.kind != "reward":
        raise PolicyError(
            f"{manifest.name} is of kind {manifest.kind}; the reward monitor needs one of kind reward"
        )
    try:
        loader: FamilyLoader = load_plugin(GROUP, BUILT_IN, reward_family(manifest))
    except NotFoundError as error:
        raise PolicyError(f"{manifest.name}: reward family (model_family): {error}") from error
    return loader(package, device)


def reward_family(manifest: RSkillManifest) -> str | None:
    """Return the name of the family that runs a reward skill; None: the manifest names none.

    It is `model_family`, if the manifest has it. Reward manifests on the hub do not, but name the function that loads
    their weights (`quantization.extra.loader`, such as `robometer.utils.save.load_model_from_hf`), whose package is the
    family.
    """
    loader = manifest.quantization.extra.get("loader")
    package = loader.partition(".")[0] if isinstance(loader, str) else ""
    return manifest.model_family or package or None


def checked(scores: RewardScores, frames: int) -> RewardScores:
    """Return the scores after a check, clipped to 0..1; `frames` is the number of frames that were scored.

    Raises:
        PolicyError: there is not one score for each frame, or one is not finite or outside 0..1 by over `TOLERANCE`.
    """
    heads = []
    for name, raw in (("progress", scores.progress), ("success", scores.success)):
        values = np.asarray(raw, np.float32)
        if values.shape != (frames,):
            raise PolicyError(
                f"the reward model gave {name} {values.shape} for {frames} frames, promised ({frames},)"
            )
        if not np.isfinite(values).all():
            raise PolicyError(f"the reward model's {name} is not finite")
        if values.min() < -TOLERANCE or values.max() > 1.0 + TOLERANCE:
            raise PolicyError(
                f"the reward model's {name} is {values.min():g}..{values.max():g}, promised 0..1"
            )
        heads.append(np.clip(values, 0.0, 1.0))
    return RewardScores(heads[0], heads[1])
