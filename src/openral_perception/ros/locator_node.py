"""The lifecycle node `locator`: serves `perception/locate`, from words or a pixel to a point in the world.

It reads images and commands no motion. Requests are answered in a thread of their own, so that images are received
while the detector runs.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openral.srv import Locate
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import State, TransitionCallbackReturn

from openral_core.errors import ContractError, NotFoundError, OpenralError
from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.message_field_checks import MAX_NAME, MAX_WORDS, text_field
from openral_core.robot import load_robot
from openral_core.ros.loading_node import LoadingNode
from openral_core.ros.number_parameters import number_of, seconds_of
from openral_core.ros.run_node import run_node
from openral_core.scene import DeployScene, load_scene
from openral_perception.detectors.factory import DetectorOnDemand
from openral_perception.geometry import TRUSTED, DepthSettings, NotLocatedError
from openral_perception.locator import Answer, CameraView, Locator
from openral_perception.ros.intake import ViewIntake, world_frame
from openral_perception.ros.truth_intake import TruthIntake
from openral_perception.truth import SIMULATOR, TruePositions
from openral_rskill.compatibility import match, require
from openral_rskill.registry import resolve

SERVICE = "perception/locate"
FARTHEST_M = 1000.0
"""[m] no depth camera measures farther."""


class LocatorNode(LoadingNode):
    """Parameters: `scene`, `skill` (default: the scene's `detector_skill`), `device`, `allow_unevaluated`, `autostart`,
    `stale_after_s` [s], `far_m` [m], `camera_sigma_m` [m] and `camera_sigma_rad` [rad] (standard deviations of the
    cameras' poses), `sim_positions` (answer words by the simulator's own positions)."""

    what = "the locator"

    def __init__(self) -> None:
        super().__init__("locator", namespace=DEFAULT_NAMESPACE)
        for name in ("scene", "skill", "run_dir"):
            self.declare_parameter(name, "")
        self.declare_parameter("device", "cpu")
        self.declare_parameter("allow_unevaluated", False)
        self.declare_parameter("autostart", True)
        self.declare_parameter("stale_after_s", 2.0)
        self.declare_parameter("far_m", TRUSTED.far_m)
        self.declare_parameter("camera_sigma_m", TRUSTED.position_sigma_m)
        self.declare_parameter("camera_sigma_rad", TRUSTED.rotation_sigma_rad)
        self.declare_parameter("sim_positions", False)
        self._truth: TruthIntake | None = None
        self._detector: DetectorOnDemand | None = None
        self._locator: Locator | None = None
        self._intake: ViewIntake | None = None
        self._scene: DeployScene | None = None
        self._inputs, self._questions = MutuallyExclusiveCallbackGroup(), MutuallyExclusiveCallbackGroup()
        self.create_service(Locate, SERVICE, self._on_locate, callback_group=self._questions)

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Subscribe to the cameras that have depth and, with `sim_positions`, to the simulator's positions."""
        assert self._scene is not None
        cameras = [camera for camera in self._scene.cameras if camera.depth]
        self._intake = ViewIntake(self, cameras, self._now_s, self._inputs)
        if self._value("sim_positions"):
            self.get_logger().warning("words are answered by the simulator's own positions, source simulator")
            self._truth = TruthIntake(self, self._now_s, self._inputs)
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Stop the subscriptions; from then on every request is refused."""
        self._stop()
        return super().on_deactivate(state)

    def close(self) -> None:
        """Stop the subscriptions and close the detector."""
        self._stop()
        detector, self._detector, self._locator = self._detector, None, None
        if detector is not None:
            detector.close()

    def _stop(self) -> None:
        intake, self._intake = self._intake, None
        truth, self._truth = self._truth, None
        for listening in (intake, truth):
            if listening is not None:
                listening.close()

    def load(self) -> None:
        """Check the scene and, if there is one, the detector, whose model is loaded at its first request.

        Raises:
            NotFoundError: no camera of the scene has depth.
            OpenralError: the scene or the skill is wrong, or they do not fit.
        """
        scene = load_scene(self._value("scene"))
        if not any(camera.depth for camera in scene.cameras):
            raise NotFoundError(
                f"scene {self._value('scene')} has no camera with depth; write depth: true to one of its cameras"
            )
        ref = self._value("skill") or scene.detector_skill
        what = "pixels only"
        if ref:
            package = resolve(ref)
            allowed = bool(self._value("allow_unevaluated"))
            robot = load_robot(scene.robot_id)
            require(match(package.manifest, robot, scene, folder=package.folder, allow_unevaluated=allowed))
            self._detector = DetectorOnDemand(package, self._value("device"))
            what = f"words by {package.manifest.name} {package.manifest.version}, and pixels"
        settings = DepthSettings(
            far_m=number_of(self, "far_m", least=TRUSTED.near_m, most=FARTHEST_M, unit="metres"),
            position_sigma_m=number_of(self, "camera_sigma_m", least=0.0, most=1.0, unit="metres"),
            rotation_sigma_rad=number_of(self, "camera_sigma_rad", least=0.0, most=math.pi, unit="radians"),
        )
        self._locator = Locator(self._detector, settings, seconds_of(self, "stale_after_s"))
        self._scene = scene
        names = ", ".join(camera.name for camera in scene.cameras if camera.depth)
        self.get_logger().info(f"locates {what}, through camera {names}")

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _now_s(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _on_locate(self, request: Any, response: Any) -> Any:
        try:
            words = text_field("words", request.words, MAX_WORDS).strip()
            if words and self._truth is not None:
                stale_s = seconds_of(self, "stale_after_s")
                return fill_truth(response, world_frame(self), self._truth.newest(), words, stale_s)
            return fill(response, world_frame(self), *self._answer(request, words))
        except OpenralError as error:
            response.ok, response.message = False, str(error)
            return response

    def _answer(self, request: Any, words: str) -> tuple[CameraView, Answer]:
        locator, intake, detector = self._locator, self._intake, self._detector
        if locator is None or intake is None:
            raise NotLocatedError("the locator is not active")
        camera = text_field("camera", request.camera, MAX_NAME) or intake.cameras[0]
        if camera not in intake.cameras:
            raise ContractError(f"camera '{camera}' has no depth here; there is {', '.join(intake.cameras)}")
        view = intake.view(camera)
        if words:
            if detector is not None and detector.load():
                view = intake.view(camera)  # the other one has grown old meanwhile
            return view, locator.by_words(view, words)
        return view, locator.by_pixel(view, float(request.u), float(request.v))


def fill(response: Any, world: str, view: CameraView, answer: Answer) -> Any:
    """Write an answer into a response of `Locate`, and return it."""
    response.ok, response.message, response.source = True, answer.remark, answer.source
    _fill_point(response.point, world, view.stamp_s, answer.point.position)
    response.covariance = [float(value) for value in answer.point.covariance.flatten()]
    response.confidence, response.age_s = float(answer.confidence), float(view.age_s + answer.took_s)
    response.u, response.v = float(answer.u), float(answer.v)
    response.others = list(answer.others)
    return response


def fill_truth(response: Any, world: str, truth: TruePositions, words: str, stale_after_s: float) -> Any:
    """Write the simulator's position of the object that words name into a response of `Locate`, and return it."""
    name, position = truth.find(words, stale_after_s)
    response.ok, response.message, response.source = True, name, SIMULATOR
    _fill_point(response.point, world, truth.stamp_s, position)
    response.confidence, response.age_s = 1.0, float(truth.age_s)
    response.others = [other for other in truth.positions if other != name]
    return response


def _fill_point(message: Any, world: str, stamp_s: float, position: NDArray[np.float64]) -> None:
    sec, nanosec = divmod(round(stamp_s * 1e9), 1_000_000_000)
    message.header.frame_id = world
    message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
    message.point.x, message.point.y, message.point.z = (float(value) for value in position)


def main(args: list[str] | None = None) -> int:
    """Run the node until it is stopped; return EXIT_UNFIT if `autostart` found that it cannot run in the scene."""
    return run_node(LocatorNode, args, threads=2)


if __name__ == "__main__":
    sys.exit(main())
