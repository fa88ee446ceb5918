"""Protects measured results: commands overwrite neither a result nor the weights with which it was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from openral_core.errors import OutputError


def is_measured(path: Path) -> bool:
    """Return whether a file is an eval JSON with results of its own, and not only with figures of the makers."""
    return bool((_content(path) or {}).get("results"))


def _content(path: Path) -> dict[str, Any] | None:
    """Return the object in a file; None: it cannot be read, or holds something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def set_aside_results(folder: Path, weights_sha256: str, to: Path) -> list[Path]:
    """Move the results in a skill's eval/ that were measured with weights other than the present ones.

    Args:
        folder: of the skill.
        weights_sha256: of the present weights.
        to: folder in which each result gets to a subfolder, named by the first twelve digits of its weights' hash.

    Returns:
        where the results are now.
    """
    moved = []
    for path in sorted((folder / "eval").glob("*.json")):
        provenance = (_content(path) or {}).get("provenance")
        measured = str(provenance.get("weights_sha256")) if isinstance(provenance, dict) else weights_sha256
        if measured != weights_sha256 and is_measured(path):
            target = to / measured[:12] / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            moved.append(path.replace(target))
    return moved


def keep_result(path: Path) -> None:
    """Check that an eval JSON may be written.

    Raises:
        OutputError: the file is a measured result, or holds something that cannot be read.
    """
    if is_measured(path):
        raise OutputError(
            f"{path}: holds a measured result, which is not overwritten; move it away, or judge a copy of the skill"
        )
    if path.exists() and _content(path) is None:
        raise OutputError(f"{path}: is no JSON object, so what it holds would be lost; move it away")


def keep_weights(folder: Path) -> None:
    """Check that weights may be written into a folder.

    Raises:
        OutputError: results in its eval/ were measured with the weights that are there.
    """
    measured = [path for path in sorted((folder / "eval").glob("*.json")) if is_measured(path)]
    if measured:
        raise OutputError(
            f"--out {folder}: {measured[0].name} in its eval/ was measured with the weights that are there; "
            "name another folder"
        )
