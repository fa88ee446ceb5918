"""The lifecycle node `/openral/reward_monitor`: watches one camera and says how far the running attempt got.

It is advisory: nothing on the action path reads it. Intake, the service and the progress topic run in the executor's
thread and never wait for the model, which has a thread of its own.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rclpy
from openral.msg import ControlStatus, TaskProgress
from openral.srv import QueryTaskProgress
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from sensor_msgs.msg import Image

from openral_core.contract import match, require
from openral_core.errors import ContractError, NotFoundError, OpenralError
from openral_core.image_message import decode_image
from openral_core.manifest import Reward
from openral_core.registry import resolve
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, SceneCamera, load_scene
from openral_reward_monitor.messages_node import fill, progress_message, refuse
from openral_reward_monitor.models import checked, load_reward_model
from openral_reward_monitor.reading import Reading, ReadingMaker
from openral_reward_monitor.scorer import Job, Scorer
from openral_reward_monitor.window import Attempt, FrameWindow

SERVICE = "/openral/perception/query_task_progress"
MAX_RATE_HZ = 3.0
"""[Hz] of the bridge's clock; `/openral/progress` is never faster."""
EXPIRY_S = 0.2
"""[s] wall time between two looks for questions that wait too long."""


@dataclass
class Question:
    """A service request that waits for its scoring."""

    job: Job
    asked_s: float
    """[s] monotonic clock."""
    answered: Any = field(default_factory=Future)
    """Future of None; done when the job is, or when patience is over."""


class RewardMonitorNode(LifecycleNode):
    """Parameters: `skill` (default: the scene's `reward_skill`), `scene`, `camera` (default: the scene's first),
    `device`, `allow_unevaluated`, `autostart`, `max_frames` (scored at once), `stale_after_s`, `answer_timeout_s`."""

    def __init__(self) -> None:
        super().__init__("reward_monitor", namespace="/openral")
        for name in ("skill", "scene", "camera", "run_dir"):
            self.declare_parameter(name, "")
        self.declare_parameter("device", "cpu")
        self.declare_parameter("allow_unevaluated", False)
        self.declare_parameter("autostart", True)
        self.declare_parameter("max_frames", 8)
        self.declare_parameter("stale_after_s", 3.0)
        self.declare_parameter("answer_timeout_s", 5.0)
        self._progress: Any = None
        self._reward: Reward | None = None
        self._camera: SceneCamera | None = None
        self._window: FrameWindow | None = None
        self._scorer: Scorer | None = None
        self._running_goal = ""
        self._watched_s = float("-inf")
        self._arrived_s = 0.0
        self._camera_fault = ""
        self._questions: list[Question] = []
        self._subscriptions_made: list[Any] = []
        self._group = ReentrantCallbackGroup()  # a question that waits must not hold up intake
        self._done = self.create_guard_condition(self._answer_finished, callback_group=self._group)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(EXPIRY_S, self._answer_finished, callback_group=self._group, clock=steady)
        self.create_service(QueryTaskProgress, SERVICE, self._on_query, callback_group=self._group)

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Check the reward skill against the scene, load its model and score two black frames to warm it up."""
        try:
            self._load()
        except OpenralError as error:
            for line in str(error).splitlines():
                self.get_logger().error(f"the reward monitor cannot run: {line}")
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Begin to watch. Who sees the publisher of `/openral/progress`, made here, knows that readings will come."""
        assert self._camera is not None
        if self._progress is None:
            self._progress = self.create_publisher(TaskProgress, "/openral/progress", 10)
        best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        topic = f"/openral/cameras/{self._camera.name}/image_raw"
        self._subscriptions_made = [
            self.create_subscription(Image, topic, self._on_image, best_effort),
            self.create_subscription(ControlStatus, "/openral/control_status", self._on_status, 10),
        ]
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Stop watching; the frames of the last attempt can still be asked for."""
        self._stop_watching()
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Forget frames and model."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Forget frames and model for good."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def close(self) -> None:
        """End the scoring thread and the model."""
        self._stop_watching()
        scorer, self._scorer, self._window = self._scorer, None, None
        if scorer is not None and not scorer.close():
            self.get_logger().warning("the reward model still hangs; its thread ends with the process")
        publisher, self._progress = self._progress, None
        if publisher is not None:
            self.destroy_publisher(publisher)

    def _load(self) -> None:
        scene = load_scene(self._text("scene"))
        ref = self._text("skill") or scene.reward_skill
        if not ref:
            raise NotFoundError("no reward skill: set the parameter skill, or reward_skill in the scene")
        package = resolve(ref)
        allow, robot = bool(self.get_parameter("allow_unevaluated").value), load_robot(scene.robot_id)
        require(match(package.manifest, robot, scene, folder=package.folder, allow_unevaluated=allow))
        reward = package.manifest.reward
        camera = _camera_of(scene, self._text("camera"))
        model = load_reward_model(package, self._text("device"))
        assert reward is not None, "the schema gives every manifest of kind reward its reward section"
        black = np.zeros((2, camera.height, camera.width, 3), np.uint8)
        try:
            checked(model.score(black, package.manifest.description), len(black))
        except BaseException:
            model.close()
            raise
        self._reward, self._camera = reward, camera
        max_frames = int(self.get_parameter("max_frames").value)
        self._window = FrameWindow(reward.frame_window_s, reward.target_fps, max_frames)
        self._scorer = Scorer(model, ReadingMaker(reward), self._on_scored)
        self.get_logger().info(
            f"{package.manifest.name} {package.manifest.version} watches camera {camera.name}"
        )

    def _text(self, name: str) -> str:
        return str(self.get_parameter(name).value)

    def _stop_watching(self) -> None:
        for subscription in self._subscriptions_made:
            self.destroy_subscription(subscription)
        self._subscriptions_made = []
        self._running_goal = ""

    def _on_status(self, message: ControlStatus) -> None:
        self._running_goal = message.active_goal
        window = self._window
        if window is None or not message.active_goal:
            return
        if window.attempt is None or window.attempt.goal_id != message.active_goal:
            window.begin(Attempt(message.active_goal, message.instruction))
            self._watched_s = float("-inf")

    def _on_image(self, message: Image) -> None:
        assert self._camera is not None
        try:
            frame = decode_image(
                self._camera, message.width, message.height, message.encoding, message.step, message.data
            )
        except ContractError as error:
            if str(error) != self._camera_fault:
                self.get_logger().error(str(error))
            self._camera_fault = str(error)
            return
        self._camera_fault = ""
        self._arrived_s = time.monotonic()
        stamp = message.header.stamp
        # A copy, because the message's memory may be shared with the transport and is kept for long here.
        if self._window is None or not self._window.add(stamp.sec + stamp.nanosec * 1e-9, frame.copy()):
            return
        selection = self._window.select()
        if not self._running_goal or selection is None or len(selection.frames) < 2 or self._scorer is None:
            return
        if selection.stamps_s[-1] - self._watched_s >= 1.0 / MAX_RATE_HZ:
            self._watched_s = float(selection.stamps_s[-1])
            self._scorer.watch(selection)

    def _on_scored(self, job: Job) -> None:
        """Take a finished scoring; called in the scorer's thread."""
        if not job.watched:
            self._done.trigger()
        elif job.reading is None:
            self.get_logger().error(f"no progress reading: {job.error}", throttle_duration_sec=5.0)
        elif job.reading.attempt.goal_id == self._running_goal:
            self._progress.publish(progress_message(job.reading))

    async def _on_query(self, request: Any, response: Any) -> Any:
        window, scorer = self._window, self._scorer
        if window is None or scorer is None:
            return refuse(response, "the reward monitor is not configured")
        if self._camera_fault:
            return refuse(response, self._camera_fault)
        selection = window.select(request.window_s)
        if selection is None:
            return refuse(response, "no attempt has been seen yet; send a goal first")
        task = request.task.strip() or selection.attempt.instruction
        if not task and self._reward is not None and self._reward.instruction_required:
            return refuse(response, "the running goal has no words; give task")
        patience_s = float(self.get_parameter("answer_timeout_s").value)
        busy_s = scorer.busy_s()
        if busy_s > patience_s:
            return refuse(
                response, f"the reward model has not answered for {busy_s:.1f} s; restart the monitor"
            )
        job = scorer.query(selection, task)
        if job is None:
            return refuse(response, "too many questions wait for the reward model; ask again later")
        question = Question(job, time.monotonic())
        self._questions.append(question)
        await question.answered
        if job.reading is None:
            silent = f"the reward model has not answered within {patience_s:g} s"
            return refuse(response, job.error or silent)
        return self._fill(response, job.reading)

    def _answer_finished(self) -> None:
        """Let every question go on whose scoring is finished or overdue."""
        patience_s = float(self.get_parameter("answer_timeout_s").value)
        waiting = []
        for question in self._questions:
            finished = question.job.reading is not None or question.job.error
            if finished or time.monotonic() - question.asked_s > patience_s:
                question.answered.set_result(None)
            else:
                waiting.append(question)
        self._questions = waiting

    def _fill(self, response: Any, reading: Reading) -> Any:
        now_s = self.get_clock().now().nanoseconds * 1e-9
        # Wall time as well: when the bridge dies, its clock stops and nothing seems to age.
        age_s = max(0.0, now_s - reading.stamp_s, time.monotonic() - self._arrived_s)
        return fill(response, reading, age_s, float(self.get_parameter("stale_after_s").value))


def _camera_of(scene: DeployScene, name: str) -> SceneCamera:
    """Return the camera of that name, the scene's first when it is empty, or raise NotFoundError."""
    cameras = {camera.name: camera for camera in scene.cameras}
    if not name:
        return scene.cameras[0]
    if name not in cameras:
        raise NotFoundError(f"the scene has no camera '{name}'; it has {', '.join(cameras)}")
    return cameras[name]


def main(args: list[str] | None = None) -> int:
    """Run the node until it is told to stop; 1 when `autostart` found the reward skill unfit to run."""
    rclpy.init(args=args)
    node = RewardMonitorNode()
    try:
        if node.get_parameter("autostart").value:
            for transition in (node.trigger_configure, node.trigger_activate):
                if transition() != TransitionCallbackReturn.SUCCESS:
                    return 1
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        node.get_logger().debug("interrupted")
    finally:
        node.close()
        node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
