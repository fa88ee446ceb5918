"""What a `mini` skill sees: pictures, proprioception and words, through its own frozen trunks.

A policy whose eyes stay as they are needs each picture once: what comes out of the trunks is its observation, is kept
with the episode, and an update touches the head alone. That is what lets a CPU learn from pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.errors import ContractError
from openral_core.robot import load_robot
from openral_core.scene import BenchmarkScene
from openral_core.sentence import SentenceEncoder
from openral_core.types import Observation, RobotState
from openral_policy_nodes.families.mini.policy import load_mini
from openral_rskill.contract import match, require
from openral_rskill.registry import RSkillPackage, load_package
from openral_sim_bridge.backend import Backend


def check_skill(package: RSkillPackage, scenes: Mapping[str, BenchmarkScene]) -> None:
    """Compare a skill with the scenes that it is to learn in, as the benchmark does.

    Args:
        package: the skill.
        scenes: by task.

    Raises:
        ContractError: it does not fit; or its actions mean another distance there, and what is learnt would be wrong
            where it came from.
    """
    for task, scene in scenes.items():
        robot = load_robot(scene.robot_id)
        require(
            match(
                package.manifest,
                robot,
                scene,
                folder=package.folder,
                lockstep=True,
                task=task,
                allow_unevaluated=True,
            )
        )
        ones = np.ones((1, scene.action.dim), np.float32)
        if not np.array_equal(ActionAdapter(package.manifest, scene)(ones), ones):
            raise ContractError(
                f"{package.manifest.name}: a command of 1 is another distance in {scene.scene.id}; learn in a scene "
                "of the skill's own action_contract.step_m and limits"
            )


class MiniEyes:
    """See `senses.Senses`: the features (F,) that the head of a `mini` skill acts on."""

    def __init__(self, folder: Path, scenes: Mapping[str, BenchmarkScene]) -> None:
        """Load the trunks.

        Args:
            folder: of the skill.
            scenes: by task; their words are what the skill is told.

        Raises:
            PolicyError: the folder holds no such checkpoint.
            ContractError: the skill needs a camera that a scene does not have.
        """
        package = load_package(folder)
        self._network = load_mini(package.weights_path().parent).eval()
        self._adapters = {task: ObservationAdapter(package.manifest, scene) for task, scene in scenes.items()}
        self._words = {task: scene.task.instruction for task, scene in scenes.items()}
        self._sentences = torch.from_numpy(SentenceEncoder().encode(list(self._words.values())))

    @property
    def dim(self) -> int:
        """F"""
        return self._network.width

    @torch.inference_mode()
    def look(self, backend: Backend, env: int, task: str, state: RobotState) -> NDArray[np.float32]:
        """See Senses. One picture at a time: a batch of another size would round differently."""
        adapter = self._adapters[task]
        views = backend.render([camera.name for camera in adapter.cameras], [env])
        images = {name: pictures[0] for name, pictures in views.items()}
        batch = adapter.batch([Observation(state.stamp_s, images, state, self._words[task])])
        pixels = torch.from_numpy(
            np.stack([batch.images[key] for key in self._network.config.cameras], axis=1)
        )
        words = self._sentences[[list(self._words).index(task)]]
        features, _ = self._network.features(
            pixels.permute(0, 1, 4, 2, 3), torch.from_numpy(batch.state), words
        )
        found: NDArray[np.float32] = features[0].numpy()
        return found
