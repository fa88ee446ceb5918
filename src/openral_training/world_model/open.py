"""Opens the world model in a folder, in the format of openral or in that of RLinf."""

from __future__ import annotations

import json
from pathlib import Path

from openral_core.errors import NotFoundError
from openral_training.world_model.checkpoint import CONFIG, FAMILY
from openral_training.world_model.model import LatentWorld, WorldModel
from openral_training.world_model.opensora.model import WEIGHTS, OpenSoraWorld
from openral_training.world_model.starts import Starts, load_starts
from openral_training.world_model.statistics import ActionScale, load_action_scale


def open_world_model(folder: Path) -> tuple[WorldModel, Starts, ActionScale]:
    """Load a world model, its stored first frames and the scale of its actions.

    Raises:
        NotFoundError: there is no world model, or it has no first frames.
        PolicyError: its weights do not fit.
        ManifestError: its statistics or first frames are of another form.
    """
    model = _open_model(folder)
    return model, load_starts(folder), load_action_scale(folder, model.action_dim)


def _open_model(folder: Path) -> WorldModel:
    if (folder / WEIGHTS).is_file():
        return OpenSoraWorld(folder)
    try:
        content = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise NotFoundError(
            f"{folder}: no world model here ({error}); make one with `openral train world-model`"
        ) from error
    if isinstance(content, dict) and content.get("family") == FAMILY:
        return LatentWorld(folder)
    raise NotFoundError(f"{folder / CONFIG}: family: is not known")
