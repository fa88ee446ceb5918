"""The lifecycle node `reasoner`: passes the graph's events to the director, and carries out its commands.

Attempts are judged by the topic `progress` and not by the monitor's service: a reading on the topic names the goal that
it belongs to, so one of an earlier attempt is never taken for the running one, and a missing reading is noticed without
a call that might hang. Deadlines are on the node's clock, time-outs of other nodes on the monotonic clock. All
callbacks run on one thread, and none of them blocks; planning, which may take long, has a thread of its own
(`PlanningService`).
"""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import rclpy
from openral.msg import ActionChunk, ControlStatus, Prompt, SkillInfo, TaskProgress
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_msgs.msg import Bool

from openral_core.errors import ContractError, OpenralError
from openral_core.files.user_path import user_path
from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.guarded_callbacks import EXIT_UNFIT, GuardedCallbacks
from openral_core.instant import Instant
from openral_core.process.stop_signals import StopSignals
from openral_core.progress_judgement import ProgressThresholds
from openral_core.ros.delivery import DELIVERY_S
from openral_core.ros.qos import LATCHED, SKILLS
from openral_core.scene import Resume
from openral_core.teleoperation_names import TELEOPERATION
from openral_reasoner.deployment import Deployment, load_deployment
from openral_reasoner.llm.factory import agent_maker
from openral_reasoner.mission.attempt import (
    AskWorld,
    CancelGoal,
    Command,
    DirectorConfig,
    FindThing,
    RequestPlan,
    SendGoal,
    StopSkills,
)
from openral_reasoner.mission.condition_query import ConditionQuery
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.ladder.experience import Experience
from openral_reasoner.mission.mission import LogEntry, Mission, MissionState
from openral_reasoner.mission.monitor_liveness import MonitorWatch
from openral_reasoner.mission.planning_service import PlanningService
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.planner import Planner
from openral_reasoner.playbook_planner import PlaybookPlanner
from openral_reasoner.ros.locate_client import LocateClient
from openral_reasoner.ros.messages import goal_of, operator_of, reading_of, why_arm_refuses
from openral_reasoner.ros.mission_reports import MissionReports
from openral_reasoner.ros.outside_agents import OutsideAgents
from openral_reasoner.ros.perception_client import CameraAndMonitor
from openral_reasoner.ros.reasoner_parameters import declare_parameters, resume_policy, settings_of
from openral_reasoner.ros.skill_client import STOP_PATIENCE_S, SkillClients, skill_actions
from openral_reasoner.ros.skill_registry import PROGRESS, SkillRegistry

TICK_S = 0.1
IGNORED_PERIOD_S = 5.0
"""[s] between two warnings about messages that are ignored."""


class ReasonerNode(GuardedCallbacks, LifecycleNode):
    """Parameters: `scene`, `mission`, `run_dir`, `memory_file`, `autostart`, `exit_when_done`, `commercial`,
    `await_monitor` (no task begins before the reward monitor watches), `resume` (ask, always or never; empty: the
    scene's), `gate.*`, `director.*`."""

    def __init__(self, planner: Planner | None = None, **kwargs: Any) -> None:
        super().__init__("reasoner", namespace=DEFAULT_NAMESPACE, **kwargs)
        declare_parameters(self)
        self._planner = PlaybookPlanner(planner or OfflinePlanner())
        self._deployment = Deployment()
        self._reports = MissionReports(self)
        self._unfinished: Mission | None = None
        self._ordered = ""
        """The parameter `mission` as it was at the last activation since the node was configured."""
        self._policy: Resume = "ask"
        self._skill_registry: SkillRegistry
        self._goals = SkillClients(self, self.guard, self._on_answer, self._on_end)
        self._listeners: list[tuple[str, Any]] = []
        self._chunks: Any = None
        self._watch: MonitorWatch
        self._ended_wall_s: float | None = None
        self._director = Director(self._note)
        self._planning = PlanningService(self._director, self._planner)
        self._perception: CameraAndMonitor | None = None
        self._locator: LocateClient | None = None
        self._condition_query: ConditionQuery
        self._outside: OutsideAgents | None = None
        self.finished: Any = Future()
        """Done when the process may end (`exit_when_done`)."""

    # -- lifecycle ---------------------------------------------------------------------------------

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Read the scene and the thresholds, open the run folder."""
        try:
            self._deployment = load_deployment(self.get_parameter("scene").value)
            gate = ProgressThresholds.model_validate(settings_of(self, "gate", self._deployment.gate))
            director = DirectorConfig.model_validate(settings_of(self, "director", DirectorConfig()))
            notes = self.get_parameter("memory_file").value
            model = agent_maker(self._deployment, notes, self._locates)
            self._policy = resume_policy(self, self._deployment.resume)
            self._unfinished = self._reports.open_record(self.get_parameter("run_dir").value, self._note)
            self._ordered = ""
        except (OpenralError, ValueError, OSError) as error:
            self.get_logger().error(str(error))
            self._reports.close_record()
            return TransitionCallbackReturn.FAILURE
        self._skill_registry = SkillRegistry(
            self,
            self._deployment,
            commercial=self.get_parameter("commercial").value,
            await_monitor=self.get_parameter("await_monitor").value,
            patience_s=director.heartbeat_patience_s,
        )
        self._watch = MonitorWatch(director.heartbeat_patience_s + gate.stale_after_s)
        self._director = Director(
            self._note,
            gate=gate,
            config=director,
            experience=Experience.beside(user_path(notes)) if notes else None,
            fingers=self._deployment.fingers,
            awaits_policies=self._deployment.has_policies,
        )
        self._locator = LocateClient(self, self.guard, self._on_found)
        self._perception = CameraAndMonitor(self, self.guard, self._deployment.cameras)
        self._reports.take_pictures(self._perception)
        self._condition_query = ConditionQuery(self._perception.sense, gate)
        who, make_agent = model or ("", None)
        self._planning = PlanningService(
            self._director, self._planner, make_agent=make_agent, who=who, perception=self._perception
        )
        self._outside = OutsideAgents(
            self._director,
            self._planning,
            self._skill_registry,
            self._deployment,
            memory_file=notes,
            locates=self._locates,
            log=self._note,
        )
        self._reports.publish()
        self._chunks = self.create_publisher(ActionChunk, "action_chunk", 10)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Subscribe; resume an interrupted mission, or take the parameter `mission` as the first prompt."""
        for kind, topic, callback, qos in (
            (SkillInfo, "skills", self._on_skill, SKILLS),
            (Prompt, "prompt", self._on_prompt, 10),
            (TaskProgress, PROGRESS, self._on_progress, 10),
            (ControlStatus, "control_status", self._on_status, 10),
            (Bool, "estop_state", self._on_estop, LATCHED),
        ):
            self._listeners.append(("subscription", self.create_subscription(kind, topic, callback, qos)))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        tick = self.guard(self._tick, "the look at the mission", failed=self._give_up)
        self._listeners.append(("timer", self.create_timer(TICK_S, tick, clock=steady)))
        if self._outside:
            self._outside.open(self, self._run, self._now)
        self._begin()
        self._flush()
        return super().on_activate(state)

    def _locates(self) -> bool:
        return self._perception is not None and self._perception.locates

    def _begin(self) -> None:
        ordered, unfinished, self._unfinished = self.get_parameter("mission").value, self._unfinished, None
        before, self._ordered = self._ordered, ordered
        if unfinished is not None and ordered in ("", unfinished.text):
            self._run(self._director.resume(unfinished, self._policy, self._now()))
        elif ordered and ordered != before:  # activating a stopped reasoner again does not repeat its order
            self._run(self._director.prompt(uuid4().hex, ordered, self._now()))

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Stop the mission and destroy the subscriptions."""
        self._stop_mission("stopped: the reasoner was deactivated")
        self._release()
        return super().on_deactivate(state)

    def _stop_mission(self, why: str) -> None:
        self._run(self._director.stop_all(why, self._now()))
        self._flush()

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Free everything that `on_configure` made."""
        self._goals.close()
        self._close_planning()
        self.destroy_publisher(self._chunks)
        self._chunks = None
        self._reports.close()
        self._director = Director(self._note)
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Stop the mission, end the planner's thread, and destroy the subscriptions."""
        self._stop_mission("stopped: the reasoner was shut down")
        self._release()
        self._close_planning()
        return TransitionCallbackReturn.SUCCESS

    def _close_planning(self) -> None:
        self._planning.close()
        for served in (self._perception, self._locator):
            if served:
                served.close()
        self._perception = self._locator = None
        self._reports.take_pictures(None)

    def _release(self) -> None:
        if self._outside:
            self._outside.close()
        for kind, entity in self._listeners:
            getattr(self, f"destroy_{kind}")(entity)
        self._listeners.clear()

    # -- events ------------------------------------------------------------------------------------

    def _now(self) -> Instant:
        """Return this moment."""
        return Instant(self.get_clock().now().nanoseconds * 1e-9, time.monotonic())

    def _on_skill(self, info: SkillInfo) -> None:
        if info.kind == TELEOPERATION:
            return
        try:
            skill, returned = self._skill_registry.announce(info, time.monotonic())
        except ContractError as error:
            self._ignored("skills", error)
            return
        if self._director.recovering or returned:  # what was begun before must not go on unwatched
            self._goals.stop(skill.action_server)
        self._director.others_move = self._skill_registry.moves
        self._director.palette(self._skill_registry.palette(), time.monotonic())

    def _ignored(self, topic: str, error: ContractError) -> None:
        self.get_logger().warning(
            f"a message on {topic} is ignored: {error}", throttle_duration_sec=IGNORED_PERIOD_S
        )

    def _on_prompt(self, prompt: Prompt) -> None:
        self._run(self._director.prompt(prompt.id or uuid4().hex, prompt.text, self._now()))
        self._flush()

    def _on_progress(self, message: TaskProgress) -> None:
        try:
            goal, reading = reading_of(message, self._now().stamp_s)
        except ContractError as error:
            self._ignored(PROGRESS, error)
            return
        self._watch.reading(time.monotonic())
        self._director.reading(goal, reading, self._now().stamp_s)
        self._run(self._director.tick(self._now()))
        self._flush()

    def _on_status(self, status: ControlStatus) -> None:
        try:
            self._director.bridge_alive(time.monotonic(), goal_of(status))
            self._director.intervention(operator_of(status), self._now())
            self._run(self._director.arm_refuses(why_arm_refuses(status), self._now()))
            if self._outside:
                self._outside.bridge_says(status)
        except ContractError as error:
            self._ignored("control_status", error)

    def _on_estop(self, state: Bool) -> None:
        self._run(self._director.estop(state.data, self._now()))
        self._flush()

    def _tick(self) -> None:
        self._look_for_lost_nodes()
        if self._perception:
            self._perception.tick()
        self._director.perception(can_locate=bool(self._locator and self._locator.ready))
        self._run(self._planning.tick(self._now()))
        if self._outside:
            self._outside.tick()
        if answer := self._condition_query.tick(time.monotonic()):
            self._run(self._director.found_out(*answer, self._now()))
        self._goals.retry()
        self._run(self._director.tick(self._now()))
        self._flush()
        self._end_when_done()

    def _look_for_lost_nodes(self) -> None:
        """Tell the director of policy nodes that left the graph or hang, and of a reward monitor that falls silent."""
        now = self._now()
        for skill, reason in self._skill_registry.take_lost(now.wall_s, self._director.accepted):
            self._director.skill_lost(skill.name, reason, now)
            self._goals.stop(skill.action_server)  # it may only hang, and go on later
        self._director.others_move = self._skill_registry.moves
        self._director.palette(self._skill_registry.palette(), now.wall_s)
        publishers = self.count_publishers(PROGRESS)
        news = self._watch.news(publishers, self._director.running, now.wall_s)
        self._director.monitor(self._watch.silent and self._director.running, publishers > 0)
        if news and self._director.mission.state is MissionState.ACTIVE:
            self._director.mission.say(now.stamp_s, "monitor", news)

    def _give_up(self, why: str) -> None:
        """End the mission as failed and stop all motion, since `_tick`, which watches it, has raised."""
        self._run(
            [
                *self._director.stop_all(f"the mission failed: {why}", self._now(), MissionState.FAILED),
                StopSkills(),
            ]
        )
        self._flush()

    # -- commands ----------------------------------------------------------------------------------

    def _run(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, RequestPlan):
                self._planning.propose(command, self._now().stamp_s)
            elif isinstance(command, SendGoal):
                self._goals.send(command)
            elif isinstance(command, CancelGoal):
                self._goals.cancel(command.key)
            elif isinstance(command, AskWorld):
                self._condition_query.ask(command, time.monotonic())
            elif isinstance(command, FindThing) and self._locator:
                self._locator.find(command)
            elif isinstance(command, StopSkills):
                self._stop_everything(command.goal)

    def _stop_everything(self, goal: str) -> None:
        """Cancel all goals of all skills, announced or not; have the bridge drop the chunks of a goal (hex UUID)."""
        for server in {*self._skill_registry.servers, *skill_actions(self)}:
            self._goals.stop(server)
        if goal and self._chunks is not None:
            self._chunks.publish(ActionChunk(goal_id=goal))  # a chunk without steps ends its goal

    def _on_answer(self, key: int, goal_id: str, accepted: bool) -> None:
        self._run(self._director.goal_answered(key, goal_id, accepted, self._now()))
        self._flush()

    def _on_end(self, key: int, report: GoalReport) -> None:
        self._director.goal_ended(key, report, self._now())
        self._flush()

    def _on_found(self, key: int, point: tuple[float, float, float] | None, why: str) -> None:
        self._run(self._director.found(key, point, why, self._now()))
        self._flush()

    # -- log and end -------------------------------------------------------------------------------

    def _note(self, entry: LogEntry) -> None:
        if self._outside:
            self._outside.heard(entry)
        self._reports.step(entry)

    def _flush(self) -> None:
        """Publish and write the mission if anything in it changed."""
        self._reports.state(self._director.mission)

    def interrupted(self, executor: SingleThreadedExecutor) -> None:
        """End the mission as stopped, record and publish that, and wait until it is delivered and its goal has ended.

        A goal that went on without the reasoner would move the arm with nobody to judge it.

        Args:
            executor: serves the node meanwhile, for `STOP_PATIENCE_S` at most.
        """
        self._stop_mission("stopped: the process was interrupted")
        until_wall_s = time.monotonic() + STOP_PATIENCE_S
        while not self._director.idle and time.monotonic() < until_wall_s:
            executor.spin_once(timeout_sec=TICK_S)
        self._reports.wait_until_delivered()

    def _end_when_done(self) -> None:
        """Let the process end `DELIVERY_S` after the mission has ended, where `exit_when_done` is set."""
        if not (
            self.get_parameter("exit_when_done").value
            and self._director.mission.state.ended
            and self._director.idle
        ):
            self._ended_wall_s = None
            return
        self._ended_wall_s = self._ended_wall_s or time.monotonic()
        if time.monotonic() - self._ended_wall_s >= DELIVERY_S and not self.finished.done():
            self.finished.set_result(None)


def main() -> None:
    """Run the node until the graph shuts down, or until the mission ended with `exit_when_done`.

    Exit code 0 in both cases, whatever became of the mission; EXIT_UNFIT if the node could not be configured.
    """
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node: ReasonerNode | None = None
    executor = SingleThreadedExecutor()
    ready = True
    try:
        with StopSignals() as signals:
            node = ReasonerNode()
            executor.add_node(node)
            if node.get_parameter("autostart").value:
                ready = node.trigger_configure() is TransitionCallbackReturn.SUCCESS
                if ready:
                    node.trigger_activate()
            if ready:
                signals.spin(executor, node.finished)
        if signals.received and node is not None:
            node.interrupted(executor)
    finally:
        executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    if not ready and not signals.received:
        raise SystemExit(EXIT_UNFIT)


if __name__ == "__main__":
    main()
