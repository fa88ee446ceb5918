"""A ROS domain and a state folder of its own for each test run; a skill, a robot and a scene that fit, to be bent."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from domain_coordinator import domain_id
from example_skill import MANIFEST, write_skill

import openral_sim_bridge  # noqa: F401  (chooses the OpenGL platform, before any test imports mujoco)
from openral_core.manifest import RSkillManifest
from openral_core.robot import RobotDescription, load_robot
from openral_core.scene import DeployScene, load_scene
from openral_core.types import RobotState
from openral_sim_bridge.rendering.opengl import RASTERISER_VARIABLE

FAKE_SCENE = """
scene:
  id: fake
  backend: mock
  observation_height: 48
  observation_width: 64
  cameras: [{name: corner2, feature_key: observation.images.camera1, rate_hz: 20}]
  backend_options: {family: fake, tasks: [drawer-open-v3, drawer-close-v3], init_id: 3}
robot_id: sawyer
control_hz: 80
action:
  {representation: delta_ee_3d_plus_gripper, dim: 4, low: [-1, -1, -1, -1], high: [1, 1, 1, 1], step_m: 0.01}
workspace: {low: [-0.55, 0.15, -0.05], high: [0.55, 1.05, 0.55]}
"""

# How long an example takes says nothing on a busy machine.
hypothesis.settings.register_profile("openral", deadline=None)
hypothesis.settings.load_profile("openral")

# Set before any session opens; child processes inherit it. Held until this process ends.
_held = contextlib.ExitStack()
os.environ["ROS_DOMAIN_ID"] = str(_held.enter_context(domain_id()))
for _folder in ("XDG_STATE_HOME", "XDG_DATA_HOME"):  # latches; what the reasoner remembers
    os.environ[_folder] = _held.enter_context(tempfile.TemporaryDirectory(prefix="openral-"))


# Of the test run itself, not of what a test captures.
_errors = os.dup(2)


def watch(item: pytest.Item) -> None:
    """End this process, with every thread's stack, a minute after the test's own limit of time.

    That limit is a signal, which a call that never comes back from C does not hear; the run would wait for ever.
    """
    marker = item.get_closest_marker("timeout")
    limit_s = float(marker.args[0] if marker and marker.args else item.config.getini("timeout"))
    if limit_s > 0:
        faulthandler.dump_traceback_later(limit_s + 60, exit=True, file=_errors)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    watch(item)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    watch(item)  # pytest ends the first watch when a test fails


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--slow` and `--long` run what `make test` has no time for; `--give-way` is for a suite beside another."""
    parser.addoption("--slow", action="store_true", help="run the tests that are marked slow, and only those")
    parser.addoption("--long", action="store_true", help="run the tests that are marked long, and only those")
    parser.addoption(
        "--give-way", type=int, default=0, metavar="NICE", help="niceness, 1 to 19, beside other suites"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Give way, in the processes of pytest-xdist; the one that started them goes on hearing the terminal's Ctrl-C.

    Linux may share the processor between sessions first and between the processes of each only then; so the session
    has to be one of its own, and is what gives way (sched(7), autogroup).
    """
    niceness = config.getoption("--give-way")
    if niceness and hasattr(config, "workerinput"):
        os.nice(niceness)
        os.setsid()
        os.environ.setdefault(RASTERISER_VARIABLE, "0")  # llvmpipe's threads would wait for each other
        with contextlib.suppress(OSError):  # no such thing on this system
            Path("/proc/self/autogroup").write_text(str(niceness))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[Any]:
    """Collect no garbage while test modules are imported, and never look at them again: they stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the quick, the slow or the long tests; skip those that are marked `gpu` where torch finds none."""
    chosen: set[str | None] = {mark for mark in ("slow", "long") if config.getoption(f"--{mark}")} or {None}
    kept, other = [], []
    for item in items:
        mark = next((mark for mark in ("long", "slow") if item.get_closest_marker(mark)), None)
        (kept if mark in chosen else other).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=other)
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked:
        import torch

        if not torch.cuda.is_available():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=f"torch {torch.__version__} finds no GPU"))


@pytest.fixture(scope="session")
def embedded() -> bool:
    """Whether these tests run on the embedded runtime; tests/ros2 runs some of them on a real ROS 2."""
    import rclpy

    return (Path(rclpy.__file__).parents[1] / "ros2_embedded").is_dir()


@pytest.fixture
def skill_folder(tmp_path: Path) -> Path:
    """A folder with a manifest, configuration and weights."""
    return write_skill(tmp_path / "rskills" / "example")


@pytest.fixture
def manifest() -> Callable[..., RSkillManifest]:
    """Make a manifest that differs from the example in the given fields."""
    import yaml

    def make(**changes: Any) -> RSkillManifest:
        return RSkillManifest.model_validate({**yaml.safe_load(MANIFEST), **changes})

    return make


@pytest.fixture
def robot() -> RobotDescription:
    return load_robot("sawyer")


@pytest.fixture
def scene() -> DeployScene:
    return load_scene("metaworld_drawer")


@pytest.fixture
def state() -> RobotState:
    """A hand in the middle of the workspace, half open."""
    return RobotState(
        stamp_s=1.0,
        joint_names=("right_gripper",),
        joint_positions=np.array([0.05]),
        ee_position=np.array([0.1, 0.6, 0.2]),
        ee_quaternion=np.array([0.0, 0.0, 0.0, 1.0]),
        gripper_opening=0.05,
    )


@pytest.fixture(scope="session")
def fake_scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of a scene file whose simulator is the fake one."""
    path = tmp_path_factory.mktemp("scene") / "fake.yaml"
    path.write_text(FAKE_SCENE)
    return path
