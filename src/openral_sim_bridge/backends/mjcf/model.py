"""Compilation of a scene's MJCF file, with errors that name the line of the scene file."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from openral_core.errors import ManifestError
from openral_core.files.user_path import user_path
from openral_core.files.yaml_document import Document
from openral_sim_bridge.backends.mjcf.options import MjcfOptions
from openral_sim_bridge.backends.mujoco_warnings import log_warnings

USUAL_TIMESTEP_S = 0.002
"""[s] timestep of a model that gives none."""


def load_model(options: MjcfOptions, document: Document) -> Any:
    """Compile the scene's model.

    Args:
        options: of the scene.
        document: of the options; the model's path is relative to its folder.

    Returns:
        mujoco.MjModel

    Raises:
        ManifestError: there is no such file, or MuJoCo rejects it; the text contains MuJoCo's message.
    """
    path = document.path.parent / user_path(options.model)
    if not path.is_file():
        what, fix = f"there is no file {path}", "write the path from the scene's file to the model"
        if options.keyframes is not None:
            fix = f"make it by `openral robot world {document.path} --out FOLDER` and use the scene there"
        raise ManifestError(document.fault(("model",), what, fix))
    log_warnings()
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        words = " ".join(str(error).split())
        raise ManifestError(
            document.fault(("model",), f"MuJoCo refuses {path} ({words})", "fix the model there")
        ) from error


def model_bytes(model: Any) -> bytes:
    """Return a compiled model in MuJoCo's binary format, which is equal for equal files and the same MuJoCo version."""
    buffer = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def substeps(model: Any, control_hz: float, document: Document) -> int:
    """Return the number of physics steps in one control step.

    Raises:
        ManifestError: it is not an integer, or the model's timestep is not above 0.
    """
    if not model.opt.timestep > 0.0:  # MuJoCo compiles such a model; not a number compares as neither
        usual = 1.0 / (control_hz * max(1, round(1.0 / (control_hz * USUAL_TIMESTEP_S))))
        what = f"its timestep {model.opt.timestep:g} s is no duration"
        fix = f'write <option timestep="{usual:.6g}"/> in the model'
        raise ManifestError(document.fault(("model",), what, fix))
    ratio = 1.0 / (control_hz * model.opt.timestep)
    count = max(1, round(float(ratio)))
    if abs(ratio - count) > 1e-6 * ratio:
        what = f"its timestep {model.opt.timestep:g} s does not divide 1 / control_hz = {1 / control_hz:g} s"
        fix = f'write <option timestep="{1 / (control_hz * count):.6g}"/> in the model'
        raise ManifestError(document.fault(("model",), what, fix))
    return count
