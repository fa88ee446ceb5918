"""Proprioception vectors: from a robot's state to the numbers that a checkpoint was trained on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_core.manifest import RSkillManifest
from openral_core.types import RobotState

GRIPPER_SPAN_M = 0.1
"""[m] finger distance that MetaWorld calls fully open (`SawyerXYZEnv._get_curr_obs_combined_no_goal`)."""

StateFunction = Callable[[RobotState], NDArray[np.float32]]


def ee_pos3_gripper1(state: RobotState) -> NDArray[np.float32]:
    """Return (4,): end effector x, y, z [m, world frame], finger distance / 0.1 m clipped to 0..1."""
    gripper = np.clip(state.gripper_opening / GRIPPER_SPAN_M, 0.0, 1.0)
    return np.append(state.ee_position, gripper).astype(np.float32)


LAYOUTS: dict[str, StateFunction] = {"ee_pos3_gripper1": ee_pos3_gripper1}
"""Layouts that can be built here."""
_USUAL = {("sawyer", 4): "ee_pos3_gripper1"}
"""(embodiment, dim) -> layout, for manifests that state the length only. The data sets of MetaWorld
(lerobot/metaworld_mt50) hold the first four numbers of its observation."""


def layout_of(manifest: RSkillManifest) -> str:
    """Return the name of the skill's state layout.

    Raises:
        ContractError: it names none, or one that cannot be built here.
    """
    contract = manifest.state_contract
    layout: str | None = contract.layout if contract else None
    if contract and layout is None and contract.dim is not None:
        usual = (_USUAL.get((tag, contract.dim)) for tag in manifest.embodiment_tags)
        layout = next((name for name in usual if name), None)
    if layout not in LAYOUTS:
        what = "is missing" if layout is None else f"'{layout}' cannot be built here"
        raise ContractError(f"{manifest.name}: state_contract.layout {what}; use one of {', '.join(LAYOUTS)}")
    return layout
