"""The locator as a process, fed by hand: what it refuses, and the simulator's positions that it names as such."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from perception_nodes import Asker, Processes
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

WIDTH, HEIGHT = 64, 48
SCENE = f"""
scene:
  id: fake
  backend: mock
  observation_height: {HEIGHT}
  observation_width: {WIDTH}
  cameras: [{{name: corner2, rate_hz: 20, depth: true}}]
  backend_options: {{family: fake, tasks: [drawer-open-v3]}}
robot_id: sawyer
control_hz: 80
action:
  {{representation: delta_ee_3d_plus_gripper, dim: 4, low: [-1, -1, -1, -1], high: [1, 1, 1, 1], step_m: 0.01}}
workspace: {{low: [-0.55, 0.15, -0.05], high: [0.55, 1.05, 0.55]}}
"""
STALE_AFTER_S = 3.0
BEST_EFFORT = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


class HandFed(Asker):
    """Publishes what a bridge would, one instant at a time, on the clock of the wall."""

    def __init__(self) -> None:
        super().__init__()
        base = "/openral/cameras/corner2"
        make = self.node.create_publisher
        self.image = make(Image, f"{base}/image_raw", BEST_EFFORT)
        self.depth = make(Image, f"{base}/depth/image_rect_raw", BEST_EFFORT)
        self.info = make(CameraInfo, f"{base}/depth/camera_info", BEST_EFFORT)
        self.static = make(TFMessage, "/tf_static", LATCHED)
        self.truth = make(TFMessage, "/openral/sim/positions", 1)
        frame = TransformStamped(child_frame_id="corner2_optical_frame")
        frame.header.frame_id = "world"
        frame.transform.rotation.w = 1.0
        self.static.publish(TFMessage(transforms=[frame]))

    def show(self, grey: int = 120, metres: float = 1.0, encoding: str = "32FC1") -> None:
        stamp = self.node.get_clock().now().to_msg()
        image = Image(height=HEIGHT, width=WIDTH, encoding="rgb8", step=3 * WIDTH)
        image.data = array("B", np.full((HEIGHT, WIDTH, 3), grey, np.uint8).tobytes())
        depth = Image(height=HEIGHT, width=WIDTH, encoding=encoding, step=4 * WIDTH)
        depth.data = array("B", np.full((HEIGHT, WIDTH), metres, np.float32).tobytes())
        info = CameraInfo(height=HEIGHT, width=WIDTH, k=[60.0, 0.0, 32.0, 0.0, 60.0, 24.0, 0.0, 0.0, 1.0])
        for message, publisher in ((info, self.info), (image, self.image), (depth, self.depth)):
            message.header.stamp, message.header.frame_id = stamp, "corner2_optical_frame"
            publisher.publish(message)

    def shown(self, reason: str = "", **pictures) -> object:
        """Show and ask until the answer is about what is shown: ok, or a refusal with this reason in it."""
        end = time.monotonic() + 60.0
        while True:
            self.show(**pictures)
            time.sleep(0.1)
            answer = self.ask(u=32.0, v=24.0)
            if (answer.ok and not reason) or (reason and reason in answer.message):
                return answer
            assert time.monotonic() < end, answer


@pytest.fixture(scope="module")
def fed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HandFed]:
    path = tmp_path_factory.mktemp("scene") / "fed.yaml"
    path.write_text(SCENE)
    processes, feeding = Processes(), HandFed()
    try:
        processes.start(
            "openral_perception.ros.locator_node",
            scene=path,
            stale_after_s=STALE_AFTER_S,
            sim_positions="true",
        )
        yield feeding
    finally:
        feeding.close()
        processes.close()


def test_a_pixel_is_answered_and_a_picture_grows_old(fed: HandFed) -> None:
    answer = fed.shown()
    point = answer.point.point
    assert (point.x, point.y, point.z) == pytest.approx((0.0, 0.0, 1.0))
    assert answer.point.header.frame_id == "world"
    time.sleep(STALE_AFTER_S)
    late = fed.ask(u=32.0, v=24.0)
    assert not late.ok
    assert "s old, more than 3 s" in late.message


def test_dark_pictures_and_wrong_depth_are_refused(fed: HandFed) -> None:
    fed.shown("too dark", grey=2)
    fed.shown("publish 32FC1", encoding="16UC1")
    fed.shown("5.00 m away", metres=5.0)
    fed.shown()


def test_a_question_that_is_no_number_is_refused(fed: HandFed) -> None:
    fed.shown()
    assert "outside the picture" in fed.ask(u=float("nan"), v=24.0).message
    assert "'side' has no depth here; there is corner2" in fed.ask(camera="side").message


def test_the_simulators_positions_are_answers_with_that_source(fed: HandFed) -> None:
    def tell(name: str, x: float) -> TransformStamped:
        frame = TransformStamped(child_frame_id=name)
        frame.header.frame_id, frame.header.stamp = "world", fed.node.get_clock().now().to_msg()
        frame.transform.translation.x = x
        return frame

    end = time.monotonic() + 60.0
    while True:
        fed.truth.publish(TFMessage(transforms=[tell("drawer_handle", 0.25), tell("cube", 0.5)]))
        time.sleep(0.1)
        answer = fed.ask(words="the handle of the drawer")
        if answer.ok:
            break
        assert time.monotonic() < end, answer.message
    assert (answer.source, answer.message, list(answer.others)) == ("simulator", "drawer_handle", ["cube"])
    assert answer.point.point.x == 0.25
    assert "it knows drawer handle, cube" in fed.ask(words="a banana").message
    bad = tell("cube", float("nan"))
    bad.header.stamp = Time()
    fed.truth.publish(TFMessage(transforms=[bad]))
    assert fed.ask(words="the cube").point.point.x == 0.5


def test_a_scene_without_depth_ends_the_process(fake_scene) -> None:
    processes = Processes()
    try:
        process = processes.start("openral_perception.ros.locator_node", scene=fake_scene)
        output, _ = process.communicate(timeout=60)
    finally:
        processes.close()
    assert process.returncode == 3
    assert "has no camera with depth; write depth: true" in output
