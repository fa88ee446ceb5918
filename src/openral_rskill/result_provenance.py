"""The provenance of a result (weights, versions, host), which is part of every eval JSON."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from openral_core.files.atomic import write_atomically
from openral_core.files.share import share_directory
from openral_rskill.registry import RSkillPackage
from openral_rskill.store.lockfile import sha256_of
from openral_rskill.weights_hash import weights_sha256

__all__ = ["commit", "package_versions", "provenance", "weights_sha256", "write_result"]

PACKAGES = ("openral", "ros2-embedded", "metaworld", "mujoco", "numpy", "torch")
"""Distributions whose version may change what a simulator or a policy computes."""


def provenance(package: RSkillPackage, command: str) -> dict[str, Any]:
    """Return the data that are needed to reproduce a result.

    Args:
        package: the skill that was evaluated.
        command: the command line of the evaluation.
    """
    return {
        "command": command,
        "skill": package.manifest.name,
        "skill_version": package.manifest.version,
        "weights_uri": package.manifest.weights_uri,
        "weights_revision": locked.revision if (locked := package.locked_weights()) else None,
        "weights_sha256": weights_sha256(package),
        "manifest_sha256": sha256_of(package.folder / "rskill.yaml"),
        "commit": commit(),
        "python": platform.python_version(),
        "packages": package_versions(),
        "host": platform.node(),
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
    }


def package_versions() -> dict[str, str | None]:
    """Return the installed version of each of `PACKAGES`; None: it is not installed."""
    return {name: _version(name) for name in PACKAGES}


def write_result(path: Path, content: dict[str, Any]) -> None:
    """Write an eval JSON atomically, indented, with one line for each row of a list of records."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    for key in ("episodes", "rollouts"):
        rows = content.get("results", {}).get(key)
        if rows:
            nested = json.dumps(rows, indent=2, ensure_ascii=False).replace("\n", "\n    ")
            flat = (
                "[\n" + ",\n".join(f"      {json.dumps(row, ensure_ascii=False)}" for row in rows) + "\n    ]"
            )
            text = text.replace(nested, flat)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text + "\n")


def commit() -> str | None:
    """Return the commit of the checkout, with `-dirty` if files differ from it; None outside a checkout."""
    if not (share_directory() / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=share_directory(),
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
