"""Base of the nodes that host skills: lifecycle, announcements, goals, and the chunks that they send."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from openral.msg import ActionChunk, SkillInfo
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import State, TransitionCallbackReturn

from openral_core.errors import ContractError, OpenralError
from openral_core.graph.namespaces import graph_name
from openral_core.robot import RobotDescription
from openral_core.ros.delivery import wait_until_delivered
from openral_core.ros.loading_node import log_cannot_run
from openral_core.ros.number_parameters import seconds_of
from openral_core.ros.qos import STATE, latched
from openral_core.scene import DeployScene, SceneCamera
from openral_policy_nodes.goal_request import MAX_DEADLINE_S
from openral_policy_nodes.goal_supervisor import Limits
from openral_policy_nodes.inference import PolicyChunk
from openral_policy_nodes.inference_thread import ChunkSource, PolicyRunner
from openral_policy_nodes.ros.execute_action import ExecuteActionHost, ExecuteServer, SkillOffer
from openral_policy_nodes.ros.sensors import SensorIntake
from openral_policy_nodes.ros.skill_messages import HostedSkill, chunk_message, skill_message
from openral_policy_nodes.state_assembler import StateAssembler
from openral_policy_nodes.stopping import Stopping

HEARTBEAT_S = 1.0
"""[s] wall time between two announcements of an active node, without which the bridge refuses its chunks."""
LAST_STATES = ("unconfigured", "finalized")
"""Lifecycle states after which the process may end; announcing one waits until the message is delivered."""


@dataclass(frozen=True)
class Hosting:
    """The checked skills, scene and robot of a node, with no weights loaded yet."""

    skills: Sequence[HostedSkill]
    """At least one."""
    scene: DeployScene
    robot: RobotDescription
    cameras: Sequence[SceneCamera]
    """Cameras whose images belong to an observation."""
    replay_steps: int
    """Least number of control steps between two observations that are answered."""
    with_target: bool = False
    """Whether states hold the position to which the controller moves the hand."""


class HostingNode(ExecuteActionHost):
    """A lifecycle node that hosts skills.

    Its parameters are `scene`, `run_dir`, `autostart`, `default_deadline_s` and `inference_timeout_s`.
    """

    def __init__(self, name: str, namespace: str, most_skills: int) -> None:
        """Make a node that hosts no skills yet.

        Args:
            name: of the node.
            namespace: of the node.
            most_skills: largest number of skills it may host, which is the depth of the latched topic `skills`.
        """
        super().__init__(name, namespace=namespace)
        self.declare_parameter("scene", "")
        self.declare_parameter("run_dir", "")
        self.declare_parameter("autostart", True)
        self.declare_parameter("default_deadline_s", 45.0)
        self.declare_parameter("inference_timeout_s", Limits.inference_wall_s)
        space = self.get_namespace()
        self._chunks = self.create_publisher(ActionChunk, graph_name(space, "action_chunk"), STATE)
        self._skills = self.create_publisher(SkillInfo, graph_name(space, "skills"), latched(most_skills))
        self._hosting: Hosting | None = None
        self._runner: PolicyRunner | None = None
        self._server: ExecuteServer | None = None
        self._intake: SensorIntake | None = None
        self._state = "unconfigured"
        """Lifecycle state that was announced last."""
        self.create_timer(HEARTBEAT_S, self._repeat, clock=Clock(clock_type=ClockType.STEADY_TIME))

    # -- what a subclass implements ------------------------------------------------------------------

    @abstractmethod
    def _admit(self) -> Hosting:
        """Check and return what is to be hosted, without loading any weights; raise an OpenralError if it cannot be."""

    @abstractmethod
    def _load(self, hosting: Hosting) -> tuple[ChunkSource, Sequence[SkillOffer]]:
        """Load and return the source of chunks, and the skills as actions; raise an OpenralError if it fails."""

    def _unload(self) -> None:
        """Release what `_load` loaded, if it was called."""

    # -- lifecycle -----------------------------------------------------------------------------------

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Check the skills against robot and scene, announce them, then load them."""
        try:
            hosting = self._hosting = self._admit()
            # Loading may take minutes, so those who wait for a skill are informed before.
            self._announce("inactive")
            self._serve(hosting, *self._load(hosting))
        except OpenralError as error:
            log_cannot_run(self, self._what, error)
            self._announce("unconfigured")
            self._release()
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Subscribe to the robot and accept goals."""
        hosting, server = self._hosting, self._server
        if hosting is None or server is None:
            return TransitionCallbackReturn.FAILURE
        gripper = hosting.robot.gripper_joint
        assert gripper is not None  # checked by `require_gripper`
        assembler = StateAssembler(hosting.robot.joint_names, gripper.name)
        self._intake = SensorIntake(
            self,
            hosting.cameras,
            assembler,
            server.on_sensors,
            with_target=hosting.with_target,
            pairing_s=self._pairing_s(hosting.scene),
        )
        server.intake = self._intake
        self._announce("active")
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Accept no more goals; a running one fails."""
        self._stop_listening("the node was deactivated")
        self._announce("inactive")
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Unload the skills."""
        self._announce("unconfigured")
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Unload the skills and announce the state finalized."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def close(self) -> None:
        """Announce the state finalized on `skills`, end the running goal and unload the skills."""
        self._announce("finalized")
        self._release()

    # -- parts ---------------------------------------------------------------------------------------

    @property
    def _what(self) -> str:
        """Name of what the node hosts, for its log."""
        return self.get_name()

    def _pairing_s(self, scene: DeployScene) -> float:
        """Return by how much stamps of one instant may differ [s], which is 0 with a simulator's clock."""
        simulated = bool(self.get_parameter("use_sim_time").value)
        return 0.0 if simulated or scene.arm is None else scene.arm.pairing_s

    def _text(self, name: str) -> str:
        return str(self.get_parameter(name).value)

    def _serve(self, hosting: Hosting, source: ChunkSource, offers: Sequence[SkillOffer]) -> None:
        dt_ns = round(1e9 * hosting.scene.dt)

        def publish(chunk: PolicyChunk) -> None:
            server = self._server
            self._chunks.publish(chunk_message(chunk, server.skill if server else "", hosting.scene))

        def hold(goal_id: str, skill: str) -> None:
            self._chunks.publish(ActionChunk(goal_id=goal_id, skill=skill))

        self._runner = PolicyRunner(source, publish, hosting.replay_steps * dt_ns, dt_ns // 2)
        limits = Limits(
            frame_period_s=1.0 / min(camera.rate_hz for camera in hosting.scene.cameras),
            inference_wall_s=seconds_of(self, "inference_timeout_s", most=MAX_DEADLINE_S),
        )
        stopping = Stopping(hosting.scene, hosting.robot)
        self._server = ExecuteServer(
            self,
            offers,
            self._runner,
            limits,
            stopping,
            hold,
            lambda: self._announce(self._state),
            seconds_of(self, "default_deadline_s", most=MAX_DEADLINE_S),
        )

    def _stop_listening(self, why: str) -> None:
        if self._server is not None:
            self._server.abandon("node_state", why)
            self._server.intake = None
        if self._intake is not None:
            self._intake.close()
            self._intake = None

    def _release(self) -> None:
        self._stop_listening("the node was shut down")
        if self._server is not None:
            self._server.close()
        if self._runner is not None and not self._runner.close():
            self.get_logger().warning("the policy still hangs; its thread ends with the process")
        self._unload()
        self._hosting = self._runner = self._server = None

    def _repeat(self) -> None:
        if self._state == "active":
            self._announce("active")

    def _announce(self, state: str) -> None:
        """Publish each skill, latched, with the lifecycle state of the node and the hex UUID of its running goal."""
        self._state = state
        if self._hosting is None or not self.context.ok():
            return
        server, now = self._server, self.get_clock().now().to_msg()
        # The skill with the running goal comes last, so that the end of a goal is announced before the next begins.
        running = server.skill if server is not None else ""
        for hosted in sorted(self._hosting.skills, key=lambda each: each.package.manifest.name == running):
            runs = server is not None and hosted.package.manifest.name == running
            goal_id = server.goal_id if runs and server is not None else ""
            message = skill_message(hosted, self.get_fully_qualified_name(), state, goal_id)
            message.header.stamp = now
            self._skills.publish(message)
        if state in LAST_STATES:
            wait_until_delivered(self._skills)


def require_gripper(robot: RobotDescription) -> None:
    """Refuse a robot without a gripper, whose state would lack the gripper opening.

    Raises:
        ContractError: it has no joint of role gripper.
    """
    if robot.gripper_joint is None:
        raise ContractError(f"robot {robot.name} has no joint of role gripper; add one to its description")
