"""The scene that a recording was made in: it holds the name of the scene's file, not where that lies."""

from __future__ import annotations

from openral_core.errors import NotFoundError
from openral_core.scene import load_scene


def recorded_scene(given: str, recorded: str) -> str:
    """Return name or path of the scene of a recording.

    Args:
        given: what the caller says; empty: nothing.
        recorded: what the recording says.

    Raises:
        NotFoundError: nothing was given, and the recording's scene is none that ships.
        ManifestError: the recording's scene ships, and its file is wrong.
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
