"""What a reward model is, and which code runs one: the table of reward families."""

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
"""By how much a score may leave 0..1 and still be taken for rounding."""


@dataclass(frozen=True)
class RewardScores:
    """One score a frame, in the order of the frames."""

    progress: NDArray[np.float32]
    """(T,) 0..1, how far the task is."""
    success: NDArray[np.float32]
    """(T,) 0..1, whether it is done."""


class RewardModel(Protocol):
    """Scores how far a sequence of frames got with a task."""

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
        """Give up what the model holds, such as a server process; it is not asked again."""
        ...


FamilyLoader = Callable[[RSkillPackage, str], RewardModel]


def load_reward_model(package: RSkillPackage, device: str = "cpu") -> RewardModel:
    """Load the model of a skill of kind `reward`.

    Args:
        package: the skill; its manifest picks the code (see `reward_family`).
        device: where inference runs, in torch's words.

    Raises:
        PolicyError: not a reward skill, no such family, or the weights could not be loaded.
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
    """Return the name of the family that runs a reward skill; None: the manifest does not say.

    `model_family` where it is stated. Reward manifests on the hub state none, but name the function that loads their
    weights (`quantization.extra.loader`, such as `robometer.utils.save.load_model_from_hf`): its package is the family.
    """
    loader = manifest.quantization.extra.get("loader")
    package = loader.partition(".")[0] if isinstance(loader, str) else ""
    return manifest.model_family or package or None


def checked(scores: RewardScores, frames: int) -> RewardScores:
    """Return scores that can be trusted to be numbers: one a frame, finite, in 0..1.

    Raises:
        PolicyError: another number of scores, or one that is not finite or clearly outside 0..1.
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
