"""openral's code in a sidecar's interpreter: a folder of links to its packages, which is put on PYTHONPATH.

So the environment has only third-party code, is built once, and always runs the server of the client's version.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
from pathlib import Path

from openral_core.files.cache import cache_home, make_folder

PACKAGES = (
    "openral_core",
    "openral_perception",
    "openral_policy_nodes",
    "openral_reward_monitor",
    "openral_rskill",
    "openral_sidecar",
    "openral_sim_bridge",
)
"""Packages that sidecars may import; their `__init__` and the modules of servers must have few dependencies."""


def bundle_for(module: str) -> Path:
    """Return a folder from which only PACKAGES and the package of `module` can be imported."""
    places = {name: place for name in {*PACKAGES, module.partition(".")[0]} if (place := _place(name))}
    key = hashlib.sha256(repr(sorted(places.items())).encode()).hexdigest()[:16]
    folder = make_folder(cache_home() / "bundles" / key)
    for place in places.values():
        with contextlib.suppress(FileExistsError):
            os.symlink(place, folder / place.name)
    return folder


def _place(name: str) -> Path | None:
    """Return the folder or file of a top-level package or module; None: the environment must provide it."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).resolve()
    return Path(spec.origin).resolve() if spec.origin and spec.origin.endswith(".py") else None
