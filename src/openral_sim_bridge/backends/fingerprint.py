"""Digests of the files that a scene refers to and that decide the behaviour of its world."""

from __future__ import annotations

import hashlib

from openral_core.robot import load_robot
from openral_core.scene import DeployScene


def fingerprint(scene: DeployScene) -> dict[str, str]:
    """Return the SHA-256 of each input of a scene's world that the scene file refers to.

    `robot` is that of the robot description. `model`, for scenes of family `mjcf` only, is that of the model as
    MuJoCo compiled it, which covers XML, included files, meshes and textures.

    Raises:
        NotFoundError: there is no such robot.
        ManifestError: the model cannot be read.
    """
    found = {"robot": hashlib.sha256(load_robot(scene.robot_id).model_dump_json().encode()).hexdigest()}
    if scene.scene.backend_options.get("family") == "mjcf":
        from openral_sim_bridge.backends.mjcf.model import load_model, model_bytes
        from openral_sim_bridge.backends.mjcf.options import read_options

        found["model"] = hashlib.sha256(model_bytes(load_model(*read_options(scene)))).hexdigest()
    return found
