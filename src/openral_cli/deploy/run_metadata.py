"""Writes a launch's record into the run's folder: `run.json` at its beginning, and the report at its end."""

from __future__ import annotations

import atexit
import platform
import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from openral_core.errors import OpenralError
from openral_core.files.finished_run_folder import FACTS_FILE, add_facts
from openral_core.files.output_folder import check_folder, make_private
from openral_core.mission_record import MISSION_FILE
from openral_core.scene import DeployScene
from openral_rskill.progress_thresholds import progress_thresholds
from openral_rskill.registry import resolve

DISTRIBUTIONS = ("openral", "ros2-embedded", "torch", "mujoco", "metaworld", "numpy")
"""Distributions whose versions are recorded, if they are installed."""


def keep_record(run_dir: str, scene: DeployScene, arguments: Mapping[str, str]) -> None:
    """Write `run.json` now, and `report.html` at the exit of this process (the launch's), after all nodes have ended.

    If they cannot be written, that is printed, and the run continues.

    Args:
        run_dir: absolute path of the run's folder; empty: nothing is written.
        scene: that is run.
        arguments: of the launch file.
    """
    if not run_dir:
        return
    folder = Path(run_dir)
    try:
        write_facts(folder, scene, arguments)
    except (OpenralError, OSError) as error:
        _say(f"no {FACTS_FILE}: {error}")
    atexit.register(_write_report, folder)


def _write_report(folder: Path) -> None:
    if not (folder / MISSION_FILE).is_file():
        return  # there was no mission
    from openral_cli.deploy.run_page import (
        write_report,
    )  # a launch need not load what draws pages until it ends

    try:
        _say(f"report: {write_report(folder)}")
    except (OpenralError, OSError) as error:
        _say(f"no report: {error}")


def _say(words: str) -> None:
    sys.stderr.write(f"openral: {words}\n")


def write_facts(run_dir: Path, scene: DeployScene, arguments: Mapping[str, str]) -> None:
    """Write `run.json`.

    Args:
        run_dir: folder of the run, made if need be.
        scene: that is run.
        arguments: of the launch file.

    Raises:
        OutputError: the folder cannot be written.
        OpenralError: a skill of the scene is not found.
    """
    check_folder(run_dir, "run_dir")
    make_private(run_dir)
    references = [*scene.skills, *scene.motions, *([scene.reward_skill] if scene.reward_skill else [])]
    facts = {
        "began": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "scene": arguments.get("scene", ""),
        "robot": scene.robot_id,
        "arguments": {name: value for name, value in arguments.items() if value not in ("", "''")},
        "versions": {"python": platform.python_version(), **_versions()},
        "skills": [_skill(str(reference)) for reference in references],
        "thresholds": _thresholds(scene),
    }
    (run_dir / FACTS_FILE).unlink(missing_ok=True)  # facts of an earlier run in the same folder do not hold
    add_facts(run_dir, **facts)


def _versions() -> dict[str, str]:
    found = {}
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _skill(reference: str) -> dict[str, Any]:
    manifest = resolve(reference).manifest
    return {
        "name": manifest.name,
        "version": manifest.version,
        "kind": manifest.kind,
        "license": manifest.license,
        "commercial_use": manifest.is_commercial_use_allowed,
    }


def _thresholds(scene: DeployScene) -> dict[str, float]:
    try:
        return progress_thresholds(scene).model_dump()
    except OpenralError:
        return {}
