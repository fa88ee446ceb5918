"""The lifecycle node `reward_monitor`: scores camera images and publishes the progress of the running attempt.

It is advisory: no node that executes actions depends on it. Subscriptions, the service and the progress topic run in
the executor's thread and never wait for the model, which has a thread of its own.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

from openral.msg import ControlStatus, TaskProgress
from openral.srv import QueryTaskProgress
from rclpy._rclpy_pybind11 import RCLError
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import State, TransitionCallbackReturn
from sensor_msgs.msg import Image, JointState

from openral_core.errors import ContractError
from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.image_message import ENCODINGS, decode_image, parse_stamp
from openral_core.ros.loading_node import LoadingNode
from openral_core.ros.number_parameters import number_of, seconds_of
from openral_core.ros.qos import best_effort
from openral_core.ros.run_node import run_node
from openral_core.teleoperation_names import TAKEN_OVER
from openral_reward_monitor.cameras import Cameras
from openral_reward_monitor.message_checks import camera_of_size, parse_joints, parse_status
from openral_reward_monitor.models.factory import WatchableModel, assemble
from openral_reward_monitor.query_request import parse_query
from openral_reward_monitor.reading import Reading, ReadingMaker
from openral_reward_monitor.ros.messages import progress_message, refuse
from openral_reward_monitor.ros.progress_service import ProgressService
from openral_reward_monitor.scorer import Scorer, ScoringJob

SERVICE = "perception/query_task_progress"
MAX_RATE_HZ = 3.0
"""[Hz] on the bridge's clock: highest rate of `progress`."""
INTAKE_DEPTH = 10
"""Queue depth of the subscriptions to a camera."""
COMPLAINT_PERIOD_S = 5.0
"""[s] between two warnings about dropped messages."""
EXPIRY_S = 0.2
"""[s] of wall time between two checks for requests that have waited too long."""
MOST_FRAMES = 1024
"""Of one scoring; more than any model takes."""


class RewardMonitorNode(LoadingNode):
    """Parameters: `skill` (default: the scene's `reward_skill`), `scene` (empty: any robot), `cameras` (names with
    commas, the preferred one first, `a+b` for two that are seen together; default: what the skill asks for, else the
    scene's first), `task` (words to watch for while no goal is running), `device`, `allow_unevaluated`, `autostart`,
    `max_frames` (scored at once), `stale_after_s`, `answer_timeout_s`."""

    what = "the reward monitor"

    def __init__(self) -> None:
        super().__init__("reward_monitor", namespace=DEFAULT_NAMESPACE)
        for name in ("skill", "scene", "cameras", "task", "run_dir"):
            self.declare_parameter(name, "")
        self.declare_parameter("device", "cpu")
        self.declare_parameter("allow_unevaluated", False)
        self.declare_parameter("autostart", True)
        self.declare_parameter("max_frames", 8)
        self.declare_parameter("stale_after_s", 3.0)
        self.declare_parameter("answer_timeout_s", 5.0)
        self._progress: Any = None
        self._assembly: WatchableModel | None = None
        self._cameras: Cameras | None = None
        self._scorer: Scorer | None = None
        self._questions: ProgressService | None = None
        self._watched_s = float("-inf")
        self._subscriptions_made: list[Any] = []
        self._group = ReentrantCallbackGroup()  # a waiting request must not block the subscriptions
        self._done = self.create_guard_condition(self._look, callback_group=self._group)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(EXPIRY_S, self._look, callback_group=self._group, clock=steady)
        self.create_service(QueryTaskProgress, SERVICE, self._on_query, callback_group=self._group)

    # -- lifecycle ---------------------------------------------------------------------------------

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Subscribe, and create the publisher of `progress`, whose presence tells other nodes that readings follow."""
        assert self._assembly is not None
        if self._progress is None:
            self._progress = self.create_publisher(TaskProgress, "progress", 10)
        # The queue lets the node catch up after a moment in which its process was not scheduled.
        qos = best_effort(INTAKE_DEPTH)
        self._subscriptions_made = [
            self.create_subscription(Image, f"cameras/{name}/image_raw", partial(self._on_image, name), qos)
            for name in self._assembly.cameras
        ]
        self._subscriptions_made += [
            self.create_subscription(ControlStatus, "control_status", self._on_status, 10),
            self.create_subscription(JointState, "/joint_states", self._on_joints, qos),
        ]
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Stop the subscriptions; requests for the frames of the last attempt are still answered."""
        self._stop_watching()
        return super().on_deactivate(state)

    def close(self) -> None:
        """End the scoring thread and the model."""
        self._stop_watching()
        scorer, self._scorer, self._cameras = self._scorer, None, None
        questions, self._questions = self._questions, None
        if scorer is not None and not scorer.close():
            self.get_logger().warning("the reward model still hangs; its thread ends with the process")
        if questions is not None:
            questions.close()
        publisher, self._progress = self._progress, None
        if publisher is not None:
            self.destroy_publisher(publisher)

    def load(self) -> None:
        """Check the reward skill against the scene, load its model and score two black frames to warm it up."""
        names = [name.strip() for name in self._value("cameras").split(",") if name.strip()]
        made = assemble(
            self._value("scene"),
            self._value("skill"),
            names,
            self._value("device"),
            self._value("allow_unevaluated"),
        )
        stale_after_s = seconds_of(self, "stale_after_s")
        self._cameras = Cameras(
            made.views,
            made.reward,
            int(number_of(self, "max_frames", least=1, most=MOST_FRAMES, unit="frames")),
            stale_after_s,
            self._value("task"),
        )
        on_scored = self.guard(self._on_scored, "a scoring")
        self._scorer = Scorer(made.model, ReadingMaker(made.reward, made.calibration), on_scored)
        self._questions = ProgressService(
            self._cameras,
            self._scorer,
            needs_words=made.reward.instruction_required,
            patience_s=seconds_of(self, "answer_timeout_s"),
            stale_after_s=stale_after_s,
        )
        self._assembly = made
        self.get_logger().info(made.summary)

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _stop_watching(self) -> None:
        for subscription in self._subscriptions_made:
            self.destroy_subscription(subscription)
        self._subscriptions_made = []
        if self._cameras is not None:
            self._cameras.end()

    # -- intake ------------------------------------------------------------------------------------

    def _now_s(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _drop(self, what: str, why: ContractError) -> None:
        self.get_logger().warning(f"dropped {what}: {why}", throttle_duration_sec=COMPLAINT_PERIOD_S)

    def _on_status(self, message: ControlStatus) -> None:
        cameras = self._cameras
        if cameras is None:
            return
        try:
            attempt = parse_status(message.active_goal, message.instruction)
        except ContractError as error:
            self._drop("a control status", error)
            return
        taken_over = message.intervention in TAKEN_OVER
        if cameras.goal is not None and (taken_over or cameras.is_paused):
            goal = message.paused_goal if taken_over else message.active_goal
            if goal == cameras.goal.goal_id:
                cameras.pause(taken_over)
                return
        cameras.is_paused = taken_over
        if attempt is None or taken_over:
            cameras.end()
        elif cameras.goal is None or cameras.goal.goal_id != attempt.goal_id:
            cameras.begin(attempt, self._now_s())
            self._watched_s = float("-inf")

    def _on_joints(self, message: JointState) -> None:
        try:
            positions = parse_joints(message.name, message.position)
        except ContractError as error:
            self._drop("joint states", error)
            return
        if self._cameras is not None and positions is not None:
            stamp = message.header.stamp
            self._cameras.joints(positions, stamp.sec + 1e-9 * stamp.nanosec or None)

    def _on_image(self, name: str, message: Image) -> None:
        cameras, assembly = self._cameras, self._assembly
        if cameras is None or assembly is None:
            return
        now_s, stamp = self._now_s(), message.header.stamp
        try:
            camera = assembly.cameras[name] or camera_of_size(name, message.width, message.height)
            frame = decode_image(camera, message, ENCODINGS)
            stamp_s = parse_stamp(name, stamp.sec, stamp.nanosec, now_s)
        except ContractError as error:
            self._drop("a picture", error)
            cameras.report(name, str(error))
            return
        assembly.cameras[name] = camera
        cameras.forget_future(name, now_s)
        # The message's memory may be shared with the transport, and frames are kept for long here.
        if cameras.add(name, stamp_s, frame if frame.flags.owndata else frame.copy(), time.monotonic()):
            self._watch(cameras, name, stamp_s)

    def _watch(self, cameras: Cameras, name: str, stamp_s: float) -> None:
        """Queue a scoring of the newest frames if one is due and camera `name` belongs to the view to be scored."""
        due = abs(stamp_s - self._watched_s) >= 1.0 / MAX_RATE_HZ  # `abs`, since the clock may restart
        if self._scorer is None or cameras.words is None or cameras.is_paused or not due:
            return
        camera = cameras.watched(self._now_s())
        selection = camera.select()
        if name in camera.cameras and selection is not None and len(selection.pictures) >= 2:
            self._watched_s = stamp_s
            self._scorer.watch(selection)

    # -- answers -----------------------------------------------------------------------------------

    def _on_scored(self, job: ScoringJob) -> None:
        """Take a finished scoring; called in the scorer's thread."""
        cameras = self._cameras
        if not job.watched:
            self._done.trigger()
        elif job.reading is None:
            self.get_logger().error(f"no progress reading: {job.error}", throttle_duration_sec=5.0)
        elif cameras is not None and cameras.words is not None:
            running = cameras.goal.goal_id if cameras.goal else ""
            if job.reading.attempt.goal_id == running:
                self._tell(job.reading)

    def _tell(self, reading: Reading) -> None:
        try:
            self._progress.publish(progress_message(reading))
        except RCLError:
            if self.context.ok():  # else the process is shutting down, and the reading is dropped
                raise

    async def _on_query(self, request: Any, response: Any) -> Any:
        if self._questions is None:
            return refuse(response, "the reward monitor is not configured")
        try:
            asked = parse_query(request.window_s, request.task, request.camera, request.fresh)
        except ContractError as error:
            return refuse(response, str(error))
        return await self._questions.answer(asked, response, self._now_s)

    def _look(self) -> None:
        if self._questions is not None:
            self._questions.look()


def main(args: list[str] | None = None) -> int:
    """Run the node until it is stopped; return EXIT_UNFIT if `autostart` found that the reward skill cannot run."""
    return run_node(RewardMonitorNode, args)


if __name__ == "__main__":
    sys.exit(main())
