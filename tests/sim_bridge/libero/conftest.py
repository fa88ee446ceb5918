"""LIBERO's backend over a real process and socket, with scripted worlds at the other end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from libero_parts import TASKS, fill_assets

from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.settings import SidecarSettings
from openral_sim_bridge.backends.libero import backend as libero
from openral_sim_bridge.backends.remote_sim.backend import ArmBackend

SPEC = SidecarSpec(name="scripted-libero", python="3.11", steps=(), module="scripted_libero")
SETTINGS = SidecarSettings(
    shared=False,
    python=Path(sys.executable),
    call_timeout_s=120.0,
    boot_timeout_s=240.0,
    restart_pauses_s=(0.1,),
)


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., ArmBackend]]:
    """Open backends, each with a process of its own; they are closed at the end."""
    root = tmp_path_factory.mktemp("libero")
    patch = pytest.MonkeyPatch()
    patch.setenv("OPENRAL_CACHE_HOME", str(root / "cache"))
    patch.setenv("OPENRAL_LIBERO_ASSETS", str(fill_assets(root / "assets")))
    patch.setattr(libero, "SPEC", SPEC)
    made: list[ArmBackend] = []

    def make(**options: object) -> ArmBackend:
        words = {"representation": "delta_ee_6d_plus_gripper", "width": 48, "height": 32, **options}
        backend = libero.open_libero(TASKS, settings=SETTINGS, **words)
        made.append(backend)
        return backend

    yield make
    for backend in made:
        backend.close()
    patch.undo()


@pytest.fixture(scope="session")
def backend(opened: Callable[..., ArmBackend]) -> ArmBackend:
    """Two worlds that the tests of a run share; each test resets them."""
    return opened(num_envs=2, horizon=30)
