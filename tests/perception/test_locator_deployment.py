"""The locator beside a real bridge: pixels of a tabletop become the points that the simulator has there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from perception_nodes import Asker, Processes
from tf2_msgs.msg import TFMessage

from openral_core.scene import load_scene
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.mjcf.backend import MjcfBackend
from openral_sim_bridge.coordinate_frames import intrinsics

SCENE, CAMERA, INIT_ID = "tabletop_panda", "front", 3
COMING = ("has come yet", "stood when")
FIVE_MM, FIVE_CM = 0.005, 0.05


@pytest.fixture(scope="module")
def asker() -> Iterator[Asker]:
    processes, asking = Processes(), Asker()
    try:
        processes.start(
            "openral_sim_bridge.ros.bridge_node", scene=SCENE, init_id=INIT_ID, sim_positions="true"
        )
        processes.start("openral_perception.ros.locator_node", scene=SCENE, use_sim_time=True)
        yield asking
    finally:
        asking.close()
        processes.close()


@pytest.fixture(scope="module")
def world() -> Iterator[MjcfBackend]:
    """The same world in this process."""
    made = make_backend(load_scene(SCENE))
    assert isinstance(made, MjcfBackend)
    made.reset([made.task_ids[0]], [INIT_ID])
    yield made
    made.close()


def pixel_of(world: MjcfBackend, point) -> tuple[float, float]:
    camera = world.camera(CAMERA)
    x, y, z = intrinsics(camera) @ camera.rotation.T @ (np.asarray(point) - camera.position)
    return x / z, y / z


def test_a_pixel_of_the_tray_is_its_point(asker: Asker, world: MjcfBackend) -> None:
    tray = world.world(0).data.body("tray").xpos + np.array([0.0, 0.0, 0.008])
    u, v = pixel_of(world, tray)
    answer = asker.ask_until(COMING, u=u, v=v)
    assert answer.ok, answer.message
    assert (answer.source, answer.point.header.frame_id) == ("pixel", "world")
    point = answer.point.point
    assert np.linalg.norm(np.array([point.x, point.y, point.z]) - tray) < FIVE_MM
    assert 0.0 <= answer.age_s < 2.0
    assert answer.confidence == pytest.approx(1.0)
    covariance = np.array(answer.covariance).reshape(3, 3)
    assert 0.0 < np.sqrt(np.linalg.eigvalsh(covariance)).max() < 0.01


def test_the_top_of_the_cube_is_four_centimetres_high(asker: Asker, world: MjcfBackend) -> None:
    cube = world.world(0).data.body("cube").xpos + np.array([0.0, 0.0, 0.02])
    u, v = pixel_of(world, cube)
    answer = asker.ask_until(COMING, u=u, v=v, camera=CAMERA)
    assert answer.ok, answer.message
    assert answer.point.point.z == pytest.approx(cube[2], abs=FIVE_MM)


def test_the_bridge_says_where_things_are_when_it_is_told_to(asker: Asker, world: MjcfBackend) -> None:
    heard: list[TFMessage] = []
    asker.node.create_subscription(TFMessage, "/openral/sim/positions", heard.append, 1)
    asker.until(lambda: heard)
    said = {frame.child_frame_id: frame for frame in heard[0].transforms}
    assert {"cube", "tray", "drawer"} <= set(said)
    assert not [name for name in said if name.startswith("panda")]
    for name, position in world.object_positions().items():
        shift = said[name].transform.translation
        assert (shift.x, shift.y, shift.z) == pytest.approx(tuple(position), abs=FIVE_MM)


def test_the_red_cube_is_found_by_words(asker: Asker, world: MjcfBackend) -> None:
    asker.ask_until(COMING, u=128.0, v=150.0)
    answer = asker.ask(words="the red cube")
    assert answer.ok, answer.message
    assert (answer.source, answer.point.header.frame_id) == ("mini-detector", "world")
    point, cube = answer.point.point, world.world(0).data.body("cube").xpos
    assert np.linalg.norm(np.array([point.x, point.y, point.z]) - cube) < FIVE_CM
    assert 0.0 < answer.confidence <= 1.0
    assert any("tray" in other for other in answer.others)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"u": 300.0, "v": 5.0}, "outside the picture, which is 256x256"),
        ({"u": 10.0, "v": 10.0}, "only 0 of 25 pixels"),
        ({"camera": "wrist", "u": 9.0, "v": 9.0}, "'wrist' has no depth here; there is front"),
        ({"camera": "x" * 61}, "camera has 61 characters"),
        ({"words": "the\ncube"}, "control character"),
        ({"words": "a banana"}, "the word 'banana'; it knows puck"),
        ({"words": "the door handle"}, "'the door handle' is not seen by camera front"),
    ],
)
def test_what_cannot_be_located_has_a_reason(asker: Asker, fields, reason) -> None:
    asker.ask_until(COMING, u=128.0, v=150.0)
    answer = asker.ask_until(COMING, **fields)
    assert not answer.ok
    assert reason in answer.message
    assert list(answer.covariance) == [0.0] * 9
