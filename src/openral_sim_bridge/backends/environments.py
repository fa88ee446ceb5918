"""The environments of simulators that run in an interpreter of their own, with versions of packages of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

from openral_core.scene import DeployScene
from openral_sidecar.environment.build import ensure_environment, lock_file
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.table import sidecar_names, sidecar_spec


def simulator_spec(scene: DeployScene) -> SidecarSpec | None:
    """Return the spec of the environment of a scene's simulator; None: it runs in openral's interpreter."""
    family = str(scene.scene.backend_options.get("family"))
    return sidecar_spec(family) if family in sidecar_names() else None


def build_environments(scenes: Iterable[DeployScene], progress: Callable[[str], None]) -> None:
    """Build the environments of scenes that are missing, so that the versions in them are known.

    Args:
        scenes: of a run.
        progress: called with one line for each step.

    Raises:
        SidecarError: one could not be built; the text has the cause and a remedy.
    """
    for spec in {spec.name: spec for spec in map(simulator_spec, scenes) if spec is not None}.values():
        ensure_environment(spec, progress=progress)


def environment_digests(scenes: Iterable[DeployScene], *, here: bool) -> dict[str, str]:
    """Return a SHA-256 of the versions in the environment of each simulator that has one, by its name.

    Args:
        scenes: of a run.
        here: whether the worlds are opened on this machine, so that the versions that were resolved here count beside
            the requirements.
    """
    found = {}
    for spec in filter(None, map(simulator_spec, scenes)):
        lock = lock_file(spec)
        versions = lock.read_bytes() if here and lock.is_file() else b""
        found[spec.name] = hashlib.sha256(spec.digest.encode() + versions).hexdigest()
    return found
