"""What a scene's world is made of beside the scene's own words: digests that change when a file it names does."""

from __future__ import annotations

import hashlib

from openral_core.robot import load_robot
from openral_core.scene import DeployScene


def fingerprint(scene: DeployScene) -> dict[str, str]:
    """Return a SHA-256 for each thing that a scene names and that decides what happens in it.

    `robot` is the description that it is driven by. `model`, where the scene has a model of its own, is that model as
    MuJoCo compiled it: XML, included files, meshes and textures.

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
