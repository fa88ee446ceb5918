"""A twin in a process of its own for each test that asks for one, and the scene whose arm it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from twin_process import TwinProcess

from openral_core.scene import DeployScene, load_scene
from openral_core.scene_arm import SceneArm


@pytest.fixture(autouse=True)
def no_priority_is_left() -> Iterator[None]:
    """libfranka gives the thread that connects the highest real-time priority; left to the tests' process, it starved
    everything that a later test started."""
    yield
    policy = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
    os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
    assert policy in (os.SCHED_OTHER, os.SCHED_BATCH), "a test left the process with a real-time priority"


@pytest.fixture(scope="module")
def twin() -> Iterator[TwinProcess]:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    made = TwinProcess()
    yield made
    made.close()


@pytest.fixture(scope="session")
def scene_with() -> Callable[..., DeployScene]:
    """Make the scene of the FR3 with another driver, address, or safety limits."""

    def make(driver: str, address: str = "arm", **safety: object) -> DeployScene:
        scene = load_scene("fr3_tabletop")
        assert scene.arm is not None
        limits = {**scene.arm.safety.model_dump(), **safety}
        arm = SceneArm.model_validate({"driver": driver, "address": address, "safety": limits})
        return scene.model_copy(update={"arm": arm})

    return make
