"""What was measured of a skill stays: a result is proof of certain weights, and no command writes over it."""

from __future__ import annotations

import json
from pathlib import Path

from openral_core.errors import OutputError


def is_measured(path: Path) -> bool:
    """Say whether a file is an eval JSON with results of its own; one that only quotes the makers' figures is not."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and bool(content.get("results"))


def keep_result(path: Path) -> None:
    """See that an eval JSON may be written.

    Raises:
        OutputError: a measured result is there.
    """
    if is_measured(path):
        raise OutputError(
            f"{path}: holds a measured result, which is not overwritten; move it away, or judge a copy of the skill"
        )


def keep_weights(folder: Path) -> None:
    """See that weights may be written into a folder.

    Raises:
        OutputError: results in its eval/ were measured with the weights that are there.
    """
    measured = [path for path in sorted((folder / "eval").glob("*.json")) if is_measured(path)]
    if measured:
        raise OutputError(
            f"--out {folder}: {measured[0].name} in its eval/ was measured with the weights that are there; "
            "name another folder"
        )
