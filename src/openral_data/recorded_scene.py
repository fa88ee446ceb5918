"""The scene of a recording, which has the name of the scene's file but not its path."""

from __future__ import annotations

from openral_core.errors import NotFoundError
from openral_core.scene import load_scene


def recorded_scene(given: str, recorded: str) -> str:
    """Return name or path of the scene of a recording.

    Args:
        given: name or path from the caller; empty: none.
        recorded: name in the recording.

    Raises:
        NotFoundError: nothing is given, and no known scene has the recorded name.
        ManifestError: nothing is given, and the file of the recorded scene is invalid.
    """
    if given:
        return given
    try:
        load_scene(recorded)
    except NotFoundError as error:
        raise NotFoundError(
            f"scene '{recorded}', in which it was recorded, is none that ships; give its file by --scene"
        ) from error
    return recorded
