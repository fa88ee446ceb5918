"""The features of a `mini` skill: images, proprioception and instruction, encoded by its own frozen trunks.

With frozen trunks each image is encoded once. The features are the observation and are stored in the trajectory. An
update trains the head alone, which is fast enough on a CPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.errors import ContractError
from openral_core.scene import BenchmarkScene
from openral_core.sentence_encoder import SentenceEncoder
from openral_core.types import Observation, RobotState
from openral_policy_nodes.families.mini.policy import load_mini
from openral_rskill.checks.finding import require
from openral_rskill.checks.unseen_states import unseen_states
from openral_rskill.compatibility import require_fit
from openral_rskill.registry import RSkillPackage, load_package
from openral_sim_bridge.backend import Backend


def check_skill(
    package: RSkillPackage, scenes: Mapping[str, BenchmarkScene], held_out: Sequence[int]
) -> None:
    """Check that a skill fits the scenes of a run, as the benchmark does, and that its actions have the same scale
    there.

    Args:
        package: the skill.
        scenes: by task.
        held_out: initial states of the run's evaluations.

    Raises:
        ContractError: it does not fit, was trained on a state of the evaluations, or an action of 1 has another length
            in a scene than in the skill's contract.
    """
    for task, scene in scenes.items():
        require_fit(package, scene, task=task, allow_unevaluated=True)
        require([unseen_states(package.manifest, scene, held_out)])
        ones = np.ones((1, scene.action.dim), np.float32)
        if not np.array_equal(ActionAdapter(package.manifest, scene)(ones), ones):
            raise ContractError(
                f"{package.manifest.name}: an action of 1 is another distance in {scene.scene.id}; take a scene with "
                "the step_m and limits of the skill's own action_contract"
            )


class MiniFeatures:
    """Encodes an environment as the features (F,) that are the input of a `mini` skill's head."""

    def __init__(self, folder: Path, scenes: Mapping[str, BenchmarkScene]) -> None:
        """Load the trunks.

        Args:
            folder: of the skill.
            scenes: by task, with their instructions.

        Raises:
            PolicyError: the folder has no checkpoint of the family `mini`.
            ContractError: the skill needs a camera that a scene does not have.
        """
        package = load_package(folder)
        self._network = load_mini(package.weights_path().parent).eval()
        self._adapters = {task: ObservationAdapter(package.manifest, scene) for task, scene in scenes.items()}
        self._instructions = {task: scene.task.instruction for task, scene in scenes.items()}
        self._sentences = torch.from_numpy(SentenceEncoder().encode(list(self._instructions.values())))

    @property
    def dim(self) -> int:
        """Length F of the features."""
        return self._network.width

    @torch.inference_mode()
    def encode(self, backend: Backend, env: int, task: str, state: RobotState) -> NDArray[np.float32]:
        """Return (F,) for one environment.

        Images are encoded one at a time, since results in batches of another size differ by rounding.
        """
        adapter = self._adapters[task]
        views = backend.render([camera.name for camera in adapter.cameras], [env])
        images = {name: images[0] for name, images in views.items()}
        batch = adapter.batch([Observation(state.stamp_s, images, state, self._instructions[task])])
        pixels = torch.from_numpy(
            np.stack([batch.images[key] for key in self._network.config.cameras], axis=1)
        )
        sentence = self._sentences[[list(self._instructions).index(task)]]
        features, _ = self._network.features(
            pixels.permute(0, 1, 4, 2, 3), torch.from_numpy(batch.state), sentence
        )
        encoded: NDArray[np.float32] = features[0].numpy()
        return encoded
